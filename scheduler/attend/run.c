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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/kin.h"
#include "runtime/wire/loop.h"
#include "runtime/wire/socket.h"
#include "scheduler/attend/attendant.h"
#include "scheduler/attend/ended.h"
#include "scheduler/attend/guard.h"
#include "scheduler/attend/lost.h"
#include "scheduler/attend/unreached.h"

#define MARK "EPOP_ATTENDED=" /* in the environment of all processes of a job, with its directory */

/* Seconds: that it stays to tell of the end; of grace where it is itself told to go; for the command to begin. */
static const double linger = 5, short_grace = 3;
static const double look_apart = 1; /* and between two looks for hosts that are not reached */
enum {
    BEGIN_MS = 2000 /* of waiting for it in vain, before others are heard */,
    MISSED_MOST = 6 /* looks, in which others end a job as well */
};

struct beside {
    char directory[PATH_MAX];
    char mark[PATH_MAX + sizeof MARK];
    struct launch launch;
    struct guard guard;
    struct attendant attendant;
    struct wire_listener *listener;
    char socket[PATH_MAX + 8];
    struct event *guarded, *signalled, *late, *look;
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

static void on_late(evutil_socket_t fd, short what, void *context)
{
    struct beside *b = context;
    (void)fd, (void)what;
    attendant_leave(&b->attendant);
}

static void finish(struct beside *b, cJSON *ended)
{
    struct error error;
    evtimer_del(b->look);
    if (b->unreached[0]) {
        cJSON_DeleteItemFromObjectCaseSensitive(ended, "reason");
        cJSON_AddStringToObject(ended, "reason", b->unreached);
    }
    if (ended_write(b->directory, ended, &error))
        say_failed(&error);
    attendant_ended(&b->attendant, ended);
    wire_timer_set(b->late, linger);
}

/* What the guard had below it has become this process's. */
static cJSON *without_guard(void)
{
    kin_end(getpid(), NULL);
    return ended_lost();
}

static void on_guard(evutil_socket_t fd, short what, void *context)
{
    struct beside *b = context;
    struct guard_message message;
    (void)fd, (void)what;
    event_del(b->guarded); /* reading closes the descriptor of a guard that is gone */
    int got = guard_read(&b->guard, &message);
    if (!got || (got > 0 && message.word == GUARD_RUNS))
        event_add(b->guarded, NULL);
    if (!got || b->attendant.ended || (got > 0 && message.word == GUARD_RUNS))
        return;
    if (got > 0)
        finish(b, ended_of(&message, &b->launch));
    else
        finish(b, without_guard());
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
static void look(evutil_socket_t fd, short what, void *context)
{
    struct beside *b = context;
    (void)fd, (void)what;
    char text[sizeof b->unreached] = "rank 0's process or its host has gone, and mpiexec has not noticed";
    bool vain = waits_in_vain(b);
    b->missed = vain ? b->missed + 1 : 0;
    b->looked =
        b->attendant.plane.state == PLANE_SEEKS && unreached_seen(b->guard.pid, text, sizeof text) ? b->looked + 1 : 0;
    if (b->looked < 2 && b->missed < MISSED_MOST) {
        wire_timer_set(b->look, look_apart);
        return;
    }
    memcpy(b->unreached, text, sizeof text);
    ending_begin(&b->attendant.ending, 0);
}

/* ---- The beginning ----------------------------------------------------------------------------- */

static void on_signal(evutil_socket_t number, short what, void *context)
{
    struct beside *b = context;
    (void)number, (void)what;
    if (!b->attendant.ended)
        ending_begin(&b->attendant.ending, short_grace);
}

/* It is told to go when there is somebody to hear it. */
static void keep_signal(int how)
{
    sigset_t terminating;
    sigemptyset(&terminating);
    sigaddset(&terminating, SIGTERM);
    sigprocmask(how, &terminating, NULL);
}

static void take_signals(void)
{
    for (int number = 1; number < 32; number++)
        if (number != SIGTERM && number != SIGCHLD)
            signal(number, SIG_IGN);
    keep_signal(SIG_BLOCK);
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

/* ---- Daemons ----------------------------------------------------------------------------------- */

/* Only processes of the same user are heard, and root's. */
static void on_connection(void *context, int fd)
{
    struct beside *b = context;
    uid_t uid;
    if (wire_socket_user(fd, &uid) && (uid == geteuid() || !uid))
        attendant_take(&b->attendant, fd);
    else
        close(fd);
}

/* Under another name first: who finds it there can connect. A socket of an attendant before is replaced. */
static int open_socket(struct beside *b, struct error *error)
{
    char fresh[sizeof b->socket + 1];
    snprintf(b->socket, sizeof b->socket, "%s/socket", b->directory);
    snprintf(fresh, sizeof fresh, "%s~", b->socket);
    int fd = wire_listen_path(fresh, error);
    if (fd < 0)
        return -1;
    if (rename(fresh, b->socket)) {
        close(fd);
        return error_set(error, ERROR_FAILED, "%s: %s", b->socket, strerror(errno));
    }
    b->listener = wire_listener_new(b->attendant.base, fd, on_connection, b);
    return b->listener ? 0 : error_memory(error);
}

static int make_events(struct beside *b, struct error *error)
{
    struct event_base *base = b->attendant.base;
    b->guarded = event_new(base, b->guard.fd, EV_READ | EV_PERSIST, on_guard, b);
    b->signalled = evsignal_new(base, SIGTERM, on_signal, b);
    b->late = evtimer_new(base, on_late, b);
    b->look = evtimer_new(base, look, b);
    return b->guarded && b->signalled && b->late && b->look ? 0 : error_memory(error);
}

static int stay(struct beside *b, cJSON *ended, struct error *error)
{
    struct attendant *a = &b->attendant;
    if (attendant_open(a, b->launch.batch ? b->launch.batch : "", NULL, error) || make_events(b, error) ||
        open_socket(b, error))
        return -1;
    a->ending.terminate = terminate;
    a->ending.kill = kill_all;
    a->ending.context = b;
    if ((!ended && event_add(b->guarded, NULL)) || evsignal_add(b->signalled, NULL))
        return error_memory(error);
    keep_signal(SIG_UNBLOCK);
    if (ended)
        finish(b, ended);
    else
        wire_timer_set(b->look, look_apart);
    int failed = attendant_run(a, error);
    unlink(b->socket);
    wire_listener_free(b->listener);
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
    take_signals();
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
