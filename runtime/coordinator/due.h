/*
 * What is due at the coordinator though nothing need have arrived: signals, deadlines that have passed, the next
 * agreement or decision, and the end, once every rank has come to it.
 */
#ifndef EPOP_COORDINATOR_DUE_H
#define EPOP_COORDINATOR_DUE_H

#include "runtime/coordinator/state.h"

/* Does what is due. */
void due_advance(struct coordinator *c);

/* When to look again though nothing arrives: seconds from now. */
double due_wait(const struct coordinator *c);

/* The part of it that goes on after the program has ended. */
void due_check_signals(struct coordinator *c);

#endif
