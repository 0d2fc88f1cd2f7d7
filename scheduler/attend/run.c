/*
 * attend run: starts the command of a job behind a guard, answers on the socket of the job's directory, and writes
 * how the job ended.
 */
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
#include <time.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/base/proctree.h"
#include "runtime/hydra/hydra.h"
#include "runtime/hydra/leftovers.h"
#include "runtime/wire/loop.h"
#include "runtime/wire/socket.h"
#include "scheduler/attend/guard.h"
#include "scheduler/attend/jobdir.h"
#include "scheduler/attend/service.h"

#define MARK "EPOP_ATTENDED=" /* in the environment of all processes of a job, with its directory */

/* ---- A job whose attendant was killed ----------------------------------------------------------- */

/* The next attendant of its directory finds the file `started`, and ends what is left of the job. */

enum { STARTED_MAX = PATH_MAX + 16 };

static const double guard_patience = 10; /* seconds: the guard has limits of its own, which are less */

static const char *started_path(const char *directory, char path[STARTED_MAX])
{
    snprintf(path, STARTED_MAX, "%s/started", directory);
    return path;
}

/* The file `started` of the job's directory. */
static int write_started(const char *directory, pid_t guard, struct error *error)
{
    char path[STARTED_MAX], start[32];
    cJSON *json = cJSON_CreateObject();
    snprintf(start, sizeof start, "%llu", proctree_id(guard).start);
    cJSON_AddNumberToObject(json, "version", 1);
    cJSON_AddNumberToObject(json, "pid", guard);
    cJSON_AddStringToObject(json, "start_time", start);
    int failed = jobdir_write_json(started_path(directory, path), json, error);
    cJSON_Delete(json);
    return failed;
}

static bool is_started(const char *directory)
{
    char path[STARTED_MAX];
    return !access(started_path(directory, path), F_OK);
}

static struct proc_id read_guard(const char *directory)
{
    char path[STARTED_MAX];
    cJSON *started = jobdir_read_json(started_path(directory, path));
    const char *start = json_text(started, "start_time");
    struct proc_id guard = {json_int(started, "pid", 0), start ? strtoull(start, NULL, 10) : 0};
    cJSON_Delete(started);
    return guard;
}

static void await_guard(const struct proc_id *guard)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    for (double end = monotonic_seconds() + guard_patience; proctree_runs(guard) && monotonic_seconds() < end;)
        nanosleep(&pause, NULL);
    proctree_signal(guard, SIGKILL);
}

/* Waits for the guard, which ends it; ends it where that has died, too. How it ended. */
static cJSON *end_lost_job(const char *directory, const char *mark)
{
    struct proc_id guard = read_guard(directory);
    await_guard(&guard);
    if (proctree_end_kin(mark))
        leftovers_remove();
    cJSON *ended = jobdir_read_ended(directory);
    return ended ? ended : jobdir_ended_lost();
}

/* ---- Hosts that are not reached ----------------------------------------------------------------- */

/*
 * mpiexec does not notice that the command which reaches a host for it (ssh, srun) has failed, and waits for ever:
 * for jobs that have no control plane, or not yet.
 */

struct failure {
    char name[64];
    int status;
};

static bool is_mpiexec(void *context, const struct proc *proc)
{
    (void)context;
    return !strncmp(proc->name, "mpiexec", 7);
}

static bool reaches_nobody(void *context, const struct proc *proc)
{
    struct failure *failure = context;
    return is_mpiexec(NULL, proc) &&
           hydra_failed(proc->id.number, failure->name, sizeof failure->name, &failure->status);
}

/* Is there an mpiexec right below that process? */
static bool mpiexec_is_below(pid_t above)
{
    return proctree_child(above, is_mpiexec, NULL);
}

/* Is there an mpiexec right below that process of which such a command has ended with an error? Then a line says which.
 * Also true for a moment when a job is just ending, so that it should be asked twice. */
static bool sees_unreached(pid_t above, char *text, size_t size)
{
    struct failure failure;
    bool seen = proctree_child(above, reaches_nobody, &failure);
    if (seen)
        snprintf(text, size, "mpiexec cannot start processes on other hosts: its '%s' ended with status %d",
                 failure.name, failure.status);
    return seen;
}

/* ---- The end ------------------------------------------------------------------------------------ */

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
    struct service service;
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

static void on_lingered(evutil_socket_t fd, short what, void *context)
{
    struct beside *b = context;
    (void)fd, (void)what;
    service_leave(&b->service);
}

static void finish_job(struct beside *b, cJSON *ended)
{
    struct error error;
    evtimer_del(b->look);
    if (b->unreached[0]) {
        cJSON_DeleteItemFromObjectCaseSensitive(ended, "reason");
        cJSON_AddStringToObject(ended, "reason", b->unreached);
    }
    if (jobdir_write_ended(b->directory, ended, &error))
        say_failed(&error);
    service_ended(&b->service, ended);
    wire_timer_set(b->late, linger);
}

/* What the guard had below it has become this process's. */
static cJSON *without_guard(void)
{
    proctree_end_kin(NULL);
    return jobdir_ended_lost();
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
    if (!got || b->service.ended || (got > 0 && message.word == GUARD_RUNS))
        return;
    if (got > 0)
        finish_job(b, guard_ended(&message, &b->launch));
    else
        finish_job(b, without_guard());
    waitpid(b->guard.pid, NULL, WNOHANG);
}

static void on_terminate(void *context)
{
    struct beside *b = context;
    guard_terminate(&b->guard);
}

static void on_kill(void *context)
{
    struct beside *b = context;
    guard_kill(&b->guard);
}

