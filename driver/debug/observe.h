/* Observing the program's MPI calls: what they make and free, and which communicators they use. */
#ifndef DRIVER_DEBUG_OBSERVE_H
#define DRIVER_DEBUG_OBSERVE_H

#include "driver/debug/debug.h"

void observe_start(struct debug *debug);
void observe_stop(void);
/* A life of this process in the program begins. */
void observe_reset(void);

#endif
