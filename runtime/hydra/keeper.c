/* The keeper: a fork that stays, and carries messages between the process and its launcher. */
#include "runtime/hydra/keeper.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
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

/* In the process: what it takes for the launcher is the keeper. */
static void go_on(pid_t keeper, int outside, const sigset_t *signals)
{
    if (dup2(outside, pmi_connection()) < 0)
        _exit(1);
    sigprocmask(SIG_SETMASK, signals, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper) /* it was killed before that */
        _exit(1);
}

/* pair: the process's connection; returns where its end is told. -1: not to be had. */
static int prepare(int pair[2], sigset_t *before)
{
    sigset_t child;
    void *page = mmap(NULL, sizeof *expendable_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return -1;
    expendable_ = page;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, before);
    int ends = signalfd(-1, &child, SFD_CLOEXEC);
    if (ends >= 0 && !socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return ends;
    close(ends);
    return -1;
}

static void do_without(const sigset_t *before)
{
    if (expendable_)
        munmap(expendable_, sizeof *expendable_);
    expendable_ = NULL;
    sigprocmask(SIG_SETMASK, before, NULL);
}

void keeper_start(void)
{
    pid_t keeper = getpid();
    int pair[2] = {-1, -1};
    sigset_t before;
    sigprocmask(SIG_SETMASK, NULL, &before);
    int ends = prepare(pair, &before);
    pid_t process = ends < 0 ? -1 : fork();
    if (process > 0 && !close(pair[1]))
        keep(process, pair[0], ends);
    if (!process)
        go_on(keeper, pair[1], &before);
    else
        do_without(&before);
    close(pair[0]);
    close(pair[1]);
    close(ends);
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
