/* Whether the program's thread waits: see waits.h. */
#include "runtime/job/waits.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "interpose/interpose.h"
#include "runtime/base/clock.h"
#include "runtime/job/sampler.h"

#define LONGEST_GAP  1.0    /* seconds between two questions */
#define SAMPLES      10     /* of one that polls */
#define SAMPLE_NS    100000 /* between two of them */
#define BUSY_LOOKS   2      /* in turn, before one that polls is believed to compute */
#define IDLE_PORTION 0.25   /* of the time that it runs, or would run if it had a processor */

static struct {
    char schedstat[64]; /* of the thread: the file that says how long it has run, and has waited to run */
    uint64_t calls, polls;
    double looked, since, ran;
    int busy;
} seen;

void waits_init(void)
{
    snprintf(seen.schedstat, sizeof seen.schedstat, "/proc/self/task/%d/schedstat", (int)gettid());
}

/* Seconds that the thread has run, or waited for a processor; negative: not known. */
static double running(void)
{
    unsigned long long run, wait;
    FILE *file = fopen(seen.schedstat, "r");
    bool known = file && fscanf(file, "%llu %llu", &run, &wait) == 2;
    if (file)
        fclose(file);
    return known ? (double)(run + wait) * 1e-9 : -1;
}

/* One that does nothing else is nearly always found in MPI. */
static bool is_mostly_in_mpi(void)
{
    const struct timespec pause = {.tv_nsec = SAMPLE_NS};
    int in = 0;
    for (int i = 0; i < SAMPLES; i++) {
        in += sampler_calls().function != 0;
        nanosleep(&pause, NULL);
    }
    return 2 * in > SAMPLES;
}

/* It may sleep between two looks of its own. */
static bool only_polls(double now, double ran)
{
    bool sleeps = ran >= 0 && seen.ran >= 0 && ran - seen.ran < IDLE_PORTION * (now - seen.looked);
    seen.busy = sleeps || is_mostly_in_mpi() ? 0 : seen.busy + 1;
    return seen.busy < BUSY_LOOKS;
}

/* These take their time for a file, or for processes outside of the world: the ranks are not what is waited for. */
static bool is_on_others(int function)
{
    static const char *const begins[] = {"MPI_File_", "MPI_Comm_spawn", "MPI_Comm_accept", "MPI_Comm_connect",
                                         "MPI_Comm_join"};
    const char *name = function ? epop__interpose_name((enum interpose_function)(function - 1)) : "";
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (!strncmp(name, begins[i], strlen(begins[i])))
            return true;
    return false;
}

static bool still_waits(double now, double ran, struct sampler_calls is)
{
    bool called = is.calls != seen.calls, polled = is.polls != seen.polls;
    seen.calls = is.calls;
    seen.polls = is.polls;
    if (called || now - seen.looked > LONGEST_GAP || is_on_others(is.function))
        return false;
    return polled ? only_polls(now, ran) : is.function != 0;
}

void waits_describe(cJSON *json)
{
    double now = monotonic_seconds(), ran = running();
    struct sampler_calls is = sampler_calls();
    if (!still_waits(now, ran, is))
        seen.since = now;
    seen.looked = now;
    seen.ran = ran;
    cJSON_AddNumberToObject(json, "seconds", now - seen.since);
    if (is.function)
        cJSON_AddStringToObject(json, "mpi", epop__interpose_name((enum interpose_function)(is.function - 1)));
}
