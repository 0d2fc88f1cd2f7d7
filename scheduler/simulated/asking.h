/*
 * Evolving jobs ask for nodes: in a phase that does not accept as many as they have, for the most that it accepts of
 * them; if it accepts no such few, for the fewest that it does. Meanwhile they compute on what they have.
 */
#ifndef SCHEDULER_SIMULATED_ASKING_H
#define SCHEDULER_SIMULATED_ASKING_H

#include "scheduler/simulated/run.h"

/* A phase, or a size, begins: what it asks for is told to the core, if that has changed. */
int asking(struct run *run, struct play *play, struct error *error);

#endif
