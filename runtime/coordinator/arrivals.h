/*
 * What arrives at the coordinator, on its thread: messages of processes, requests, losses, and what a backend posted.
 * What needs to know where rank 0 is waits for that first (position.c).
 */
#ifndef EPOP_COORDINATOR_ARRIVALS_H
#define EPOP_COORDINATOR_ARRIVALS_H

#include "runtime/coordinator/state.h"

/* Carries the event out, or has it wait for rank 0's position. Takes the event. */
void arrivals_take(struct coordinator *c, struct event *event);

/* At once. Takes the event. */
void arrivals_carry_out(struct coordinator *c, struct event *event);

#endif
