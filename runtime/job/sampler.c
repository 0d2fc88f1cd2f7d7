/*
 * The program's thread, as others see it. A thread of its own looks once a second where it is, so that neither a probe
 * nor a call of MPI has to look at the clock.
 */
#include "runtime/job/sampler.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "interpose/interpose.h"
#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/base/thread.h"
#include "runtime/base/ticks.h"
#include "runtime/job/follow.h"
#include "runtime/job/state.h"
#include "runtime/job/stopwatch.h"
#include "runtime/job/tell.h"
#include "runtime/wire/messages.h"

/* ---- Where it is, and how long -------------------------------------------------------------------- */

#define PERIOD_S 1
#define SLACK_NS 200000000 /* the kernel may let this thread wake up together with others */

/* What the program's thread has called (interpose_present). */
struct calls_seen {
    uint64_t calls, polls;
    int function;
};

/* What was seen when it had changed last. */
static struct {
    pthread_mutex_t lock;
    const struct live_position *live;
    const struct interpose_present *present; /* of the program's thread; NULL: it has ended */
    pthread_key_t end;                       /* of that thread, and with it of what is its own */
    int64_t visit, iteration;
    uint64_t calls;
    int function;
    double iteration_since, call_since;
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* With the lock held. */
static struct calls_seen calls_now(void)
{
    const struct interpose_present *p = seen.present;
    if (!p)
        return (struct calls_seen){0};
    return (struct calls_seen){.calls = atomic_load_explicit(&p->calls, memory_order_relaxed),
                               .polls = atomic_load_explicit(&p->polls, memory_order_relaxed),
                               .function = atomic_load_explicit(&p->function, memory_order_relaxed)};
}

/* By now; nothing, when that thread has ended. Any thread. */
static struct calls_seen look_at_calls(void)
{
    pthread_mutex_lock(&seen.lock);
    struct calls_seen calls = calls_now();
    pthread_mutex_unlock(&seen.lock);
    return calls;
}

static void thread_ends(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&seen.lock);
    seen.present = NULL;
    pthread_mutex_unlock(&seen.lock);
}

/* With the lock held. */
static double note_place(void)
{
    double now = monotonic_seconds();
    int64_t visit = atomic_load_explicit(&seen.live->visit, memory_order_relaxed);
    int64_t iteration = atomic_load_explicit(&seen.live->iteration, memory_order_relaxed);
    struct calls_seen is = calls_now();
    uint64_t calls = is.calls + is.polls;
    if (visit != seen.visit || iteration != seen.iteration)
        seen.iteration_since = now;
    if (calls != seen.calls || is.function != seen.function)
        seen.call_since = now;
    seen.visit = visit;
    seen.iteration = iteration;
    seen.calls = calls;
    seen.function = is.function;
    return now;
}

static void *look_on(void *unused)
{
    struct timespec period = {.tv_sec = PERIOD_S};
    prctl(PR_SET_TIMERSLACK, SLACK_NS);
    for (;;) {
        nanosleep(&period, NULL);
        pthread_mutex_lock(&seen.lock);
        note_place();
        pthread_mutex_unlock(&seen.lock);
    }
    return unused;
}

static void start_looking(const struct live_position *live)
{
    seen.live = live;
    seen.iteration_since = seen.call_since = monotonic_seconds();
    if (!pthread_key_create(&seen.end, thread_ends) && !pthread_setspecific(seen.end, &seen))
        seen.present = interpose_present();
    thread_start(NULL, look_on, NULL); /* without it times begin where somebody asks */
}

void sampler_place(cJSON *json)
{
    pthread_mutex_lock(&seen.lock);
    double now = note_place(), iteration_since = seen.iteration_since, call_since = seen.call_since;
    int function = seen.function;
    pthread_mutex_unlock(&seen.lock);
    cJSON_AddNumberToObject(json, "seconds", now - iteration_since);
    if (!function)
        return;
    cJSON_AddStringToObject(json, "mpi", epop__interpose_name((enum interpose_function)(function - 1)));
    cJSON_AddNumberToObject(json, "mpi_seconds", now - call_since);
}

/* ---- Does it only wait in MPI? ------------------------------------------------------------------ */

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
} waiting;

static void find_schedstat(void)
{
    snprintf(waiting.schedstat, sizeof waiting.schedstat, "/proc/self/task/%d/schedstat", (int)gettid());
}

/* Seconds that the thread has run, or waited for a processor; negative: not known. */
static double seconds_run(void)
{
    unsigned long long run, wait;
    FILE *file = fopen(waiting.schedstat, "r");
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
        in += look_at_calls().function != 0;
        nanosleep(&pause, NULL);
    }
    return 2 * in > SAMPLES;
}

