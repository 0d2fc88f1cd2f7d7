/* MPI programs with a main() of their own, which epop only looks at: libepop_mpi is preloaded, and measures them. */
#ifndef DRIVER_WATCH_H
#define DRIVER_WATCH_H

#include "driver/epop/drivers.h"
#include "driver/epop/options.h"

/* Becomes the program. Returns only if it cannot: the status to exit with, and a line is on stderr. */
int watch_run(const struct options *options, const struct drivers *drivers);

#endif
