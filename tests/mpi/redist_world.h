/*
 * Windows made by hand from the ranks of MPI_COMM_WORLD, for tests of redistribution without the elastic
 * runtime; and the counting of what is really sent.
 */
#ifndef TESTS_REDIST_WORLD_H
#define TESTS_REDIST_WORLD_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <epop/redist.h>

enum { WORLD_MAX = 16 };

typedef struct test_world {
    epop_window_t window; /* only what redistribution looks at */
    int new_ranks[WORLD_MAX];
    int rank, size; /* in all */
} test_world;

/* All ranks of comm: the first old_size are old ones, of which those with leaves[r] leave; the others join. */
static void make_world(test_world *world, MPI_Comm comm, int old_size, const int *leaves)
{
    epop_window_t *window = &world->window;
    MPI_Comm_rank(comm, &world->rank);
    MPI_Comm_size(comm, &world->size);
    *window = (epop_window_t){.all = comm, .old_size = old_size, .new_ranks = world->new_ranks};
    window->before = window->after = window->intercomm = MPI_COMM_NULL;
    for (int r = 0; r < world->size; r++) {
        int leaving = r < old_size && leaves[r];
        world->new_ranks[r] = leaving ? -1 : window->new_size++;
        window->leaving += leaving;
    }
    window->joining = world->size - old_size;
    window->staying = old_size - window->leaving;
    window->old_rank = world->rank < old_size ? world->rank : -1;
    window->new_rank = world->new_ranks[world->rank];
    window->status = window->old_rank < 0 ? EPOP_JOINING : window->new_rank < 0 ? EPOP_LEAVING : EPOP_STAYING;
}

/* What this rank sent point to point, to others, since it was last set to 0. libepop calls MPI by its profiling names,
 * which a program may define as well. */
static int64_t sent_bytes, sent_messages, empty_messages;
static int sends_fail; /* say so, although they do not */

static int count_sent(int count, MPI_Datatype type, int error)
{
    MPI_Count size;
    MPI_Type_size_x(type, &size);
    sent_bytes += count * size;
    sent_messages++;
    empty_messages += count * size == 0;
    return sends_fail ? MPI_ERR_OTHER : error;
}

int PMPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    return count_sent(count, type, MPI_Isend(buffer, count, type, to, tag, comm, request));
}

int PMPI_Issend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    return count_sent(count, type, MPI_Issend(buffer, count, type, to, tag, comm, request));
}

/* Ends the test on every rank. */
#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                  \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                                              \
        }                                                                                                              \
    } while (0)

#endif
