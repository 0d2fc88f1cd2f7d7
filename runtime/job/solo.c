/* A program that runs alone: no MPI, no control plane, one process that cannot be resized. SIGTERM stops it at
 * the next probe, a second one at once. */
#include <signal.h>
#include <stdio.h>

#include "runtime/base/error.h"
#include "runtime/crash/crash.h"
#include "runtime/describe/program.h"
#include "runtime/job/job.h"
#include "runtime/job/signals.h"

static struct ceiling ceiling;
static struct live_position live;
static struct meter meter; /* never on */
static struct asked terminations;
static bool stopped;

static void on_terminate(int number)
{
    if (signals_ask(&terminations) && terminations.count > 1) {
        signal(number, SIG_DFL);
        raise(number);
    }
    atomic_store(&ceiling.limit, 0);
}

const char *epop__solo_stopped_by(void)
{
    return stopped ? "SIGTERM" : NULL;
}

static void solo_world(void *context, int *rank, int *size)
{
    (void)context;
    *rank = 0;
    *size = 1;
}

static void solo_begun(void *context, const epop_program_t *program, void *data, bool joining)
{
    (void)context;
    describe_program_begin(program, data, joining);
}

static const char *solo_look(void *context, int pc)
{
    (void)context, (void)pc;
    return NULL;
}

static const char *solo_inspect(void *context)
{
    return solo_look(context, 0);
}

static void solo_entered(void *context, int pc)
{
    (void)context, (void)pc;
}

static void solo_left(void *context)
{
    (void)context;
}

static void solo_release(void *context)
{
    (void)context;
    describe_program_release();
}

static enum action solo_hold(void *context, const struct position *at, int needs)
{
    (void)context;
    (void)at;
    (void)needs;
    stopped = terminations.count;
    return stopped ? ACTION_STOP : ACTION_CONTINUE;
}

static void solo_progress(void *context, const epop_progress_t *progress)
{
    (void)context;
    (void)progress;
}

static void solo_checkpoint(void *context, const struct position *at)
{
    (void)context;
    (void)at;
}

static bool solo_restart(void *context, struct position *at)
{
    (void)context;
    (void)at;
    return false;
}

static const struct position *solo_restarts(void *context)
{
    (void)context;
    return NULL;
}

static bool solo_join(void *context, const char *failure, struct position *at)
{
    (void)context;
    (void)failure;
    (void)at;
    return false;
}

static int solo_open(void *context, struct error *error)
{
    (void)context;
    return error_set(error, ERROR_FAILED, "a program that runs alone cannot adapt");
}

static enum window_result solo_close(void *context, struct error *error)
{
    solo_open(context, error);
    return WINDOW_BROKEN;
}

static const epop_adapted_t *solo_adapted(void *context)
{
    static const epop_adapted_t nothing;
    (void)context;
    return &nothing;
}

const struct elastic *epop__solo_elastic(void)
{
    static const struct elastic solo = {
        .ceiling = &ceiling,
        .live = &live,
        .meter = &meter,
        .world = solo_world,
        .begun = solo_begun,
        .look = solo_look,
        .inspect = solo_inspect,
        .release = solo_release,
        .entered = solo_entered,
        .left = solo_left,
        .hold = solo_hold,
        .report_progress = solo_progress,
        .checkpoint = solo_checkpoint,
        .restart = solo_restart,
        .restarts = solo_restarts,
        .join = solo_join,
        .window_open = solo_open,
        .window_close = solo_close,
        .adapted = solo_adapted,
    };
    ceiling_init(&ceiling);
    atomic_init(&live.pc, -1);
    tally_init(&live.tally);
    crash_install(&live, 0, NULL);
    struct sigaction action = {.sa_handler = on_terminate, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    return &solo;
}
