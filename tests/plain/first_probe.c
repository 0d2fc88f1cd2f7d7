/*
 * Loops in which it is hard to see what a joining process's first probe is:
 *     first_probe LOOP start|end FILE [counts|repeats] [slow|hasty]
 * The probe stands at the start or the end of the loop; joining processes go straight to begin. LOOP:
 *     growing   neighbours exchange one message in odd iterations, and seven in even ones
 *     setup     five collective calls behind the commit, and one in an iteration
 *     last      everybody sends to the last rank, which alone receives
 *     parts     even ranks meet, and odd ones
 *     silent    nothing is communicated
 *     quiet     likewise in the first iterations behind a commit; a collective call in all others
 *     clock     each rank probes when its own clock says so; collective calls
 *     polls     the same, and waits by MPI_Test
 * In the first three the iteration goes with every message, and is checked. counts and repeats: declared so, by the
 * call. slow: joining processes sleep between commit and their first probe; hasty: the others, in their first
 * iteration. While FILE.long exists, rank 1 takes three seconds for an iteration; once FILE.spawn does, it starts a
 * process that takes them for its start. It runs until FILE exists (clock,
 * polls), or it is stopped; then every process says in which iteration it is.
 */
#include <epop/mpi_adapt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *program, *shape, *file;
static int at_start, slow, hasty;
static long iteration, since_commit;
static int joined;
static MPI_Comm pair = MPI_COMM_NULL;

static int is(const char *name)
{
    return !strcmp(shape, name);
}

static int there(const char *suffix)
{
    char path[4096];
    snprintf(path, sizeof path, "%s%s", file, suffix);
    return access(path, F_OK) == 0;
}

static int has_left;

static void at_end(void)
{
    if (has_left)
        return;
    printf("ends in iteration %ld\n", iteration);
    fflush(stdout);
}

static void check(long other)
{
    if (other == iteration)
        return;
    printf("WRONG: another process is in iteration %ld, this one in %ld\n", other, iteration);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 9);
}

static void where(int *rank, int *size)
{
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
}

/* ---- Iterations ----------------------------------------------------------------------------- */

