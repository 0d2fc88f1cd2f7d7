/* Processes that the program left running: which they are, and ending them, here or by a helper. */
#include "runtime/hydra/holders.h"

#include <dirent.h>
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
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/child.h"
#include "runtime/base/ending.h"
#include "runtime/base/paths.h"
#include "runtime/base/thread.h"
#include "runtime/hydra/hydra.h"

#define ANCESTORS_MAX 64
#define MOMENT_MS     200  /* for one that is about to end */
#define PATIENCE_MS   2000 /* after SIGTERM */

/* Standard output and error, of this process and of the proxy; st_ino 0: none. */
enum { OWN = 2, ALL = 4 };
static struct stat pipes[ALL];
static pid_t owner; /* the process whose pipes they are: this one, but in the helper */
static pid_t proxy; /* 0: not under Hydra */
static _Atomic pid_t spared;

void holders_spare(pid_t pid)
{
    atomic_store(&spared, pid);
}

/* ---- Is it one? --------------------------------------------------------------------------- */

/* To write to: the proxy reads from them. One of the first `count` pipes. */
static bool is_output(int directory, const char *name, int count)
{
    struct stat link, file;
    if (fstatat(directory, name, &link, AT_SYMLINK_NOFOLLOW) || !(link.st_mode & S_IWUSR) ||
        fstatat(directory, name, &file, 0))
        return false;
    bool is = false;
    for (int i = 0; i < count; i++)
        is |= pipes[i].st_ino && file.st_ino == pipes[i].st_ino && file.st_dev == pipes[i].st_dev;
    return is;
}

/* Of another user: nothing is seen. */
static bool has_output(pid_t pid)
{
    char path[64];
    bool has = false;
    snprintf(path, sizeof path, "/proc/%ld/fd", (long)pid);
    DIR *descriptors = opendir(path);
    for (struct dirent *entry; descriptors && !has && (entry = readdir(descriptors));)
        has = entry->d_name[0] != '.' && is_output(dirfd(descriptors), entry->d_name, OWN);
    if (descriptors)
        closedir(descriptors);
    return has;
}

/* What a script started that stands between the proxy and this process is not the program's. */
static bool is_ours(pid_t pid)
{
    for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++, pid = hydra_parent(pid)) {
        if (pid == owner)
            return true; /* of one that is just dying, too */
        if (pid == proxy)
            return false;
    }
    return true; /* an orphan */
}

static bool is_holder(pid_t pid)
{
    return pid > 1 && pid != getpid() && pid != atomic_load(&spared) && has_output(pid) && is_ours(pid);
}

/* ---- As text, for the helper ---------------------------------------------------------------- */

/* The owner, the proxy, whom to spare, and the device and number of each own pipe. */
#define WHAT "%ld %ld %ld %lu:%lu %lu:%lu"

static void describe_pipes(char *text, size_t size)
{
    snprintf(text, size, WHAT, (long)owner, (long)proxy, (long)atomic_load(&spared), (unsigned long)pipes[0].st_dev,
             (unsigned long)pipes[0].st_ino, (unsigned long)pipes[1].st_dev, (unsigned long)pipes[1].st_ino);
}

pid_t holders_adopt(const char *text)
{
    long process, manager, another;
    unsigned long numbers[2 * OWN];
    if (sscanf(text, WHAT, &process, &manager, &another, &numbers[0], &numbers[1], &numbers[2], &numbers[3]) !=
        3 + 2 * OWN)
        return -1;
    owner = (pid_t)process;
    proxy = (pid_t)manager;
    holders_spare((pid_t)another);
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

/* Hydra leaves descriptors open: those that it made standard output and error of, and the proxy's own. Who redirects
 * his output has them yet. */
static void hide_copies(void)
{
    static int copies[6];
    size_t count = 0;
    DIR *descriptors = opendir("/proc/self/fd");
    for (struct dirent *entry; descriptors && (entry = readdir(descriptors));) {
        int fd = atoi(entry->d_name);
        if (fd <= STDERR_FILENO || count == sizeof copies / sizeof *copies ||
            !is_output(dirfd(descriptors), entry->d_name, ALL))
            continue;
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        copies[count] = fd;
        child_without(&copies[count++]);
    }
    if (descriptors)
        closedir(descriptors);
}

void holders_begin(void)
{
    owner = getpid();
    proxy = hydra_proxy();
    for (int i = 0; i < ALL; i++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%ld/fd/%d", i < OWN ? (long)getpid() : (long)proxy, STDOUT_FILENO + i % OWN);
        if (stat(path, &pipes[i]) || !S_ISFIFO(pipes[i].st_mode))
            pipes[i].st_ino = 0;
    }
    if (!proxy)
        return;
    hide_copies();
    if (pipes[0].st_ino || pipes[1].st_ino)
        helper_begin();
}

/* ---- All of them --------------------------------------------------------------------------- */

/* Calls this for each; how many there are. */
static int for_each(void (*done)(pid_t pid))
{
    int count = 0;
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; processes && (entry = readdir(processes));) {
        pid_t pid = atoi(entry->d_name);
        if (!is_holder(pid))
            continue;
        done(pid);
        count++;
    }
    if (processes)
        closedir(processes);
    return count;
}

static int wait_ms; /* for one in a row */

static void await_end(pid_t pid)
{
    struct pollfd end = {.fd = pidfd_open(pid, 0), .events = POLLIN};
    if (end.fd < 0)
        return;
    poll(&end, 1, wait_ms);
    close(end.fd);
}

static void tell_to_end(pid_t pid)
{
    char path[64], name[64] = "?", text[200];
    snprintf(path, sizeof path, "/proc/%ld/comm", (long)pid);
    FILE *file = fopen(path, "r");
    if (file && fgets(name, sizeof name, file))
        name[strcspn(name, "\n")] = 0;
    if (file)
        fclose(file);
    snprintf(text, sizeof text,
             "note: the program left '%s' running (pid %ld), which would keep the job from ending; it is ended", name,
             (long)pid);
    ending_say(text);
    kill(pid, SIGTERM);
}

static void end_at_once(pid_t pid)
{
    kill(pid, SIGKILL);
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
    if (proxy && (pipes[0].st_ino || pipes[1].st_ino))
        end_each();
    helper_end();
}
