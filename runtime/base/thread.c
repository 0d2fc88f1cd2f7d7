/* Threads that take no signals: see thread.h. */
#include "runtime/base/thread.h"

#include <stddef.h>

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
