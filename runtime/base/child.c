/* Children that the program forks: see child.h. */
#include "runtime/base/child.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#define MOST 16

static _Atomic(const int *) closed[MOST];

/* Once: in children of this child the numbers are those of its own files. */
static void in_child(void)
{
    for (int i = 0; i < MOST; i++) {
        const int *fd = atomic_exchange(&closed[i], NULL);
        if (fd && *fd >= 0)
            close(*fd);
    }
}

static void watch(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

void child_without(const int *fd)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch);
    for (int i = 0; i < MOST; i++) {
        const int *there = NULL;
        if (atomic_compare_exchange_strong(&closed[i], &there, fd) || there == fd)
            return;
    }
}
