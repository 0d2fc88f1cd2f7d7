/* The keeper: a fork that stays, and carries messages between the process and its launcher. */
#include "runtime/hydra/keeper.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/hydra/pmi.h"

static _Atomic bool *expendable_; /* shared with the keeper; NULL: there is none */

/* What is meant for the process reaches it too: the launcher signals the process group. */
static void ignore_signals(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGUSR1, SIGUSR2, SIGTSTP};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_IGN);
}

/* ---- Between the process and the launcher ------------------------------------------------------- */

static const char giving_up[] = "cmd=abort"; /* MPI, on all of the launch */

/* What is written to one end comes out of the other. False when this end has closed. */
static bool pass_on(int from, int to)
{
    char data[4096];
    ssize_t size = read(from, data, sizeof data), done = 0;
    while (done < size) {
        ssize_t written = write(to, data + done, (size_t)(size - done));
        if (written < 0 && errno != EINTR)
            return true; /* the other end will be found closed */
        done += written > 0 ? written : 0;
    }
    return size > 0 || (size < 0 && errno == EINTR);
}

/* MPI calls an error in a connection fatal wherever it was to return errors. Of a process that the job does without it
 * is not the others' affair. */
static bool gives_up_alone(int fd)
{
    char begin[sizeof giving_up - 1];
    ssize_t size = *expendable_ ? recv(fd, begin, sizeof begin, MSG_PEEK) : 0;
    return size == (ssize_t)sizeof begin && !memcmp(begin, giving_up, sizeof begin);
}

/* The signal also comes when the process was stopped, or goes on. */
static bool has_ended(pid_t process, int ends, int *status)
{
    struct signalfd_siginfo signal;
    return read(ends, &signal, sizeof signal) > 0 && waitpid(process, status, WNOHANG);
}

/* Until the process has ended. Its status. */
static int carry(pid_t process, int inside, int outside, int ends)
{
    struct pollfd fds[] = {
        {.fd = ends, .events = POLLIN}, {.fd = inside, .events = POLLIN}, {.fd = outside, .events = POLLIN}};
    int status = 0;
    for (;;) {
        if (poll(fds, 3, -1) < 0)
            continue;
        if (fds[0].revents && has_ended(process, ends, &status))
            return status;
        if (fds[1].revents && gives_up_alone(inside))
            kill(process, SIGKILL);
        else if (fds[1].revents && !pass_on(inside, outside))
            fds[1].fd = -1;
        if (fds[2].revents && !pass_on(outside, inside)) {
            shutdown(inside, SHUT_RDWR);
            fds[2].fd = -1;
        }
    }
}

/* ---- The keeper -------------------------------------------------------------------------------- */

/* The keeper has the connection to the launcher: that of one that was killed is still open. */
static void keep(pid_t process, int inside, int ends) __attribute__((noreturn));
static void keep(pid_t process, int inside, int ends)
{
    ignore_signals();
    prctl(PR_SET_NAME,
          "epop-keeper"); /* in one word: Slurm reads it from /proc, and lost who has a blank, with its children */
    int status = carry(process, inside, pmi_connection(), ends);
    if (status && *expendable_)
        pmi_leave(0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* ---- Who is kept ------------------------------------------------------------------------------- */

#define KEPT "EPOP_KEPT" /* its environment: the descriptor of what it shares with its keeper */

struct ends {
    int inside, outside; /* the process's connection: the keeper's end, and its own */
    int deaths;          /* where the keeper reads of its end */
    int shared;
};

static bool share(int fd)
{
    void *page = mmap(NULL, sizeof *expendable_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    expendable_ = page == MAP_FAILED ? NULL : page;
    return expendable_;
}

/* In the process that was started behind a keeper: true. */
static bool is_kept(void)
{
    const char *text = getenv(KEPT);
    int fd = text ? atoi(text) : -1;
    if (fd <= STDERR_FILENO || !share(fd))
        return false;
    close(fd);
    unsetenv(KEPT);
    return true;
}

/* In the child: what the process takes for the launcher is the keeper. It begins anew, as a library of MPI's may have
 * threads since it was loaded, and a fork has a lock for ever that one of them held. */
static void begin_anew(pid_t keeper, int outside, const sigset_t *signals, const char *path, char **argv)
    __attribute__((noreturn));
static void begin_anew(pid_t keeper, int outside, const sigset_t *signals, const char *path, char **argv)
{
    static const char failed[] = "epop: cannot execute itself behind a keeper\n";
    sigprocmask(SIG_SETMASK, signals, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (dup2(outside, pmi_connection()) >= 0 && getppid() == keeper) /* it may be killed before that */
        execv(path, argv);
    (void)!write(STDERR_FILENO, failed, sizeof failed - 1);
    _exit(1);
}

/* False: not to be had. */
static bool prepare(struct ends *ends, const sigset_t *child)
{
    char text[16];
    int pair[2];
    ends->shared = memfd_create("epop-keeper", 0);
    ends->deaths = signalfd(-1, child, SFD_CLOEXEC);
    ends->inside = ends->outside = -1;
    if (ends->deaths < 0 || ends->shared < 0 || ftruncate(ends->shared, sizeof *expendable_) || !share(ends->shared) ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return false;
    ends->inside = pair[0];
    ends->outside = pair[1];
    snprintf(text, sizeof text, "%d", ends->shared);
    return !setenv(KEPT, text, 1);
}

static void do_without(const struct ends *ends, const sigset_t *before)
{
    if (expendable_)
        munmap(expendable_, sizeof *expendable_);
    expendable_ = NULL;
    unsetenv(KEPT);
    sigprocmask(SIG_SETMASK, before, NULL);
    close(ends->inside);
    close(ends->outside);
    close(ends->deaths);
    close(ends->shared);
}

void keeper_start(char **argv)
{
    char path[PATH_MAX] = "";
    pid_t keeper = getpid();
    struct ends ends;
    sigset_t child, before;
    if (is_kept() || readlink("/proc/self/exe", path, sizeof path - 1) < 0)
        return;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &before);
    pid_t process = prepare(&ends, &child) ? _Fork() : -1;
    if (!process)
        begin_anew(keeper, ends.outside, &before, path, argv);
    if (process > 0 && !close(ends.outside))
        keep(process, ends.inside, ends.deaths);
    do_without(&ends, &before);
}

void keeper_expendable(bool expendable)
{
    if (expendable_)
        *expendable_ = expendable;
}

void keeper_end(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}
