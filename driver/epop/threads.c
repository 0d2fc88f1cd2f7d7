/*
 * pthread_create as programs and their libraries (OpenMP) meet it: the executable comes before the C library. Each
 * thread gets a stack for signal handlers, so that the overflow of its own stack can be reported. It is a file of its
 * own because every other file uses what it defines.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "runtime/crash/crash.h"

struct thread_start {
    void *(*routine)(void *);
    void *argument;
};

static void *run_with_signal_stack(void *given)
{
    struct thread_start start = *(struct thread_start *)given;
    free(given);
    epop__crash_stack();
    return start.routine(start.argument);
}

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                                                          void *(*routine)(void *), void *argument)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    struct thread_start *start = malloc(sizeof *start);
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    if (!start || !real) {
        free(start);
        return EAGAIN;
    }
    *start = (struct thread_start){routine, argument};
    int error = real(thread, attributes, run_with_signal_stack, start);
    if (error)
        free(start);
    return error;
}
