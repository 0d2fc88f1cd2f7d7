/*
 * Counts what this process has allocated, and lets allocations fail, by standing in front of the C library's
 * allocator. Not with sanitizers, which do the same: then nothing is counted and nothing fails.
 */
#ifndef TESTS_REDIST_MEMORY_H
#define TESTS_REDIST_MEMORY_H

#include <malloc.h>
#include <stddef.h>
#include <stdint.h>

static volatile int64_t memory_now, memory_peak; /* gcc takes it that calloc leaves them alone */
static size_t fail_from;                         /* allocations of so many bytes and more fail; 0: none */
static int fail_after;                           /* after so many that are let through */

#if defined(__SANITIZE_ADDRESS__)
#define MEMORY_COUNTED 0
#else
#define MEMORY_COUNTED 1

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

/* Other threads, of the MPI library, allocate as well. */
static void *counted(void *memory, int64_t before)
{
    if (!memory)
        return NULL;
    int64_t change = (int64_t)malloc_usable_size(memory) - before;
    int64_t now = __atomic_add_fetch(&memory_now, change, __ATOMIC_RELAXED);
    if (now > __atomic_load_n(&memory_peak, __ATOMIC_RELAXED))
        __atomic_store_n(&memory_peak, now, __ATOMIC_RELAXED);
    return memory;
}

static int shall_fail(size_t size)
{
    return fail_from > 0 && size >= fail_from && fail_after-- <= 0;
}

void *malloc(size_t size)
{
    return shall_fail(size) ? NULL : counted(__libc_malloc(size), 0);
}

void *calloc(size_t count, size_t size)
{
    return counted(__libc_calloc(count, size), 0);
}

void *realloc(void *memory, size_t size)
{
    int64_t before = memory ? (int64_t)malloc_usable_size(memory) : 0;
    return counted(__libc_realloc(memory, size), before);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    *memory = counted(__libc_memalign(alignment, size), 0);
    return *memory ? 0 : 12; /* ENOMEM */
}

void free(void *memory)
{
    if (memory)
        __atomic_sub_fetch(&memory_now, (int64_t)malloc_usable_size(memory), __ATOMIC_RELAXED);
    __libc_free(memory);
}
#endif

#endif
