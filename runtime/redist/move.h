/*
 * Moving arrays: each checks and allocates, agrees with the other ranks, and only then moves. Several can be agreed on
 * together; then all of them have their memory, or none is touched.
 */
#ifndef REDIST_MOVE_H
#define REDIST_MOVE_H

#include "runtime/redist/agree.h"
#include "runtime/redist/plan.h"

/* Collective over the plan's window. `fault` is what was wrong here before. On failure *local is what it was. */
int redist_move(const redist_plan *plan, MPI_Datatype type, void **local, const redist_terms *terms,
                redist_fault fault);

/*
 * From the first to the second redist_move only prepares, as long as it is not much that waits. The ranks must have
 * agreed on all its terms already; window, type, pointer and redist_subject have to last until the second. Both return
 * EPOP_OK or the error of all; after one the second is still called.
 */
void redist_moves_begin(const char *function);
int redist_moves_end(const epop_window_t *window);

#endif
