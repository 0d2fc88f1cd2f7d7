/*
 * Observing the program's MPI calls and windows: what it makes and frees, which communicators come from which world,
 * and who uses one that is gone.
 */
#ifndef DEBUG_OBSERVE_H
#define DEBUG_OBSERVE_H

#include "driver/debug/contract.h"

void observe_start(struct debug *debug);
void observe_stop(void);
/* A life of this process in the program begins. */
void observe_reset(void);

#endif
