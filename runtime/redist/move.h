/*
 * Moving arrays by distributions and lists. Each redistribution checks and allocates, agrees with the other ranks,
 * and only then moves. Several can be agreed on together; then all of them have their memory, or none is touched.
 * The bytes go in exchange.c.
 */
#ifndef REDIST_MOVE_H
#define REDIST_MOVE_H

#include "runtime/redist/plan.h"

/* The least block that is extended; bytes. A variable, so that tests can have small ones extended. */
extern int64_t redist_extended_bytes;

/*
 * Moves by the lists; `local` as for epop_redist, in a window that may be a still one. `words` stand in front of what
 * is wrong. `fault` is what went wrong here until now. Collective over window->all.
 */
int redist_by_lists(const epop_window_t *window, const redist_lists *lists, MPI_Datatype type, void **local,
                    const char *words, redist_fault fault);

/*
 * Between these two calls redistributions by distributions and lists are only prepared, as long as it is not much that
 * waits; the second call moves them all. The ranks must have agreed on all terms already; window, type, pointer and
 * redist_subject have to last until the second call. Both return EPOP_OK or the error of all; after an error of the
 * first the second is still called.
 */
void redist_moves_begin(const char *function);
int redist_moves_end(const epop_window_t *window);

#endif
