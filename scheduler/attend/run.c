/* Beside a job's command: see run.h. */
#include "scheduler/attend/run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/kin.h"
#include "scheduler/attend/attendant.h"
#include "scheduler/attend/ended.h"
#include "scheduler/attend/guard.h"
#include "scheduler/attend/listening.h"
#include "scheduler/attend/lost.h"
#include "scheduler/attend/unreached.h"

#define MARK "EPOP_ATTENDED=" /* in the environment of all processes of a job, with its directory */

/* Seconds: that it stays to tell of the end; of grace where it is itself told to go; for the command to begin. */
static const double linger = 5, short_grace = 3;
static const double look_apart = 1; /* and between two looks for hosts that are not reached */
enum { BEGIN_MS = 60000, MISSED_MOST = 6 /* looks, in which others end a job as well */ };

struct beside {
    char directory[PATH_MAX];
    char mark[PATH_MAX + sizeof MARK];
    struct launch launch;
    struct guard guard;
    struct attendant attendant;
    struct listening listening;
    struct watched guarded, signalled;
    struct timer late, look;
    int looked, missed;  /* how often in a row */
    char unreached[160]; /* why it is ended then; "": it is not */
};

static int say_failed(const struct error *error)
{
    fprintf(stderr, "attend: %s\n", error->text);
    return 1;
}

/* 1: another one has it; -1: a line says why not. It is held as long as this process lives. */
static int lock(const char *directory, struct error *error)
{
    char path[PATH_MAX + 8];
    snprintf(path, sizeof path, "%s/lock", directory);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_set(error, ERROR_FAILED, "%s: %s", path, strerror(errno));
    if (!flock(fd, LOCK_EX | LOCK_NB))
        return 0;
    close(fd);
    return errno == EWOULDBLOCK ? 1 : error_set(error, ERROR_FAILED, "%s: %s", path, strerror(errno));
}

/* ---- The end ----------------------------------------------------------------------------------- */

static void on_late(void *context)
{
    struct beside *b = context;
    b->attendant.loop.over = true;
}

static void finish(struct beside *b, cJSON *ended)
{
    struct error error;
    timers_cancel(&b->attendant.loop.timers, &b->look);
    if (b->unreached[0]) {
        cJSON_DeleteItemFromObjectCaseSensitive(ended, "reason");
        cJSON_AddStringToObject(ended, "reason", b->unreached);
    }
    if (ended_write(b->directory, ended, &error))
        say_failed(&error);
    attendant_ended(&b->attendant, ended);
    timers_set(&b->attendant.loop.timers, &b->late, linger);
}

/* What the guard had below it has become this process's. */
static cJSON *without_guard(void)
{
    kin_end(getpid(), NULL);
    return ended_lost();
}

static void on_guard(void *context, short events)
{
    struct beside *b = context;
    struct guard_message message;
    int got = guard_read(&b->guard, &message);
    (void)events;
    if (!got || b->attendant.ended || (got > 0 && message.word == GUARD_RUNS))
        return;
    if (got > 0)
        finish(b, ended_of(&message, &b->launch));
    else
        finish(b, without_guard());
    loop_drop(&b->attendant.loop, &b->guarded);
    waitpid(b->guard.pid, NULL, WNOHANG);
}

static void terminate(void *context)
{
    struct beside *b = context;
    guard_terminate(&b->guard);
}

static void kill_all(void *context)
{
    struct beside *b = context;
    guard_kill(&b->guard);
}

/* Rank 0's process has gone, and no other one was left to end mpiexec, which waits for an ssh to a host without power.
 */
static bool waits_in_vain(const struct beside *b)
{
    const struct plane *plane = &b->attendant.plane;
    return plane->lost && plane->state == PLANE_SEEKS && !b->launch.once && unreached_mpiexec(b->guard.pid);
}

/* One that has a control plane misses its processes by itself. */
static void look(void *context)
{
    struct beside *b = context;
    char text[sizeof b->unreached] = "rank 0's process or its host has gone, and mpiexec has not noticed";
    bool vain = waits_in_vain(b);
    b->missed = vain ? b->missed + 1 : 0;
    b->looked =
        b->attendant.plane.state == PLANE_SEEKS && unreached_seen(b->guard.pid, text, sizeof text) ? b->looked + 1 : 0;
    if (b->looked < 2 && b->missed < MISSED_MOST) {
        timers_set(&b->attendant.loop.timers, &b->look, look_apart);
        return;
    }
    memcpy(b->unreached, text, sizeof text);
    ending_begin(&b->attendant.ending, 0);
}

/* ---- The beginning ----------------------------------------------------------------------------- */

