/*
 * An elastic MPI program in all the usual shapes, in C and C++: iterates until the file exists, and checks in each
 * iteration that all processes are in the same one.
 *     adapt_loop FILE [start|end] [straight|probe|loop] [late]
 * The probe stands at the start or the end of the loop; joining processes go straight to begin, probe first, or do that
 * in the loop; the iteration is handed on after the commit (late) or before. A joining process calls MPI_Abort if it
 * finds FILE.abort; one that leaves returns $LEAVE_WITH from main, and the last rank of those at the end $END_WITH. The
 * rank $EXIT_RANK calls exit(0) in its loop, $QUIT_RANK _exit(0), and $ABORT_RANK MPI_Abort with code 0; one that
 * leaves does not call MPI_Finalize if $FORGETS is set. With $STALE one that joined calls begin again, by its first
 * status.
 */
#include <epop/mpi_adapt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ELEMENTS 97

static int at_start, probe_first, in_loop, late, joined_now;
static long iteration;
static double data[ELEMENTS]; /* this process's: every size-th one, beginning at its rank */

static int aborts(const char *file)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.abort", file);
    return access(path, F_OK) == 0;
}

static void fail(const char *what, long value)
{
    printf("WRONG: %s %ld in iteration %ld\n", what, value, iteration);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 9);
}

/* All data to every process, each element from its owner in `comm`. */
static void collect(MPI_Comm comm, int owns)
{
    double sum[ELEMENTS];
    if (!owns)
        memset(data, 0, sizeof data);
    MPI_Allreduce(data, sum, ELEMENTS, MPI_DOUBLE, MPI_SUM, comm);
    memcpy(data, sum, sizeof data);
}

static void keep_own(void)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < ELEMENTS; i++)
        if (i % size != rank)
            data[i] = 0;
}

static void check_counts(MPI_Comm between, MPI_Comm after, int status, const int counts[3])
{
    int old = counts[0] + counts[1], size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != (status == MPI_ADAPT_STATUS_JOINING ? counts[2] : old))
        fail("size of MPI_COMM_WORLD in the window", size);
    if ((after == MPI_COMM_NULL) != (status == MPI_ADAPT_STATUS_LEAVING))
        fail("the new world of status", status);
    if (after != MPI_COMM_NULL) {
        MPI_Comm_size(after, &size);
        if (size != counts[0] + counts[2])
            fail("size of the new world", size);
    }
    if ((between == MPI_COMM_NULL) != (counts[2] == 0))
        fail("intercommunicator, joining", counts[2]);
}

static void check_world(int size_expected)
{
    int size, copy;
    MPI_Comm dup;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_size(dup, &copy);
    MPI_Comm_free(&dup);
    if (size != size_expected || copy != size_expected)
        fail("size of the world after commit", size);
}

static int is_number(const char *variable, int number)
{
    const char *text = getenv(variable);
    return text && atoi(text) == number;
}

static void adapt(int status)
{
    MPI_Comm between, after, all;
    int counts[3], joins = status == MPI_ADAPT_STATUS_JOINING;
    MPI_Comm_adapt_begin(&between, &after, &counts[0], &counts[1], &counts[2]);
    check_counts(between, after, status, counts);
    if (between != MPI_COMM_NULL)
        MPI_Intercomm_merge(between, joins, &all);
    else
        MPI_Comm_dup(MPI_COMM_WORLD, &all);
    collect(all, !joins);
    if (!late)
        MPI_Bcast(&iteration, 1, MPI_LONG, 0, all);
    MPI_Comm_disconnect(&all);
    MPI_Comm_adapt_commit();
    if (status == MPI_ADAPT_STATUS_LEAVING)
        return;
    check_world(counts[0] + counts[2]);
    keep_own();
    if (late)
        MPI_Bcast(&iteration, 1, MPI_LONG, 0, MPI_COMM_WORLD);
}

static long number_in(MPI_Info info, const char *key)
{
    char text[32] = "";
    int there = 0;
    MPI_Info_get(info, key, 31, text, &there);
    return there ? atol(text) : -1;
}

/* The sizes are those that begin and commit give afterwards. */
static void check_info(MPI_Info info)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!joined_now && number_in(info, "epop_from") != size)
        fail("epop_from", number_in(info, "epop_from"));
    if (number_in(info, "epop_to") < 1 || number_in(info, "epop_adaptation") < 1)
        fail("epop_to", number_in(info, "epop_to"));
    if (number_in(info, "epop_iteration") < 0)
        fail("epop_iteration", number_in(info, "epop_iteration"));
}

