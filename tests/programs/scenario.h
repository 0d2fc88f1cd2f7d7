/*
 * What the scenario programs share: arguments of the form name=value, naps, the lines that tests wait for, adapt
 * blocks, and a check of everything that a window gives. A check that fails ends the job.
 */
#ifndef TEST_SCENARIO_H
#define TEST_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <epop/epop.h>

#include "../expect.h"

/* ---- Arguments ------------------------------------------------------------------------ */

typedef struct arguments {
    int argc;
    char **argv;
} arguments_t;

/* The value of argument number `which` of those called name, or NULL. */
static inline const char *text_argument(arguments_t a, const char *name, int which)
{
    size_t length = strlen(name);
    for (int i = 1; i < a.argc; i++)
        if (!strncmp(a.argv[i], name, length) && a.argv[i][length] == '=' && which-- == 0)
            return a.argv[i] + length + 1;
    return NULL;
}

static inline long argument(arguments_t a, const char *name, long otherwise)
{
    const char *text = text_argument(a, name, 0);
    return text ? atol(text) : otherwise;
}

/* Is there a word of its own? */
static inline bool has_argument(arguments_t a, const char *word)
{
    for (int i = 1; i < a.argc; i++)
        if (!strcmp(a.argv[i], word))
            return true;
    return false;
}

/* ---- Time and files -------------------------------------------------------------------- */

static inline double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Also when SIGTERM comes in between. */
static inline void nap(long us)
{
    struct timespec time = {us / 1000000, us % 1000000 * 1000};
    while (us > 0 && nanosleep(&time, &time) != 0)
        ;
}

static inline bool exists(const char *path)
{
    return path && access(path, F_OK) == 0;
}

static inline void wait_while_there(const char *path)
{
    while (exists(path))
        nap(2000);
}

/* ---- The window ------------------------------------------------------------------------- */

static inline int size_of(MPI_Comm comm)
{
    int size = -1;
    if (comm != MPI_COMM_NULL)
        MPI_Comm_size(comm, &size);
    return size;
}

static inline int rank_in(MPI_Comm comm)
{
    int rank = -1;
    if (comm != MPI_COMM_NULL)
        MPI_Comm_rank(comm, &rank);
    return rank;
}

static inline const char *status_name(epop_status_t status)
{
    static const char *const names[] = {"new", "joining", "staying", "leaving"};
    return names[status];
}

/* Of an init block: tests wait for it. */
static inline void say_init(void)
{
    printf("init %s rank %d of %d in process %d\n", status_name(epop_status()), rank_in(epop_world()),
           size_of(epop_world()), (int)getpid());
    fflush(stdout);
}

/* Of the last block. */
static inline void say_end(int windows, int64_t iterations)
{
    if (rank_in(epop_world()) == 0)
        printf("end: %d ranks, %d windows, %lld iterations\n", size_of(epop_world()), windows, (long long)iterations);
}

static inline int check_numbers(const epop_window_t *w)
{
    int wrong = 0, old = w->status != EPOP_JOINING, stays = 0;
    EXPECT(w->status == EPOP_JOINING || w->status == EPOP_STAYING || w->status == EPOP_LEAVING);
    EXPECT(epop_status() == w->status);
    EXPECT(old ? w->old_rank >= 0 && w->old_rank < w->old_size : w->old_rank == -1);
    EXPECT(w->status == EPOP_LEAVING ? w->new_rank == -1 : w->new_rank >= 0 && w->new_rank < w->new_size);
    EXPECT(w->old_size == w->staying + w->leaving && w->new_size == w->staying + w->joining);
    EXPECT(w->old_rank != 0 || w->new_rank == 0 || w->staying == 0);
    for (int i = 0; i < w->old_size; i++) {
        EXPECT(w->new_ranks[i] == -1 || w->new_ranks[i] == stays);
        stays += w->new_ranks[i] >= 0;
    }
    EXPECT(stays == w->staying);
    for (int i = 0; i < w->joining; i++)
        EXPECT(w->new_ranks[w->old_size + i] == w->staying + i);
    return wrong;
}

