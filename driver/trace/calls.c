/* Calls of MPI: see calls.h. */
#include "driver/trace/calls.h"

#include "interpose/interpose.h"
#include "runtime/base/clock.h"

/* The call that a thread is in; threads are numbered as they come, the program's is 0. */
static _Thread_local struct {
    int64_t begin;
    int number; /* + 1; 0: none yet */
} thread;

static atomic_int threads;

static int number_thread(void)
{
    if (!thread.number)
        thread.number = atomic_fetch_add(&threads, 1) + 1;
    return thread.number - 1;
}

static void enter(void *context, enum interpose_function function, void *const arguments[])
{
    struct trace_own *own = context;
    (void)arguments;
    thread.begin = monotonic_ns();
    if (number_thread() == 0)
        own_open(own, OPEN_CALL, &(struct trace_open){.begin = thread.begin, .name = (uint16_t)function});
}

/* Added up in the program's thread alone, whose time the sum is compared with. */
static uint64_t count(struct trace_own *own, int64_t now)
{
    struct trace_header *b = own->buffer;
    b->open[OPEN_CALL].begin = 0;
    b->call_total += now - thread.begin;
    b->last = now;
    own_sample(own, now, false);
    return ++b->calls;
}

static void leave(void *context, enum interpose_function function, void *const arguments[], int result)
{
    struct trace_own *own = context;
    int64_t now = monotonic_ns(), took = now - thread.begin;
    int number = number_thread();
    (void)arguments;
    (void)result;
    if (number == 0)
        count(own, now);
    if (took < own->buffer->least_call)
        return;
    own_add(own, TRACE_CALLS,
            &(struct trace_record){.kind = TRACE_CALL,
                                   .begin = thread.begin,
                                   .duration = took,
                                   .name = (uint16_t)function,
                                   .thread = (uint8_t)(number < UINT8_MAX ? number : UINT8_MAX),
                                   .number = (uint32_t)own->buffer->lanes[TRACE_CALLS].seen});
}

static struct interpose_hooks hooks = {.enter = enter, .leave = leave};

int calls_observe(struct trace_own *own)
{
    hooks.context = own;
    number_thread();
    return epop__interpose_observe(&hooks);
}

void calls_unobserve(void)
{
    epop__interpose_unobserve(&hooks);
}