static void on_signal(void *context, short events)
{
    struct beside *b = context;
    struct signalfd_siginfo info;
    (void)events;
    if (read(b->signalled.fd, &info, sizeof info) > 0 && !b->attendant.ended)
        ending_begin(&b->attendant.ending, short_grace);
}

/* Before there are threads. */
static void take_signals(struct beside *b)
{
    sigset_t terminating;
    for (int number = 1; number < 32; number++)
        if (number != SIGTERM && number != SIGCHLD)
            signal(number, SIG_IGN);
    sigemptyset(&terminating);
    sigaddset(&terminating, SIGTERM);
    sigprocmask(SIG_BLOCK, &terminating, NULL);
    b->signalled = (struct watched){.fd = signalfd(-1, &terminating, SFD_CLOEXEC | SFD_NONBLOCK),
                                    .events = POLLIN,
                                    .ready = on_signal,
                                    .context = b};
}

/* The job's address file is where its environment says, and its host is waited for as long. */
static void look_where_it_is(const struct launch *launch)
{
    static const char *const names[] = {"EPOP_RUNTIME_DIR", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "HOME",
                                        "EPOP_HOST_SECONDS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = launch_variable(launch, names[i]);
        if (value)
            setenv(names[i], value, 1);
        else
            unsetenv(names[i]);
    }
}

/* Written before the command begins: who finds it, and no end, knows that something may be left. */
static int start(struct beside *b, struct error *error)
{
    if (guard_start(&b->guard, &b->launch, b->directory, error))
        return -1;
    if (lost_write_started(b->directory, b->guard.pid, error)) {
        close(b->guard.fd);
        b->guard.fd = -1;
        return -1;
    }
    guard_go(&b->guard);
    return 0;
}

/* NULL: the command runs. Else how it ended. */
static cJSON *begin(struct beside *b)
{
    struct guard_message message;
    struct error error;
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/launch.json", b->directory);
    if (launch_read(&b->launch, path, b->mark, &error) || start(b, &error)) {
        say_failed(&error);
        return ended_failed(error.text);
    }
    struct pollfd fd = {.fd = b->guard.fd, .events = POLLIN};
    poll(&fd, 1, BEGIN_MS);
    int got = guard_read(&b->guard, &message);
    if (got < 0)
        return without_guard();
    return got && message.word != GUARD_RUNS ? ended_of(&message, &b->launch) : NULL;
}

static void between(void *context)
{
    struct beside *b = context;
    if (b->attendant.told && peers_flushed(&b->attendant.peers))
        b->attendant.loop.over = true;
}

static void on_connection(void *context, int fd)
{
    struct beside *b = context;
    struct peer *peer = peers_add(&b->attendant.peers, fd);
    if (peer)
        attendant_greet(&b->attendant, peer);
}

static int stay(struct beside *b, cJSON *ended, struct error *error)
{
    struct attendant *a = &b->attendant;
    if (attendant_open(a, b->launch.batch ? b->launch.batch : "", NULL, error) ||
        listening_open(&b->listening, &a->loop, b->directory, on_connection, b, error))
        return -1;
    a->ending.terminate = terminate;
    a->ending.kill = kill_all;
    a->ending.context = b;
    b->guarded = (struct watched){.fd = b->guard.fd, .events = POLLIN, .ready = on_guard, .context = b};
    timer_init(&b->late, on_late, b, NULL);
    timer_init(&b->look, look, b, NULL);
    if ((!ended && loop_add(&a->loop, &b->guarded)) || loop_add(&a->loop, &b->signalled))
        return error_memory(error);
    if (ended)
        finish(b, ended);
    else
        timers_set(&a->loop.timers, &b->look, look_apart);
    int failed = loop_run(&a->loop, between, b, error);
    listening_close(&b->listening);
    return failed;
}

int run(const char *directory)
{
    static struct beside b;
    struct error error;
    cJSON *ended;
    if (!realpath(directory, b.directory)) {
        error_set(&error, ERROR_FAILED, "%s: %s", directory, strerror(errno));
        return say_failed(&error);
    }
    snprintf(b.mark, sizeof b.mark, "%s%s", MARK, b.directory);
    int busy = lock(b.directory, &error);
    if (busy < 0)
        return say_failed(&error);
    ended = busy ? NULL : ended_read(b.directory);
    cJSON_Delete(ended);
    if (busy || ended)
        return 0;
    b.guard.fd = -1;
    setsid();
    take_signals(&b);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (lost_is_started(b.directory))
        ended = lost_end(b.directory, b.mark);
    else
        ended = begin(&b);
    look_where_it_is(&b.launch);
    if (stay(&b, ended, &error))
        return say_failed(&error);
    return 0;
}
