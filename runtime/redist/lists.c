/* Grouping elements by rank: counted, then put in their places, in two passes over a rank per element. */
#include "runtime/redist/lists.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/redist/plan.h"
#include "runtime/redist/wait.h"

/* starts[rank + 1] has the count of `rank`; it becomes where the next group starts. */
static void counts_to_starts(int64_t *starts, int ranks)
{
    for (int rank = 0; rank < ranks; rank++)
        starts[rank + 1] += starts[rank];
}

/* Are the elements grouped as they lie? */
static bool in_order(const int *peers, int64_t count)
{
    for (int64_t i = 1; i < count; i++)
        if (peers[i - 1] > peers[i])
            return false;
    return true;
}

/* Each start is moved on while its group fills, which makes it the next one's: all are put back by one place. */
static void place(int64_t *at, int64_t *starts, int ranks, const int *peers, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        at[starts[peers[i]]++] = i;
    memmove(starts + 1, starts, (size_t)ranks * sizeof *starts);
    starts[0] = 0;
}

/* Of both sides, so that only a fault of MPI can come between them. */
static redist_fault allocate_starts(redist_lists *lists, int ranks)
{
    for (redist_side side = REDIST_BEFORE; side <= REDIST_AFTER; side++)
        if (!lists->starts[side] && !(lists->starts[side] = calloc((size_t)ranks + 1, sizeof(int64_t))))
            return REDIST_NO_MEMORY;
    return REDIST_FINE;
}

redist_fault redist_lists_group(redist_lists *lists, redist_side side, int ranks, const int *peers, int64_t count)
{
    if (allocate_starts(lists, ranks) != REDIST_FINE)
        return REDIST_NO_MEMORY;
    int64_t *starts = lists->starts[side];
    for (int64_t i = 0; i < count; i++)
        starts[peers[i] + 1]++;
    counts_to_starts(starts, ranks);
    if (in_order(peers, count))
        return REDIST_FINE;
    if (!(lists->at[side] = malloc((size_t)count * sizeof *lists->at[side])))
        return REDIST_NO_MEMORY;
    place(lists->at[side], starts, ranks, peers, count);
    return REDIST_FINE;
}

redist_fault redist_lists_hear(redist_lists *lists, const epop_window_t *window)
{
    MPI_Request request;
    int ranks = redist_all_size(window);
    int64_t *heard = lists->starts[REDIST_AFTER];
    for (int rank = 0; rank < ranks; rank++)
        heard[rank + 1] = lists->starts[REDIST_BEFORE][rank + 1] - lists->starts[REDIST_BEFORE][rank];
    if (MPI_Ialltoall(MPI_IN_PLACE, 1, MPI_INT64_T, heard + 1, 1, MPI_INT64_T, window->all, &request) != MPI_SUCCESS ||
        redist_wait(&request) != MPI_SUCCESS)
        return REDIST_MPI_FAILED;
    counts_to_starts(heard, ranks);
    return REDIST_FINE;
}

void redist_lists_free(redist_lists *lists)
{
    for (redist_side side = REDIST_BEFORE; side <= REDIST_AFTER; side++) {
        free(lists->starts[side]);
        free(lists->at[side]);
    }
    *lists = (redist_lists){.starts = {NULL, NULL}};
}
