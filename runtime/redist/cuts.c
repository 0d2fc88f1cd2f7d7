/* See cuts.h; and the cuts that the program knows itself, from counts. */
#include "runtime/redist/cuts.h"

#include <stdlib.h>

#include "interpose/interpose.h"
#include "runtime/redist/audit.h"
#include "runtime/redist/plan.h"
#include "runtime/redist/wait.h"

int64_t *redist_cuts_new(int ranks)
{
    return calloc((size_t)ranks + 1, sizeof(int64_t));
}

redist_fault redist_cuts_gather(const epop_window_t *window, const int64_t *mine, int count, int64_t *all)
{
    MPI_Request request;
    int error = MPI_Iallgather(mine, count, MPI_INT64_T, all, count, MPI_INT64_T, window->all, &request);
    if (error == MPI_SUCCESS)
        error = redist_wait(&request);
    return error == MPI_SUCCESS ? REDIST_FINE : REDIST_MPI_FAILED;
}

/* Counts of the ranks become their starts. False: the sum is beyond 2^63 - 1. */
static bool counts_to_starts(int64_t *starts, int ranks)
{
    int64_t start = 0;
    for (int rank = 0; rank <= ranks; rank++) {
        int64_t count = starts[rank];
        starts[rank] = start;
        if (__builtin_add_overflow(start, count, &start))
            return false;
    }
    return true;
}

/* The same on every rank. */
static redist_fault make_cuts(const epop_window_t *window, const int64_t *counts, int64_t *old, int64_t *new)
{
    for (int rank = 0; rank < redist_all_size(window); rank++) {
        if (redist_old_rank(window, rank) >= 0)
            old[redist_old_rank(window, rank)] = counts[2 * rank];
        if (redist_new_rank(window, rank) >= 0)
            new[redist_new_rank(window, rank)] = counts[2 * rank + 1];
    }
    if (!counts_to_starts(old, window->old_size) || !counts_to_starts(new, window->new_size))
        return REDIST_TOO_LARGE;
    return old[window->old_size] == new[window->new_size] ? REDIST_FINE : REDIST_COUNTS_DIFFER;
}

int epop_redist_counts(const epop_window_t *window, int64_t had, int64_t shall, epop_dist_t *before, epop_dist_t *after)
{
    INTERPOSE_CALL(epop_redist_counts);
    redist_terms terms = {.function = "epop_redist_counts"};
    redist_fault fault = before && after ? REDIST_FINE : REDIST_NULL;
    if (!redist_window_open(terms.function, window))
        return EPOP_ERR_ARGUMENT;
    const int64_t mine[] = {window->old_rank >= 0 ? had : 0, window->new_rank >= 0 ? shall : 0};
    int64_t *counts = malloc(2 * (size_t)redist_all_size(window) * sizeof *counts);
    int64_t *old = redist_cuts_new(window->old_size), *new = redist_cuts_new(window->new_size);
    if (!counts || !old || !new)
        fault = REDIST_NO_MEMORY;
    if (mine[0] < 0 || mine[1] < 0)
        fault = REDIST_BAD_DIST;
    redist_audit_called(&terms);
    int result = redist_agree(window, &terms, fault);
    if (result == EPOP_OK) {
        fault = redist_cuts_gather(window, mine, 2, counts);
        result = redist_agree(window, &terms, fault == REDIST_FINE ? make_cuts(window, counts, old, new) : fault);
    }
    free(counts);
    if (result == EPOP_OK) {
        *before = epop_dist_cuts(old, window->old_size);
        *after = epop_dist_cuts(new, window->new_size);
        return result;
    }
    free(old);
    free(new);
    return result;
}
