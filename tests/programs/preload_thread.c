/*
 * No program, but a library to be preloaded: as long as the file EPOP_TEST_NO_THREADS is there, no thread can be
 * started.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    const char *none = getenv("EPOP_TEST_NO_THREADS");
    void *found = dlsym(RTLD_NEXT, "pthread_create");
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (none && access(none, F_OK) == 0)
        return EAGAIN;
    memcpy(&real, &found, sizeof found); /* ISO C converts no object pointer into a function's */
    return real(thread, attributes, run, argument);
}
