/* Asks the policy, by the core, and carries out what it decides. */
#ifndef SCHEDULER_SIMULATED_DECIDING_H
#define SCHEDULER_SIMULATED_DECIDING_H

#include "scheduler/simulated/run.h"

/* -1: the plan is refused, it breaks an invariant, or it is one of too many without time moving. */
int deciding(struct run *run, struct error *error);

#endif
