/*
 * A driver that asks for a checkpoint or a size in some iteration of a program, whatever the program, and makes what
 * comes then so slow that the program has not ended before that is there. For executables a library to be preloaded.
 *     EPOP_TEST_AT=N         in iteration N, counted from 0 over all elastic phases
 *     EPOP_TEST_FILE=PATTERN for a checkpoint; its path, as the shell would find it
 *     EPOP_TEST_SIZE=SIZE    for that size
 *     EPOP_TEST_WAITS=       that is asked for by the program itself
 */
#include <dlfcn.h>
#include <glob.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <epop/driver.h>
#include <epop/epop.h>
#include <epop/mpi_adapt.h>

static long seen, pause_ms = 1;

static bool is_found(const char *pattern)
{
    glob_t found;
    bool result = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;
    if (result)
        globfree(&found);
    return result;
}

static bool is_there(void)
{
    const char *file = getenv("EPOP_TEST_FILE"), *wanted = getenv("EPOP_TEST_SIZE");
    int size = 0;
    if (wanted)
        MPI_Comm_size(epop_world(), &size);
    return (!file || is_found(file)) && (!wanted || atoi(wanted) == size);
}

static void ask(void)
{
    const char *size = getenv("EPOP_TEST_SIZE");
    int rank;
    MPI_Comm_rank(epop_world(), &rank);
    if (rank == 0 && getenv("EPOP_TEST_FILE"))
        epop_request_checkpoint();
    if (rank == 0 && size)
        epop_request_resize(atoi(size));
}

/* Twice as long each time, so that even few iterations last as long as a slow machine needs. */
static void in_iteration(void)
{
    const char *at = getenv("EPOP_TEST_AT");
    if (!at || seen++ < atol(at) || is_there())
        return;
    if (seen == atol(at) + 1 && !getenv("EPOP_TEST_WAITS"))
        ask();
    nanosleep(&(struct timespec){pause_ms / 1000, pause_ms % 1000 * 1000000}, NULL);
    pause_ms = pause_ms < 1000 ? 2 * pause_ms : pause_ms;
}

static void iteration_begin(void *state, const epop_position_t *position)
{
    (void)state;
    if (position->program->elements[position->pc].type == EPOP_EP)
        in_iteration();
}

const epop_driver_t *epop_get_driver(void)
{
    static const epop_driver_t driver = {.abi_version = EPOP_DRIVER_ABI_VERSION,
                                         .struct_size = sizeof driver,
                                         .name = "asks",
                                         .summary = "asks for a checkpoint or a size",
                                         .iteration_begin = iteration_begin};
    return &driver;
}

/* Preloaded: behind a probe without an adaptation. */
int MPI_Probe_adapt(int *pending, int *status, MPI_Info *info)
{
    int (*real)(int *, int *, MPI_Info *);
    void *found = dlsym(RTLD_NEXT, "MPI_Probe_adapt");
    memcpy(&real, &found, sizeof found); /* ISO C converts no object pointer into a function's */
    int result = real(pending, status, info);
    if (*pending != MPI_ADAPT_TRUE)
        in_iteration();
    return result;
}
