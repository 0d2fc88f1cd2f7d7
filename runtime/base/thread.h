/*
 * The runtime's own threads. They take no signal: what the program waits for by sigwait, or has a handler for, is the
 * program's. Only what a thread does to itself (a crash) reaches it.
 */
#ifndef EPOP_BASE_THREAD_H
#define EPOP_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>

/* thread: to be joined; NULL: nobody waits for it. 0, or an error number. */
int thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

/* Tries for so many seconds to lock it. 0, or ETIMEDOUT. */
int thread_lock_within(pthread_mutex_t *lock, double seconds);

/* Around a library's call that starts threads of its own. */
void thread_mask_signals(sigset_t *before);
void thread_unmask_signals(const sigset_t *before);

#endif
