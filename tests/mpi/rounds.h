/*
 * Rounds with random numbers, the same on all ranks. A test that plays them takes arguments: [SEED [ROUNDS]], as it
 * says at its start.
 */
#ifndef TESTS_ROUNDS_H
#define TESTS_ROUNDS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/mpi/redist_world.h"

static uint64_t random_state;

/* 0 to count - 1. */
static int64_t pick(int64_t count)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((random_state >> 33) % (uint64_t)count);
}

struct rounds {
    const char *name;
    uint64_t seed;
    int rank, size, count;
    MPI_Comm firsts[WORLD_MAX]; /* of the first 1, 2, ... ranks: valid on these */
};

/* Behind MPI_Init. */
static void rounds_begin(struct rounds *rounds, const char *name, int count, int argc, char **argv)
{
    *rounds = (struct rounds){.name = name, .count = argc > 2 ? atoi(argv[2]) : count};
    MPI_Comm_rank(MPI_COMM_WORLD, &rounds->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &rounds->size);
    rounds->seed = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t)time(NULL);
    MPI_Bcast(&rounds->seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (int i = 0; i < rounds->size; i++)
        MPI_Comm_split(MPI_COMM_WORLD, rounds->rank <= i ? 0 : MPI_UNDEFINED, 0, &rounds->firsts[i]);
    if (rounds->rank == 0)
        printf("%s: seed %llu, %d rounds\n", name, (unsigned long long)rounds->seed, rounds->count), fflush(stdout);
}

/* What is picked in a round does not depend on those before it. */
static void rounds_set(const struct rounds *rounds, int round)
{
    random_state = rounds->seed + (uint64_t)round * 1000003;
}

/* The last rank of a round: the last of all, or one or two before it. */
static int rounds_last(const struct rounds *rounds)
{
    return rounds->size - 1 - (int)pick(3) % rounds->size;
}

/* Expand, shrink, both, or neither; leaving ranks anywhere, seldom all of them. */
static inline void random_world(test_world *world, MPI_Comm comm)
{
    int size, leaves[WORLD_MAX] = {0};
    MPI_Comm_size(comm, &size);
    int old_size = 1 + (int)pick(size), kind = (int)pick(4), all_leave = pick(10) == 0 && old_size < size;
    for (int r = 0; r < old_size; r++)
        leaves[r] = all_leave || (r > 0 && kind > 0 && pick(kind + 1) > 0);
    make_world(world, comm, old_size, leaves);
}

/* Before MPI_Finalize. */
static void rounds_end(struct rounds *rounds)
{
    for (int i = rounds->rank; i < rounds->size; i++)
        MPI_Comm_free(&rounds->firsts[i]);
    if (rounds->rank == 0)
        printf("%s: ok\n", rounds->name);
}

#endif