static void meet(void)
{
    long both[2] = {iteration, -iteration}, most[2];
    MPI_Allreduce(both, most, 2, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    check(most[0]);
    check(-most[1]);
}

static void meet_polling(void)
{
    long both[2] = {iteration, -iteration}, most[2];
    int done = 0;
    MPI_Request request;
    MPI_Iallreduce(both, most, 2, MPI_LONG, MPI_MAX, MPI_COMM_WORLD, &request);
    while (!done)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    check(most[0]);
    check(-most[1]);
}

static void exchange(void)
{
    int rank, size;
    long other;
    where(&rank, &size);
    for (int side = -1; side <= 1; side += 2) {
        int peer = rank + side;
        if (peer < 0 || peer >= size)
            continue;
        MPI_Sendrecv(&iteration, 1, MPI_LONG, peer, 1, &other, 1, MPI_LONG, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(other);
    }
}

static void tell_the_last(void)
{
    int rank, size;
    long other;
    where(&rank, &size);
    if (rank < size - 1)
        MPI_Send(&iteration, 1, MPI_LONG, size - 1, 2, MPI_COMM_WORLD);
    for (int from = 0; rank == size - 1 && from < size - 1; from++) {
        MPI_Recv(&other, 1, MPI_LONG, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(other);
    }
    usleep(rank < size - 1 ? 200 : 100); /* likewise who only sends */
}

static void compute_long(void)
{
    int rank, size;
    where(&rank, &size);
    if (rank == 1 && there(".long"))
        sleep(3);
}

static void spawn_once(void)
{
    static char word[] = "child", *words[] = {word, NULL};
    static int rank, size, spawned;
    MPI_Comm child;
    where(&rank, &size);
    if (rank != 1 || spawned || !there(".spawn"))
        return;
    spawned = 1;
    MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child, MPI_ERRCODES_IGNORE);
    MPI_Comm_disconnect(&child);
}

static int be_child(void)
{
    MPI_Comm parent;
    sleep(3);
    MPI_Init(NULL, NULL);
    MPI_Comm_get_parent(&parent);
    MPI_Comm_disconnect(&parent);
    return MPI_Finalize();
}

/*
 * In microseconds. Where nothing is communicated a process whose first probe comes in less than a quarter of that time
 * is taken for one that repeats it: it may be interrupted on its way to that.
 */
static useconds_t time_of_iteration(void)
{
    useconds_t usual = is("silent") ? 150000 : 1000, hasty_one = is("silent") ? 5 * usual : 200000;
    return hasty && !joined && since_commit == 0 ? hasty_one : usual;
}

/* False at the end, on all in the same iteration. */
static int compute(void)
{
    int more = 1;
    compute_long();
    spawn_once();
    if (is("growing"))
        for (int i = 0; i < (iteration % 2 ? 1 : 7); i++)
            exchange();
    else if (is("setup"))
        meet();
    else if (is("last"))
        tell_the_last();
    else if (is("parts"))
        MPI_Barrier(pair);
    else if (is("clock") || (is("quiet") && since_commit > 3))
        meet();
    else if (is("polls"))
        meet_polling();
    if (is("silent") || is("quiet") || is("parts")) /* who meets nobody must not run away */
        usleep(time_of_iteration());
    if (is("clock") || is("polls")) {
        more = !there("");
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    iteration++;
    since_commit++;
    return more;
}

/* ---- Adapting --------------------------------------------------------------------------------- */

static void make_pairs(void)
{
    int rank, size;
    if (!is("parts"))
        return;
    if (pair != MPI_COMM_NULL)
        MPI_Comm_free(&pair);
    where(&rank, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &pair);
}

static void set_up(void)
{
    for (int i = 0; is("setup") && i < 5; i++)
        meet();
    make_pairs();
}

static void adapt(int status)
{
    MPI_Comm between, after, all;
    int staying, leaving, joining;
    MPI_Comm_adapt_begin(&between, &after, &staying, &leaving, &joining);
    if (between != MPI_COMM_NULL)
        MPI_Intercomm_merge(between, status == MPI_ADAPT_STATUS_JOINING, &all);
    else
        MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Bcast(&iteration, 1, MPI_LONG, 0, all);
    MPI_Comm_disconnect(&all);
    if (pair != MPI_COMM_NULL)
        MPI_Comm_free(&pair);
    MPI_Comm_adapt_commit();
    since_commit = 0;
    joined = status == MPI_ADAPT_STATUS_JOINING;
    if (status == MPI_ADAPT_STATUS_LEAVING)
        return;
    set_up();
    if (joined && slow)
        usleep(200000);
}

static int is_time(void)
{
    static struct timespec last;
    struct timespec now;
    int rank, size;
    where(&rank, &size);
    clock_gettime(CLOCK_MONOTONIC, &now);
    double seconds = (double)(now.tv_sec - last.tv_sec) + (double)(now.tv_nsec - last.tv_nsec) * 1e-9;
    if (seconds < 0.02 * (1 + 2 * rank))
        return 0;
    last = now;
    return 1;
}

/* True: this process has left. */
static int probe(void)
{
    int pending, status;
    if ((is("clock") || is("polls")) && !is_time())
        return 0;
    MPI_Probe_adapt(&pending, &status, NULL);
    if (pending == MPI_ADAPT_TRUE)
        adapt(status);
    return pending == MPI_ADAPT_TRUE && status == MPI_ADAPT_STATUS_LEAVING;
}

static int loop(void)
{
    for (int more = 1; more;) {
        if (at_start && probe())
            return 1;
        more = compute();
        if (!at_start && probe())
            return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    int status;
    program = argv[0];
    if (!strcmp(argv[1], "child"))
        return be_child();
    MPI_Init_adapt(&argc, &argv, &status);
    shape = argv[1];
    at_start = !strcmp(argv[2], "start");
    file = argv[3];
    for (int i = 4; i < argc; i++) {
        slow |= !strcmp(argv[i], "slow");
        hasty |= !strcmp(argv[i], "hasty");
        if (!strcmp(argv[i], "counts"))
            epop_mpi_first_probe(EPOP_MPI_FIRST_PROBE_COUNTS);
        if (!strcmp(argv[i], "repeats"))
            epop_mpi_first_probe(EPOP_MPI_FIRST_PROBE_REPEATS);
    }
    if (status == MPI_ADAPT_STATUS_JOINING)
        adapt(status);
    else
        set_up();
    atexit(at_end); /* where it is stopped, too */
    has_left = loop();
    MPI_Finalize();
    return 0;
}
