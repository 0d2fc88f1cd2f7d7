/* Looking at the program's thread: see sampler.h. */
#include "runtime/job/sampler.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>

#include "interpose/interpose.h"
#include "runtime/base/clock.h"
#include "runtime/base/thread.h"

#define PERIOD_S 1
#define SLACK_NS 200000000 /* the kernel may let this thread wake up together with others */

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
static struct sampler_calls calls_now(void)
{
    const struct interpose_present *p = seen.present;
    if (!p)
        return (struct sampler_calls){0};
    return (struct sampler_calls){.calls = atomic_load_explicit(&p->calls, memory_order_relaxed),
                                  .polls = atomic_load_explicit(&p->polls, memory_order_relaxed),
                                  .function = atomic_load_explicit(&p->function, memory_order_relaxed)};
}

struct sampler_calls sampler_calls(void)
{
    pthread_mutex_lock(&seen.lock);
    struct sampler_calls calls = calls_now();
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
static double look(void)
{
    double now = monotonic_seconds();
    int64_t visit = atomic_load_explicit(&seen.live->visit, memory_order_relaxed);
    int64_t iteration = atomic_load_explicit(&seen.live->iteration, memory_order_relaxed);
    struct sampler_calls is = calls_now();
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
        look();
        pthread_mutex_unlock(&seen.lock);
    }
    return unused;
}

int sampler_start(const struct live_position *live)
{
    seen.live = live;
    seen.iteration_since = seen.call_since = monotonic_seconds();
    if (!pthread_key_create(&seen.end, thread_ends) && !pthread_setspecific(seen.end, &seen))
        seen.present = interpose_present();
    return thread_start(NULL, look_on, NULL) ? -1 : 0;
}

void sampler_describe(cJSON *json)
{
    pthread_mutex_lock(&seen.lock);
    double now = look(), iteration_since = seen.iteration_since, call_since = seen.call_since;
    int function = seen.function;
    pthread_mutex_unlock(&seen.lock);
    cJSON_AddNumberToObject(json, "seconds", now - iteration_since);
    if (!function)
        return;
    cJSON_AddStringToObject(json, "mpi", epop__interpose_name((enum interpose_function)(function - 1)));
    cJSON_AddNumberToObject(json, "mpi_seconds", now - call_since);
}
