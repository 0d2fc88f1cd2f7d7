/* A program that calls exit() in the midst of its job: see job.h. */
#include "runtime/job/job.h"

#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#include "interpose/interpose.h"
#include "runtime/base/child.h"
#include "runtime/base/ending.h"
#include "runtime/job/state.h"
#include "runtime/world/world.h"

static void (*told)(int status);
static pid_t self;

/* A child that the program forked has this handler too. */
static void on_end(int status, void *unused)
{
    (void)unused;
    bool in_mpi = atomic_load_explicit(&interpose_present()->function, memory_order_relaxed) != 0;
    if (getpid() == self && !in_mpi && !ending_here())
        told(status);
}

void epop__job_watch_exit(void (*exits)(int status))
{
    told = exits;
    self = getpid();
    on_exit(on_end, NULL);
}

void epop__job_child_without(const int *fd)
{
    child_without(fd);
}

bool job_does_without(void)
{
    return (world.backend->flags & BACKEND_ENDS) && world.status == EPOP_JOINING && !job.connected;
}

void epop__job_exits(const char *text)
{
    if (!job_does_without())
        epop__job_fail(text);
}
