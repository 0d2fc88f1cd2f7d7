/* Processes that the program left running: which they are, and ending them, here or by a helper. */
#include "runtime/hydra/holders.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/child.h"
#include "runtime/base/ending.h"
#include "runtime/base/paths.h"
#include "runtime/base/proctree.h"
#include "runtime/base/thread.h"
#include "runtime/hydra/hydra.h"

#define ANCESTORS_MAX 64
#define MOMENT_MS     200  /* for one that is about to end */
#define PATIENCE_MS   2000 /* after SIGTERM */

/* Standard output and error, of this process and of the proxy; st_ino 0: none. */
enum { OWN = 2, ALL = 4 };
static struct stat pipes[ALL];
static struct proc_id owner; /* the process whose pipes they are: this one, but in the helper */
static struct proc_id proxy; /* none: not under Hydra */
static _Atomic pid_t spared; /* by its number alone: at worst another one goes on */

void holders_spare(pid_t pid)
{
    atomic_store(&spared, pid);
}

/* ---- Is it one? --------------------------------------------------------------------------- */

/* One of the first `count` pipes. The proxy reads from them, so only who may write to one matters. */
static bool is_pipe(const struct stat *to, int count)
{
    bool is = false;
    for (int i = 0; i < count; i++)
        is |= pipes[i].st_ino && to->st_ino == pipes[i].st_ino && to->st_dev == pipes[i].st_dev;
    return is;
}

static bool is_output(void *context, int fd, const struct stat *to)
{
    (void)context, (void)fd;
    return is_pipe(to, OWN);
}

static bool is_owner_or_proxy(void *context, const struct proc *proc)
{
    (void)context;
    return proctree_same(&proc->id, &owner) || proctree_same(&proc->id, &proxy);
}

/* A descendant, of an owner that is just dying too, or an orphan. What a script started that stands between the proxy
 * and this process is not the program's. */
static bool is_ours(pid_t number)
{
    struct proc found;
    return !proctree_upwards(number, ANCESTORS_MAX, is_owner_or_proxy, NULL, &found) ||
           proctree_same(&found.id, &owner);
}

/* Of one of another user nothing is seen. */
static bool is_holder(pid_t number)
{
    return number > 1 && number != getpid() && number != atomic_load(&spared) &&
           proctree_writes(number, is_output, NULL) && is_ours(number);
}

/* ---- As text, for the helper ---------------------------------------------------------------- */

/* The owner, the proxy, whom to spare, and the device and number of each own pipe. */
#define WHAT "%d:%llu %d:%llu %d %lu:%lu %lu:%lu"

static void describe_pipes(char *text, size_t size)
{
    snprintf(text, size, WHAT, owner.number, owner.start, proxy.number, proxy.start, atomic_load(&spared),
             (unsigned long)pipes[0].st_dev, (unsigned long)pipes[0].st_ino, (unsigned long)pipes[1].st_dev,
             (unsigned long)pipes[1].st_ino);
}

struct proc_id holders_adopt(const char *text)
{
    pid_t another;
    unsigned long numbers[2 * OWN];
    if (sscanf(text, WHAT, &owner.number, &owner.start, &proxy.number, &proxy.start, &another, &numbers[0], &numbers[1],
               &numbers[2], &numbers[3]) != 5 + 2 * OWN)
        return (struct proc_id){0};
    holders_spare(another);
    for (int i = 0; i < OWN; i++) {
        pipes[i].st_dev = numbers[2 * i];
        pipes[i].st_ino = numbers[2 * i + 1];
    }
    return owner;
}

/* ---- The helper --------------------------------------------------------------------------------- */

/*
 * A process that is killed cannot end what it left running, and Hydra waits for that. So from the first fork() on a
 * helper program (driver/helpers/orphans.c) waits for the end of this process, and does it in its place.
 */

static char helper[PATH_MAX];
static pid_t self;
static int lifeline = -1; /* the helper reads from its other end */