static inline int check_communicators(const epop_window_t *w)
{
    int wrong = 0, old = w->status != EPOP_JOINING, remote = -1;
    EXPECT(epop_world() == w->before);
    EXPECT(size_of(w->before) == (old ? w->old_size : w->joining));
    EXPECT(!old || rank_in(w->before) == w->old_rank);
    EXPECT(size_of(w->all) == w->old_size + w->joining);
    EXPECT(rank_in(w->all) == (old ? w->old_rank : w->old_size + rank_in(w->before)));
    EXPECT(w->new_ranks[rank_in(w->all)] == w->new_rank);
    EXPECT(size_of(w->after) == (w->status == EPOP_LEAVING ? -1 : w->new_size));
    EXPECT(rank_in(w->after) == w->new_rank);
    EXPECT((w->intercomm == MPI_COMM_NULL) == (w->joining == 0));
    if (w->intercomm != MPI_COMM_NULL) {
        EXPECT(size_of(w->intercomm) == size_of(w->before) && rank_in(w->intercomm) == rank_in(w->before));
        MPI_Comm_remote_size(w->intercomm, &remote);
        EXPECT(remote == (old ? w->joining : w->old_size));
    }
    return wrong;
}

/* Messages over all four: who is where must be the same from everywhere. */
static inline int check_members(const epop_window_t *w)
{
    int wrong = 0, old = w->status != EPOP_JOINING, total = w->old_size + w->joining, me = (int)getpid();
    int first = old ? 0 : w->old_size, others = old ? w->joining : w->old_size, sum = 0, expected = 0;
    int *all = calloc((size_t)total * 2, sizeof *all), *part = all + total;
    MPI_Allgather(&me, 1, MPI_INT, all, 1, MPI_INT, w->all);
    MPI_Allgather(&me, 1, MPI_INT, part, 1, MPI_INT, w->before);
    EXPECT(!memcmp(part, all + first, sizeof(int) * (size_t)size_of(w->before)));
    for (int i = 0; i < total; i++)
        for (int j = 0; j < i; j++)
            EXPECT(all[i] != all[j]);
    if (w->after != MPI_COMM_NULL) {
        MPI_Allgather(&me, 1, MPI_INT, part, 1, MPI_INT, w->after);
        for (int i = 0; i < total; i++)
            EXPECT(w->new_ranks[i] < 0 || part[w->new_ranks[i]] == all[i]);
    }
    if (w->intercomm != MPI_COMM_NULL) {
        for (int i = 0; i < others; i++)
            expected += all[(old ? w->old_size : 0) + i];
        MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, w->intercomm);
        EXPECT(sum == expected);
        MPI_Allgather(&me, 1, MPI_INT, part, 1, MPI_INT, w->intercomm);
        EXPECT(!memcmp(part, all + (old ? w->old_size : 0), sizeof(int) * (size_t)others));
    }
    free(all);
    return wrong;
}

/* How many things are wrong. Collective over w->all. */
static inline int check_window(const epop_window_t *w)
{
    int wrong = check_numbers(w);
    wrong += check_communicators(w);
    return wrong ? wrong : check_members(w);
}

/* ---- An adapt block ---------------------------------------------------------------------- */

/* For data that is the same on all ranks. */
static inline int adapt_copies(void *values, int count, MPI_Datatype type)
{
    epop_window_t window;
    int error = epop_adapt_begin(&window);
    if (!error)
        error = epop_redist_replicated(&window, values, count, type);
    return error ? error : epop_adapt_commit();
}

/* What the data begins with where a number of iterations is all that a program adapts. */
struct count {
    int64_t done, to;
};

static inline int count_on(void *data)
{
    const struct count *count = data;
    return count->done < count->to;
}

static inline int adapt_count(void *data)
{
    struct count *count = data;
    return adapt_copies(&count->done, 1, MPI_INT64_T);
}

#endif