/* It may sleep between two looks of its own. */
static bool only_polls(double now, double ran)
{
    bool sleeps = ran >= 0 && waiting.ran >= 0 && ran - waiting.ran < IDLE_PORTION * (now - waiting.looked);
    waiting.busy = sleeps || is_mostly_in_mpi() ? 0 : waiting.busy + 1;
    return waiting.busy < BUSY_LOOKS;
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

static bool still_waits(double now, double ran, struct calls_seen is)
{
    bool called = is.calls != waiting.calls, polled = is.polls != waiting.polls;
    waiting.calls = is.calls;
    waiting.polls = is.polls;
    if (called || now - waiting.looked > LONGEST_GAP || is_on_others(is.function))
        return false;
    return polled ? only_polls(now, ran) : is.function != 0;
}

void sampler_waits(cJSON *json)
{
    double now = monotonic_seconds(), ran = seconds_run();
    struct calls_seen is = look_at_calls();
    if (!still_waits(now, ran, is))
        waiting.since = now;
    waiting.looked = now;
    waiting.ran = ran;
    cJSON_AddNumberToObject(json, "seconds", now - waiting.since);
    if (is.function)
        cJSON_AddStringToObject(json, "mpi", epop__interpose_name((enum interpose_function)(is.function - 1)));
}

/* ---- Measuring ---------------------------------------------------------------------------------- */

#define LOOPS_TOLD 32

/* Of the present round of measuring: a better estimate in between would make sums shrink. */
static double tick;

/* Bytes; 0: not known. */
static double resident(void)
{
    double pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file)
        return 0;
    if (fscanf(file, "%*s %lf", &pages) != 1)
        pages = 0;
    fclose(file);
    return pages * (double)sysconf(_SC_PAGESIZE);
}

static cJSON *element_json(const struct meter_reading *reading)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "pc", reading->pc);
    cJSON_AddNumberToObject(json, "size", reading->size);
    cJSON_AddNumberToObject(json, "life", (double)reading->life);
    cJSON_AddNumberToObject(json, "iterations", (double)reading->iterations);
    cJSON_AddNumberToObject(json, "loop", reading->loop);
    cJSON_AddNumberToObject(json, "mpi", reading->mpi);
    cJSON_AddItemToObject(json, "mtct", spread_to_message(&reading->mtct));
    return json;
}

/* The longest first. */
static int compare_times(const void *one, const void *other)
{
    const struct meter_reading *a = one, *b = other;
    return (a->loop < b->loop) - (a->loop > b->loop);
}

static void add_loops(cJSON *json, struct meter_reading *readings, int count)
{
    cJSON *list = cJSON_AddArrayToObject(json, "loops");
    qsort(readings, (size_t)count, sizeof *readings, compare_times);
    for (int i = 0; i < count && cJSON_GetArraySize(list) < LOOPS_TOLD; i++) {
        cJSON *loop = cJSON_CreateObject();
        cJSON_AddItemToObject(loop, "sums", element_json(&readings[i]));
        if (follow_describe(loop, readings[i].pc))
            cJSON_AddItemToArray(list, loop);
        else
            cJSON_Delete(loop);
    }
}

static void add_measured(cJSON *json)
{
    cJSON *elements = cJSON_AddArrayToObject(json, "elements");
    struct meter_reading readings[METER_CELLS];
    int loops = 0;
    for (int i = 0; i < METER_CELLS; i++) {
        struct meter_reading *reading = &readings[loops];
        if (!meter_read(&job.meter, i, tick, reading))
            continue;
        if (reading->pc >= METER_LOOPS)
            loops++;
        else
            cJSON_AddItemToArray(elements, element_json(reading));
    }
    if (loops)
        add_loops(json, readings, loops);
}

static void add_progress(cJSON *json)
{
    struct meter_progress recorded;
    int64_t when;
    if (!meter_read_progress(&job.meter, &when, &recorded))
        return;
    cJSON *progress = cJSON_AddObjectToObject(json, "progress");
    cJSON_AddNumberToObject(progress, "pc", recorded.pc);
    cJSON_AddNumberToObject(progress, "visit", (double)recorded.visit);
    cJSON_AddNumberToObject(progress, "iteration", (double)recorded.iteration);
    cJSON_AddNumberToObject(progress, "bound", (double)recorded.bound);
    cJSON_AddNumberToObject(progress, "age", (double)(ticks() - when) * tick);
}

/* The control thread, and the program's where it does not wait for an order. */
static pthread_mutex_t switching = PTHREAD_MUTEX_INITIALIZER;

/* The wrappers first: an iteration that is measured has its MPI calls measured. */
void sampler_measure_now(void)
{
    pthread_mutex_lock(&switching);
    if (!meter_is_on(&job.meter)) {
        tick = ticks_seconds();
        stopwatch_watch(true);
        meter_switch(&job.meter, true, tick);
    }
    pthread_mutex_unlock(&switching);
}

void sampler_measure(void *context, const struct order_gauge *order)
{
    (void)context;
    sampler_measure_now();
    cJSON *answer = json_message(REPORT(gauge));
    cJSON_AddNumberToObject(answer, "round", order->round);
    cJSON_AddNumberToObject(answer, "memory", resident());
    add_measured(answer);
    add_progress(answer);
    if (order->graph)
        follow_draw(answer, tick);
    job_tell(NULL, answer);
    cJSON_Delete(answer);
}

void sampler_measure_no_more(void *context, const struct order_gauge_off *order)
{
    (void)context, (void)order;
    meter_switch(&job.meter, false, tick);
    stopwatch_watch(false);
}

/* ---- The beginning ------------------------------------------------------------------------------- */

void sampler_start(const struct live_position *live)
{
    start_looking(live);
    find_schedstat();
    ticks_start();
    job.meter.mpi_ticks = stopwatch_ticks;
}
