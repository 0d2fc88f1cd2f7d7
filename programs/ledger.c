/*
 * A distributed array that every iteration checks and updates element by element. What an element must be follows from
 * its place and the iteration, so one that a resize lost, doubled or misplaced is found at once.
 *
 *     mpiexec.mpich -n 4 epop --start 2 ledger.so elements=100000 iterations=5000 dist=cyclic
 *
 * elements, iterations   how many; 1000 and 100
 * work, skew             microseconds per iteration: 1000 on every rank, and up to `skew` more at random
 * meet                   ranks wait for their neighbours in every so many iterations, as those of a stencil; 0: never
 * dist                   block, cyclic or block-cyclic
 * resize, max            every `resize` iterations the program itself asks for another size, 1 .. max
 */
#include <epop/epop.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct ledger {
    int64_t iterations, work, skew, meet, resize, max;
    epop_dist_t dist;
    int64_t iteration, resizes; /* the same on every rank */
    int64_t *values;            /* this rank's elements */
} ledger_t;

static int64_t value_of(int64_t element, int64_t iteration)
{
    return element * 1000003 + iteration * (element % 7 + 1);
}

static void my_part(const ledger_t *ledger, int *rank, int *size, int64_t *count)
{
    MPI_Comm_rank(epop_world(), rank);
    MPI_Comm_size(epop_world(), size);
    *count = epop_dist_local_count(ledger->dist, *rank, *size);
}

static int parse(ledger_t *ledger, const char *argument)
{
    struct {
        const char *format;
        int64_t *value;
    } numbers[] = {{"elements=%" SCNd64, &ledger->dist.count},
                   {"iterations=%" SCNd64, &ledger->iterations},
                   {"work=%" SCNd64, &ledger->work},
                   {"skew=%" SCNd64, &ledger->skew},
                   {"meet=%" SCNd64, &ledger->meet},
                   {"resize=%" SCNd64, &ledger->resize},
                   {"max=%" SCNd64, &ledger->max}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (sscanf(argument, numbers[i].format, numbers[i].value) == 1)
            return *numbers[i].value < 0;
    if (strcmp(argument, "dist=block") == 0)
        ledger->dist = epop_dist_block(ledger->dist.count);
    else if (strcmp(argument, "dist=cyclic") == 0)
        ledger->dist = epop_dist_cyclic(ledger->dist.count);
    else if (strcmp(argument, "dist=block-cyclic") == 0)
        ledger->dist = epop_dist_block_cyclic(ledger->dist.count, 3);
    else
        return 1;
    return 0;
}

/* Local: a joining or restarting process comes here too, and gets its elements afterwards. */
static int init(int *argc, char ***argv, void **data)
{
    ledger_t *ledger = calloc(1, sizeof *ledger);
    if (!ledger)
        return EPOP_ERR_MEMORY;
    *data = ledger;
    *ledger = (ledger_t){.iterations = 100, .work = 1000, .max = 1, .dist = epop_dist_block(1000)};
    for (int i = 1; i < *argc; i++)
        if (parse(ledger, (*argv)[i]) != 0) {
            fprintf(stderr, "ledger: argument '%s' is not understood\n", (*argv)[i]);
            return EPOP_ERR_ARGUMENT;
        }
    if (epop_status() != EPOP_NEW)
        return 0;
    int rank, size;
    int64_t count;
    my_part(ledger, &rank, &size, &count);
    ledger->values = calloc((size_t)count + 1, sizeof *ledger->values);
    for (int64_t i = 0; ledger->values && i < count; i++)
        ledger->values[i] = value_of(epop_dist_global(ledger->dist, rank, size, i), 0);
    return ledger->values ? 0 : EPOP_ERR_MEMORY;
}

static void work(const ledger_t *ledger, int rank)
{
    unsigned seed = (unsigned)(ledger->iteration * 1000 + rank);
    int64_t us = ledger->work + (ledger->skew ? rand_r(&seed) % (ledger->skew + 1) : 0);
    struct timespec time = {us / 1000000, us % 1000000 * 1000};
    if (us)
        nanosleep(&time, NULL);
}

static void meet_neighbours(int rank, int size)
{
    int before = (rank + size - 1) % size, after = (rank + 1) % size;
    MPI_Sendrecv(NULL, 0, MPI_BYTE, after, 0, NULL, 0, MPI_BYTE, before, 0, epop_world(), MPI_STATUS_IGNORE);
    MPI_Sendrecv(NULL, 0, MPI_BYTE, before, 0, NULL, 0, MPI_BYTE, after, 0, epop_world(), MPI_STATUS_IGNORE);
}

static int exec(void *data)
{
    ledger_t *ledger = data;
    int rank, size;
    int64_t count, now = ledger->iteration;
    my_part(ledger, &rank, &size, &count);
    for (int64_t i = 0; i < count; i++) {
        int64_t element = epop_dist_global(ledger->dist, rank, size, i);
        if (ledger->values[i] != value_of(element, now)) {
            fprintf(stderr, "ledger: element %lld is %lld in iteration %lld on rank %d of %d, and should be %lld\n",
                    (long long)element, (long long)ledger->values[i], (long long)now, rank, size,
                    (long long)value_of(element, now));
            return 1;
        }
        ledger->values[i] = value_of(element, now + 1);
    }
    work(ledger, rank);
    ledger->iteration++;
    if (ledger->meet && ledger->iteration % ledger->meet == 0)
        meet_neighbours(rank, size);
    if (ledger->resize && ledger->max && ledger->iteration % ledger->resize == 0 && rank == 0)
        epop_request_resize((int)(1 + ledger->iteration / ledger->resize % ledger->max));
    return 0;
}

/* All that a resize moves, and a checkpoint saves. */
static void describe(void *data, epop_description_t *d)
{
    ledger_t *ledger = data;
    epop_describe_values(d, "iteration", &ledger->iteration, sizeof ledger->iteration);
    epop_describe_values(d, "resizes", &ledger->resizes, sizeof ledger->resizes);
    epop_describe_array(d, "elements", &ledger->values, MPI_INT64_T, ledger->dist, 0);
}

static int count_resize(void *data)
{
    ledger_t *ledger = data;
    ledger->resizes += epop_status() != EPOP_RESTARTING;
    return 0;
}

static int loop(void *data)
{
    const ledger_t *ledger = data;
    return ledger->iteration < ledger->iterations;
}

static int report(void *data)
{
    ledger_t *ledger = data;
    int rank, size;
    int64_t count;
    my_part(ledger, &rank, &size, &count);
    MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT64_T, MPI_SUM, epop_world());
    if (rank == 0)
        printf("ledger: %lld elements right in %lld iterations, %lld resizes, %d ranks at the end\n", (long long)count,
               (long long)ledger->iteration, (long long)ledger->resizes, size);
    return 0;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("ledger");
    if (!program)
        return NULL;
    epop_add_init(program, "allocate", init);
    epop_add_elastic(program, "ledger", exec, epop_adapt_described, loop);
    program->finalizer = epop_add_rigid(program, "report", report, NULL);
    epop_describe(program, describe);
    epop_rebuild(program, count_resize);
    epop_release(program, free);
    return program;
}
