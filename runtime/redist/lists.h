/*
 * Elements that go anywhere: not by a rule that every rank can work out, but each to a rank of its own. Grouped by rank
 * they are streams as those of a distribution, and the exchange moves both.
 */
#ifndef REDIST_LISTS_H
#define REDIST_LISTS_H

#include "runtime/redist/agree.h"
#include "runtime/redist/cursor.h"

typedef struct redist_lists {
    int64_t *starts[2]; /* by redist_side: where the group of each rank of window->all starts; and the end */
    int64_t *at[2];     /* positions in the local block, group after group; NULL: 0, 1, 2, ... */
} redist_lists;

/*
 * One side of the lists: element i of this rank's block goes to, or comes from, rank peers[i] of window->all. In each
 * group positions rise. Both sides are needed, and an order in the groups that is the same on both ranks. Local.
 */
redist_fault redist_lists_group(redist_lists *lists, redist_side side, int ranks, const int *peers, int64_t count);

/*
 * The other side of what is grouped for sending, for who cannot know it: new blocks are what the ranks send, one after
 * the other. Collective over window->all, whose ranks have all agreed to go on.
 */
redist_fault redist_lists_hear(redist_lists *lists, const epop_window_t *window);

void redist_lists_free(redist_lists *lists);

/*
 * Moves by the lists; `local` as for epop_redist, in a window that may be a still one. `words` stand in front of what
 * is wrong. `fault` is what went wrong here until now. Collective over window->all.
 */
int redist_by_lists(const epop_window_t *window, const redist_lists *lists, MPI_Datatype type, void **local,
                    const char *words, redist_fault fault);

#endif
