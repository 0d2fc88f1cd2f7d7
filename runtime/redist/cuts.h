/* Cuts that are made anew in a window (cuts.c), for descriptions. */
#ifndef REDIST_CUTS_H
#define REDIST_CUTS_H

#include "epop/redist.h"
#include "runtime/redist/agree.h"

/*
 * As epop_redist_balance, in a window in which nobody comes or goes: the indices of each rank together weigh what
 * loads[rank] says, the same on all ranks, and each of them its part of that by its weight. Weights NULL: they weigh
 * alike. Collective over window->all.
 */
int redist_balance_loads(const epop_window_t *window, epop_dist_t before, MPI_Datatype type, const void *weights,
                         const int *loads, epop_dist_t *after);

/*
 * epop_redist_balance with equal shares, without MPI: what the weights of this rank's indices sum up to; and, by the
 * sums of all old ranks, how many of them lie before each cut of the new ranks (new_size + 1 numbers), which, added up
 * over the old ranks, are the new starts. `window` may be one to come. On old ranks. Local.
 */
redist_fault redist_balance_total(const epop_window_t *window, epop_dist_t before, int width, const void *weights,
                                  int64_t *total);
redist_fault redist_balance_share(const epop_window_t *window, epop_dist_t before, int width, const void *weights,
                                  const int64_t *totals, int64_t *starts);

#endif
