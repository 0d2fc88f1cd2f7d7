/* A program that calls exit() in the midst of its job: see job.h. */
#include "runtime/job/exits.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "interpose/interpose.h"
#include "runtime/base/child.h"
#include "runtime/base/ending.h"
#include "runtime/job/job.h"
#include "runtime/job/state.h"
#include "runtime/job/supervised.h"
#include "runtime/world/world.h"

#define STATUS_MAX 255

static const struct job_exits *hooks;
static pid_t self;

/* A child that the program forked has these handlers too. */
static bool of_program(void)
{
    return getpid() == self && !ending_here();
}

/* MPI gives up with an error code of its own, which is no status; in a call that the runtime made, too. What it has to
 * say it has said. A call of EPOP's own does not give up by exit(). */
static bool is_by_mpi(int status)
{
    int function = atomic_load_explicit(&interpose_present()->function, memory_order_relaxed);
    return (function && function <= INTERPOSE_OWN) || status > STATUS_MAX;
}

static void on_end(int status, void *unused)
{
    (void)unused;
    if (of_program() && !is_by_mpi(status))
        hooks->exits(status);
}

/* Not MPI's own way to give up, so it may be in MPI: in a handler of a signal. The process is ending, and nothing can
 * be done for it but to say so, and that it failed: Hydra may take a job whose processes end with 0 for done. */
static int quit(const char *call, int status)
{
    const char *text = of_program() && !job_does_without() ? hooks->quits(call) : NULL;
    if (!text)
        return status;
    ending_write(text);
    supervised_fail(status ? status : EXIT_FAILURE, text);
    return status ? status : EXIT_FAILURE;
}

static int on_quit(int status)
{
    char call[32];
    snprintf(call, sizeof call, "_exit(%d)", status);
    return quit(call, status);
}

static void on_quick_exit(void)
{
    int status = quit("quick_exit", EXIT_SUCCESS);
    if (status)
        ending_quit(status);
}

void epop__job_watch_exit(const struct job_exits *exits)
{
    hooks = exits;
    self = getpid();
    on_exit(on_end, NULL);
    at_quick_exit(on_quick_exit);
    interpose_life.exit = on_quit;
}

void epop__job_child_without(const int *fd)
{
    child_without(fd);
}

bool job_does_without(void)
{
    return world.backend && (world.backend->flags & BACKEND_ENDS) && world.status == EPOP_JOINING && !job.connected;
}

void epop__job_exits(const char *text)
{
    if (!job_does_without())
        epop__job_fail(text);
}
