/* The runtime's own threads, which take no signals. */
#include "runtime/base/thread.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

#include "runtime/base/clock.h"

void thread_mask_signals(sigset_t *before)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
    sigset_t masked;
    sigfillset(&masked);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&masked, own[i]);
    pthread_sigmask(SIG_SETMASK, &masked, before);
}

void thread_unmask_signals(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

int thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    sigset_t before;
    pthread_t started;
    thread_mask_signals(&before);
    int error = pthread_create(&started, NULL, run, argument);
    thread_unmask_signals(&before);
    if (error)
        return error;
    if (thread)
        *thread = started;
    else
        pthread_detach(started);
    return 0;
}

/* pthread_mutex_timedlock goes by the wall clock, which may be set; of pthread_mutex_clocklock sanitizers do not know.
 */
int thread_lock_within(pthread_mutex_t *lock, double seconds)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    double until = monotonic_seconds() + seconds;
    while (pthread_mutex_trylock(lock)) {
        if (monotonic_seconds() > until)
            return ETIMEDOUT;
        nanosleep(&nap, NULL);
    }
    return 0;
}