/* True: this process has left. */
static int probe(void)
{
    int pending, status, size;
    MPI_Info info;
    MPI_Probe_adapt(&pending, &status, &info);
    if ((pending != MPI_ADAPT_TRUE) != (info == MPI_INFO_NULL))
        fail("info of a probe that says", pending);
    if (pending != MPI_ADAPT_TRUE && status != MPI_ADAPT_STATUS_STAYING)
        fail("without an adaptation a probe says status", status);
    if (pending != MPI_ADAPT_TRUE)
        return 0;
    joined_now = status == MPI_ADAPT_STATUS_JOINING;
    check_info(info);
    long to = number_in(info, "epop_to");
    MPI_Info_free(&info);
    adapt(status);
    if (status != MPI_ADAPT_STATUS_LEAVING && (MPI_Comm_size(MPI_COMM_WORLD, &size), size != to))
        fail("epop_to", to);
    return status == MPI_ADAPT_STATUS_LEAVING;
}

/* False at the end, on all in the same iteration. */
static int compute(const char *file)
{
    int rank, size, more;
    long limits[2] = {iteration, -iteration}, most[2];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    more = access(file, F_OK) != 0;
    if (is_number("QUIT_RANK", rank))
        _exit(0);
    if (is_number("EXIT_RANK", rank))
        exit(0);
    if (is_number("ABORT_RANK", rank))
        MPI_Abort(MPI_COMM_WORLD, 0);
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allreduce(limits, most, 2, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    if (most[0] != iteration || most[1] != -iteration)
        fail("another process is in iteration", most[0] != iteration ? most[0] : -most[1]);
    for (int i = rank; i < ELEMENTS; i += size)
        data[i] += i;
    MPI_Barrier(MPI_COMM_WORLD);
    iteration++;
    return more;
}

/* As programs do that go by the status of their start, at each pass of an outer loop. */
static void begin_if_it_says_so(int status)
{
    MPI_Comm between, after;
    int counts[3];
    if (getenv("STALE") && status == MPI_ADAPT_STATUS_JOINING)
        MPI_Comm_adapt_begin(&between, &after, &counts[0], &counts[1], &counts[2]);
}

static int loop(const char *file, int first_status)
{
    for (int more = 1; more;) {
        begin_if_it_says_so(first_status);
        if (at_start && probe())
            return 1;
        more = compute(file);
        if (!at_start && probe())
            return 1;
    }
    return 0;
}

static void report(void)
{
    int rank, size;
    collect(MPI_COMM_WORLD, 1);
    for (int i = 0; i < ELEMENTS; i++)
        if (data[i] != (double)i * (double)iteration)
            fail("element", i);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        printf("right at the end, %d processes\n", size);
}

static int is_last(void)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return rank == size - 1;
}

int main(int argc, char **argv)
{
    int status, first, pending, gone, done, last;
    MPI_Init_adapt(&argc, &argv, &status);
    first = status;
    if (status == MPI_ADAPT_STATUS_JOINING && aborts(argv[1])) {
        printf("aborts (out)\n");
        fprintf(stderr, "aborts (err)\n");
        MPI_Abort(MPI_COMM_WORLD, 5);
    }
    for (int i = 2; i < argc; i++) {
        at_start |= !strcmp(argv[i], "start");
        probe_first |= !strcmp(argv[i], "probe");
        in_loop |= !strcmp(argv[i], "loop");
        late |= !strcmp(argv[i], "late");
    }
    if (status == MPI_ADAPT_STATUS_JOINING && probe_first) {
        MPI_Probe_adapt(&pending, &status, NULL);
        if (pending != MPI_ADAPT_TRUE || status != MPI_ADAPT_STATUS_JOINING)
            fail("the first probe of a joining process says", pending);
    }
    if (status == MPI_ADAPT_STATUS_JOINING && !in_loop)
        adapt(status);
    gone = loop(argv[1], first);
    if (!gone)
        report();
    if (gone && getenv("FORGETS"))
        exit(atoi(getenv("FORGETS")));
    last = !gone && is_last();
    MPI_Finalize();
    MPI_Finalized(&done);
    if (!done)
        printf("WRONG: not finalized\n");
    if (gone)
        printf("a process returns from main\n");
    if (gone && getenv("LEAVE_WITH"))
        return atoi(getenv("LEAVE_WITH"));
    if (last && getenv("END_WITH"))
        return atoi(getenv("END_WITH"));
    return 0;
}
