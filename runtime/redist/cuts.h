/* Cuts that are made anew in a window (cuts.c), for descriptions. */
#ifndef REDIST_CUTS_H
#define REDIST_CUTS_H

#include "epop/redist.h"

/*
 * As epop_redist_balance, in a window in which nobody comes or goes: the indices of each rank together weigh what
 * loads[rank] says, the same on all ranks, and each of them its part of that by its weight. Weights NULL: they weigh
 * alike. Collective over window->all.
 */
int redist_balance_loads(const epop_window_t *window, epop_dist_t before, MPI_Datatype type, const void *weights,
                         const int *loads, epop_dist_t *after);

#endif
