/* Each thread's time in MPI, by its calls. Apart from the rest, as a benchmark measures what this costs. */
#include "runtime/job/stopwatch.h"

#include "runtime/base/ticks.h"

#define FAST_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))

static FAST_LOCAL int64_t entered, in_mpi; /* ticks */
static FAST_LOCAL void (*follow)(enum interpose_function function, int64_t now, int64_t in_mpi);

static void enter(void *context, enum interpose_function function, void *const arguments[])
{
    (void)context, (void)arguments;
    entered = ticks();
    if (follow)
        follow(function, entered, in_mpi);
}

static void leave(void *context, enum interpose_function function, void *const arguments[], int result)
{
    (void)context, (void)function, (void)arguments, (void)result;
    in_mpi += ticks() - entered;
}

static const struct interpose_hooks hooks = {.enter = enter, .leave = leave};

void stopwatch_watch(bool on)
{
    interpose_watch(on ? &hooks : NULL);
}

int64_t stopwatch_ticks(void)
{
    return in_mpi;
}

void stopwatch_follow(void (*called)(enum interpose_function function, int64_t now, int64_t in_mpi))
{
    follow = called;
}