/* It becomes nobody's child at once: the program may wait for all of its own, and should not see this one. */
static int spawn_helper(int lifeline_end)
{
    char text[256], *const argv[] = {helper, text, NULL}, *const environment[] = {NULL};
    const struct spawn what = {.argv = argv,
                               .environment = environment,
                               .in = lifeline_end,
                               .out = SPAWN_NOTHING,
                               .err = SPAWN_NOTHING,
                               .session = true};
    sigset_t before;
    pid_t pid;
    describe_pipes(text, sizeof text);
    thread_mask_signals(&before);
    int error = spawn_program(&what, &pid);
    if (!error)
        waitpid(pid, NULL, 0);
    thread_unmask_signals(&before);
    return error;
}

/* In a process that forked: its child is there, and does not have the lifeline. A child's own children are not looked
 * after. */
static void start_helper(void)
{
    static atomic_flag begun = ATOMIC_FLAG_INIT;
    int ends[2];
    if (getpid() != self || atomic_flag_test_and_set(&begun) ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return;
    lifeline = ends[1];
    child_without(&lifeline);
    if (spawn_helper(ends[0])) {
        close(lifeline);
        lifeline = -1;
    }
    close(ends[0]);
}

/* `describe` makes the helper's argument, when it is started. Before the program runs; once. */
static void helper_begin(void)
{
    self = getpid();
    if (!helper_find("orphans", helper, sizeof helper))
        pthread_atfork(NULL, start_helper, NULL);
}

/* This process ends well: the helper goes home. Local. */
static void helper_end(void)
{
    if (lifeline < 0)
        return;
    send(lifeline, "", 1, MSG_NOSIGNAL);
    close(lifeline);
    lifeline = -1;
}

/* ---- The beginning ------------------------------------------------------------------------- */

/* Those that it made standard output and error of, and the proxy's own. */
static bool hide_copy(void *context, int fd, const struct stat *to)
{
    static int copies[6];
    static size_t count;
    (void)context;
    if (fd <= STDERR_FILENO || count == sizeof copies / sizeof *copies || !is_pipe(to, ALL))
        return false;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    copies[count] = fd;
    child_without(&copies[count++]);
    return false;
}

static bool take_pipe(void *context, int fd, const struct stat *to)
{
    struct stat *first = context;
    if ((fd == STDOUT_FILENO || fd == STDERR_FILENO) && S_ISFIFO(to->st_mode))
        first[fd - STDOUT_FILENO] = *to;
    return false;
}

void holders_begin(void)
{
    owner = proctree_id(getpid());
    proxy = hydra_proxy();
    if (!proxy.number)
        return;
    proctree_writes(owner.number, take_pipe, &pipes[0]);
    proctree_writes(proxy.number, take_pipe, &pipes[OWN]);
    proctree_writes(owner.number, hide_copy, NULL); /* Hydra leaves them open; who redirects his output has them yet */
    if (pipes[0].st_ino || pipes[1].st_ino)
        helper_begin();
}

/* ---- All of them --------------------------------------------------------------------------- */

struct round {
    void (*done)(const struct proc *proc);
    int count;
};

static void show_one(void *context, const struct proc *proc)
{
    struct round *round = context;
    if (!is_holder(proc->id.number))
        return;
    round->done(proc);
    round->count++;
}

/* Calls this for each; how many there are. */
static int for_each(void (*done)(const struct proc *proc))
{
    struct round round = {.done = done};
    proctree_each(show_one, &round);
    return round.count;
}

static int wait_ms; /* for one in a row */

static void await_end(const struct proc *proc)
{
    struct pollfd end = {.fd = proctree_watch(&proc->id), .events = POLLIN};
    if (end.fd < 0)
        return;
    poll(&end, 1, wait_ms);
    close(end.fd);
}

static void tell_to_end(const struct proc *proc)
{
    char text[200];
    snprintf(text, sizeof text,
             "note: the program left '%s' running (pid %d), which would keep the job from ending; it is ended",
             proc->name, proc->id.number);
    ending_say(text);
    proctree_signal(&proc->id, SIGTERM);
}

static void end_at_once(const struct proc *proc)
{
    proctree_signal(&proc->id, SIGKILL);
}

static void end_each(void)
{
    wait_ms = MOMENT_MS;
    if (!for_each(await_end) || !for_each(tell_to_end))
        return;
    wait_ms = PATIENCE_MS;
    if (for_each(await_end) && for_each(end_at_once))
        for_each(await_end);
}

void holders_end(void)
{
    if (proxy.number && (pipes[0].st_ino || pipes[1].st_ino))
        end_each();
    helper_end();
}