/* Rank 0's process has gone, and no other one was left to end mpiexec, which waits for an ssh to a host without power.
 */
static bool waits_in_vain(const struct beside *b)
{
    const struct plane *plane = &b->service.plane;
    return plane->lost && plane->state == PLANE_SEEKS && !b->launch.once && mpiexec_is_below(b->guard.pid);
}

/* One that has a control plane misses its processes by itself. */
static void look_for_hosts(evutil_socket_t fd, short what, void *context)
{
    struct beside *b = context;
    (void)fd, (void)what;
    char text[sizeof b->unreached] = "rank 0's process or its host has gone, and mpiexec has not noticed";
    bool vain = waits_in_vain(b);
    b->missed = vain ? b->missed + 1 : 0;
    b->looked =
        b->service.plane.state == PLANE_SEEKS && sees_unreached(b->guard.pid, text, sizeof text) ? b->looked + 1 : 0;
    if (b->looked < 2 && b->missed < MISSED_MOST) {
        wire_timer_set(b->look, look_apart);
        return;
    }
    memcpy(b->unreached, text, sizeof text);
    service_end(&b->service, 0);
}

/* ---- The beginning ------------------------------------------------------------------------------ */

/* 1: another one has it; -1: a line says why not. It is held as long as this process lives. */
static int lock_directory(const char *directory, struct error *error)
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

static void on_signal(evutil_socket_t number, short what, void *context)
{
    struct beside *b = context;
    (void)number, (void)what;
    if (!b->service.ended)
        service_end(&b->service, short_grace);
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
        const char *value = jobdir_variable(launch, names[i]);
        if (value)
            setenv(names[i], value, 1);
        else
            unsetenv(names[i]);
    }
}

/* Written before the command begins: who finds it, and no end, knows that something may be left. */
static int start_guard(struct beside *b, struct error *error)
{
    if (guard_start(&b->guard, &b->launch, b->directory, error))
        return -1;
    if (write_started(b->directory, b->guard.pid, error)) {
        close(b->guard.fd);
        b->guard.fd = -1;
        return -1;
    }
    guard_go(&b->guard);
    return 0;
}

/* NULL: the command runs. Else how it ended. */
static cJSON *begin_job(struct beside *b)
{
    struct guard_message message;
    struct error error;
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/launch.json", b->directory);
    if (jobdir_read_launch(&b->launch, path, b->mark, &error) || start_guard(b, &error)) {
        say_failed(&error);
        return jobdir_ended_failed(error.text);
    }
    struct pollfd fd = {.fd = b->guard.fd, .events = POLLIN};
    poll(&fd, 1, BEGIN_MS);
    int got = guard_read(&b->guard, &message);
    if (got < 0)
        return without_guard();
    return got && message.word != GUARD_RUNS ? guard_ended(&message, &b->launch) : NULL;
}

/* ---- Daemons ------------------------------------------------------------------------------------ */

/* Only processes of the same user are heard, and root's. */
static void on_connection(void *context, int fd)
{
    struct beside *b = context;
    uid_t uid;
    if (wire_socket_user(fd, &uid) && (uid == geteuid() || !uid))
        service_add_fd(&b->service, fd);
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
    b->listener = wire_listener_new(b->service.base, fd, on_connection, b);
    return b->listener ? 0 : error_memory(error);
}

static int make_events(struct beside *b, struct error *error)
{
    struct event_base *base = b->service.base;
    b->guarded = event_new(base, b->guard.fd, EV_READ | EV_PERSIST, on_guard, b);
    b->signalled = evsignal_new(base, SIGTERM, on_signal, b);
    b->late = evtimer_new(base, on_lingered, b);
    b->look = evtimer_new(base, look_for_hosts, b);
    return b->guarded && b->signalled && b->late && b->look ? 0 : error_memory(error);
}

static int stay_until_end(struct beside *b, cJSON *ended, struct error *error)
{
    struct service *s = &b->service;
    if (service_open(s, b->launch.batch ? b->launch.batch : "", NULL, error) || make_events(b, error) ||
        open_socket(b, error))
        return -1;
    s->ending.terminate = on_terminate;
    s->ending.kill = on_kill;
    s->ending.context = b;
    if ((!ended && event_add(b->guarded, NULL)) || evsignal_add(b->signalled, NULL))
        return error_memory(error);
    keep_signal(SIG_UNBLOCK);
    if (ended)
        finish_job(b, ended);
    else
        wire_timer_set(b->look, look_apart);
    int failed = service_run(s, error);
    unlink(b->socket);
    wire_listener_free(b->listener);
    return failed;
}

int run_job(const char *directory)
{
    static struct beside b;
    struct error error;
    cJSON *ended;
    if (!realpath(directory, b.directory)) {
        error_set(&error, ERROR_FAILED, "%s: %s", directory, strerror(errno));
        return say_failed(&error);
    }
    snprintf(b.mark, sizeof b.mark, "%s%s", MARK, b.directory);
    int busy = lock_directory(b.directory, &error);
    if (busy < 0)
        return say_failed(&error);
    ended = busy ? NULL : jobdir_read_ended(b.directory);
    cJSON_Delete(ended);
    if (busy || ended)
        return 0;
    b.guard.fd = -1;
    setsid();
    take_signals();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (is_started(b.directory))
        ended = end_lost_job(b.directory, b.mark);
    else
        ended = begin_job(&b);
    look_where_it_is(&b.launch);
    if (stay_until_end(&b, ended, &error))
        return say_failed(&error);
    return 0;
}
