/* Children that the program forks: see child.h. */
#include "runtime/base/child.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

enum { MOST = 16, DESCRIPTORS = 1 << 16, WORD = 64 };

static _Atomic(const int *) closed[MOST];
static _Atomic uint64_t many[DESCRIPTORS / WORD]; /* a bit for each descriptor */

static void close_word(int first, uint64_t bits)
{
    for (int bit = 0; bit < WORD && bits; bit++, bits >>= 1)
        if (bits & 1)
            close(first + bit);
}

/* Once: in children of this child the numbers are those of its own files. */
static void in_child(void)
{
    for (int i = 0; i < MOST; i++) {
        const int *fd = atomic_exchange(&closed[i], NULL);
        if (fd && *fd >= 0)
            close(*fd);
    }
    for (int i = 0; i < DESCRIPTORS / WORD; i++)
        close_word(i * WORD, atomic_exchange(&many[i], 0));
}

static void watch(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

void child_without(const int *fd)
{
    pthread_once(&once, watch);
    for (int i = 0; i < MOST; i++) {
        const int *there = NULL;
        if (atomic_compare_exchange_strong(&closed[i], &there, fd) || there == fd)
            return;
    }
}

void child_closes(int fd, bool there)
{
    uint64_t bit = (uint64_t)1 << (fd % WORD);
    if (fd < 0 || fd >= DESCRIPTORS)
        return;
    pthread_once(&once, watch);
    if (there)
        atomic_fetch_or(&many[fd / WORD], bit);
    else
        atomic_fetch_and(&many[fd / WORD], ~bit);
}
