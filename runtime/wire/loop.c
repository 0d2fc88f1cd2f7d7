/* libevent's bases and timers: see loop.h. */
#include "runtime/wire/loop.h"

#include <event2/thread.h>
#include <math.h>
#include <pthread.h>
#include <sys/time.h>

static void make_threads_known(void)
{
    evthread_use_pthreads();
}

/* After each call for one that is not a member libevent looks whether there is something for a member. */
struct event_base *wire_base_new(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_threads_known);
    struct event_config *config = event_config_new();
    if (config)
        event_config_set_max_dispatch_interval(config, NULL, 1, WIRE_OTHERS);
    struct event_base *base = config ? event_base_new_with_config(config) : NULL;
    if (config)
        event_config_free(config);
    if (base)
        event_base_priority_init(base, WIRE_OTHERS + 1);
    return base;
}

static struct timeval as_timeval(double seconds)
{
    double whole = floor(seconds < 0 ? 0 : seconds);
    return (struct timeval){.tv_sec = (time_t)whole, .tv_usec = (suseconds_t)((fmax(seconds, 0) - whole) * 1e6)};
}

void wire_timer_set(struct event *timer, double seconds)
{
    struct timeval time = as_timeval(seconds);
    evtimer_add(timer, &time);
}

double wire_timer_left(const struct event *timer)
{
    struct timeval due, now;
    if (!evtimer_pending(timer, &due))
        return -1;
    gettimeofday(&now, NULL); /* libevent tells it as a time of day */
    return fmax(0, (double)(due.tv_sec - now.tv_sec) + 1e-6 * (double)(due.tv_usec - now.tv_usec));
}

static void on_time(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    event_base_loopbreak(context);
}

bool wire_wait(struct event_base *base, const bool *flag, double seconds)
{
    struct event *late = seconds < 0 ? NULL : evtimer_new(base, on_time, base);
    if (late)
        wire_timer_set(late, seconds);
    while (!*flag && (seconds < 0 || (late && evtimer_pending(late, NULL))))
        if (event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY))
            break;
    if (late)
        event_free(late);
    return *flag;
}

void wire_wake(struct event_base *base)
{
    event_base_loopbreak(base);
}
