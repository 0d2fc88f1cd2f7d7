/*
 * A stack for the signal handlers of a thread. It is a file of its own because who starts threads calls it, and
 * nothing else of a crash.
 */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>

#include "runtime/crash/crash.h"

#define STACK_SIZE (128 * 1024) /* of address space: what is not used costs nothing */

static pthread_key_t stack_key;

static void release_stack(void *stack)
{
    const stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    munmap(stack, STACK_SIZE);
}

static void make_stack_key(void)
{
    pthread_key_create(&stack_key, release_stack);
}

void epop__crash_stack(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    stack_t present, ours = {.ss_size = STACK_SIZE};
    if (sigaltstack(NULL, &present) != 0 || !(present.ss_flags & SS_DISABLE))
        return;
    ours.ss_sp = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (ours.ss_sp == MAP_FAILED)
        return;
    pthread_once(&once, make_stack_key);
    pthread_setspecific(stack_key, ours.ss_sp);
    sigaltstack(&ours, NULL);
}
