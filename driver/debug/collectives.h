/* Collective operations on the world, which all ranks have to call alike: the debug driver has a roll call before each.
 */
#ifndef DEBUG_COLLECTIVES_H
#define DEBUG_COLLECTIVES_H

#include "driver/debug/contract.h"
#include "interpose/interpose.h"

/* A call of MPI begins, as observers hear of it. On any thread. */
void collectives_check(const struct debug *debug, enum interpose_function function, void *const arguments[]);

#endif
