/*
 * The shape of a solver of 2015, with the four-argument begin: a field in blocks, steps with halos, and a structure
 * that carries the state into the function that adapts and out of it again. Rank 0 collects the field from the old
 * processes and hands it to the new ones. Joining processes call that function before the loop. shape_carried OUTPUT
 * FILE STEPS     until FILE exists, or so many steps if STEPS is not 0 A leaving process takes part in the broadcast in
 * the window, and asks for its rank after commit.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define CELLS 60

static struct {
    MPI_Comm comm;
    int rank, size, status;
} team = {.size = 1};

static struct {
    uint64_t *block;
    long step;
} carried;

static int first_of(int rank)
{
    return CELLS * rank / team.size;
}

static int count_of(int rank)
{
    return first_of(rank + 1) - first_of(rank);
}

static void update(MPI_Comm comm)
{
    team.comm = comm;
    MPI_Comm_rank(comm, &team.rank);
    MPI_Comm_size(comm, &team.size);
}

/* With a cell of each neighbour at its ends. */
static uint64_t *new_block(void)
{
    return calloc((size_t)count_of(team.rank) + 2, sizeof(uint64_t));
}

static void collect(uint64_t *field)
{
    int counts[CELLS], firsts[CELLS];
    for (int i = 0; i < team.size; i++) {
        counts[i] = count_of(i);
        firsts[i] = first_of(i);
    }
    MPI_Gatherv(carried.block + 1, count_of(team.rank), MPI_UINT64_T, field, counts, firsts, MPI_UINT64_T, 0,
                team.comm);
}

static void hand_out(const uint64_t *field)
{
    MPI_Request requests[CELLS];
    MPI_Status statuses[CELLS];
    carried.block = new_block();
    if (team.rank == 0)
        for (int i = 0; i < team.size; i++)
            MPI_Isend(field + first_of(i), count_of(i), MPI_UINT64_T, i, 7, team.comm, &requests[i]);
    MPI_Recv(carried.block + 1, count_of(team.rank), MPI_UINT64_T, 0, 7, team.comm, MPI_STATUS_IGNORE);
    if (team.rank == 0)
        MPI_Waitall(team.size, requests, statuses);
}

static void redistribute(MPI_Comm after)
{
    uint64_t field[CELLS];
    if (team.status != MPI_ADAPT_STATUS_JOINING)
        collect(field);
    free(carried.block);
    carried.block = NULL;
    if (team.status == MPI_ADAPT_STATUS_RETREATING)
        return;
    update(after);
    hand_out(field);
}

static void adapt(void)
{
    int flag;
    MPI_Info info;
    MPI_Comm between, after;
    MPI_Probe_adapt(&flag, &team.status, &info);
    if (flag != MPI_ADAPT_TRUE)
        return;
    MPI_Comm_adapt_begin(&between, &after, 0, 0);
    redistribute(after);
    MPI_Bcast(&carried.step, 1, MPI_LONG, 0, after);
    MPI_Comm_adapt_commit(&flag);
    update(MPI_COMM_WORLD);
    team.status = MPI_ADAPT_STATUS_STAYING;
}

static void step(uint64_t *block)
{
    int count = count_of(team.rank), left = (team.rank + team.size - 1) % team.size,
        right = (team.rank + 1) % team.size;
    MPI_Sendrecv(&block[1], 1, MPI_UINT64_T, left, 1, &block[count + 1], 1, MPI_UINT64_T, right, 1, team.comm,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&block[count], 1, MPI_UINT64_T, right, 2, &block[0], 1, MPI_UINT64_T, left, 2, team.comm,
                 MPI_STATUS_IGNORE);
    uint64_t before = block[0];
    for (int i = 1; i <= count; i++) {
        uint64_t here = block[i];
        block[i] = before * 3 + here + block[i + 1] * 5 + 1;
        before = here;
    }
}

static void run(char **argv)
{
    const struct timespec work = {.tv_nsec = atol(argv[3]) ? 0 : 500000}; /* the run to compare with is to be short */
    if (team.status != MPI_ADAPT_STATUS_JOINING)
        carried.block = new_block();
    if (team.status != MPI_ADAPT_STATUS_JOINING && team.rank == 0)
        carried.block[1] = 1;
    else if (team.status == MPI_ADAPT_STATUS_JOINING)
        adapt();
    for (int more = 1; more;) {
        nanosleep(&work, NULL);
        step(carried.block);
        carried.step++;
        more = atol(argv[3]) ? carried.step < atol(argv[3]) : access(argv[2], F_OK) != 0;
        MPI_Bcast(&more, 1, MPI_INT, 0, team.comm);
        if (carried.step % 3 == 0)
            adapt();
    }
}

static void report(void)
{
    uint64_t field[CELLS], sum = 0;
    collect(field);
    for (int i = 0; i < CELLS && team.rank == 0; i++)
        sum = sum * 31 + field[i];
    if (team.rank == 0)
        printf("%ld turns, result %llu\n", carried.step, (unsigned long long)sum);
}

int main(int argc, char **argv)
{
    MPI_Init_adapt(&argc, &argv, &team.status);
    update(MPI_COMM_WORLD);
    run(argv);
    report();
    MPI_Finalize();
    return 0;
}
