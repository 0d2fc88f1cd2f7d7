/* Leaving Hydra without MPI_Finalize, over the connection of PMI-1. */
#include "runtime/hydra/pmi.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/child.h"
#include "runtime/base/ending.h"
#include "runtime/base/thread.h"

#define ANSWER_TIMEOUT_MS 2000

int pmi_connection(void)
{
    const char *fd = getenv("PMI_FD");
    return fd ? atoi(fd) : -1;
}

void pmi_only_here(void)
{
    static int fd;
    if ((fd = pmi_connection()) <= 2)
        return;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    child_without(&fd);
}

bool pmi_can_leave(void)
{
    return pmi_connection() > 2;
}

#define TURN_MS 100 /* in which Hydra hears of an end, and waits for all others that there are */
#define TURNS   10
#define LOOK_MS 5

/* Until Hydra has waited for the process, at most until its turn comes. */
static void await_turn(int process, int turn)
{
    for (int ms = 0; ms < turn * TURN_MS && !pidfd_send_signal(process, 0, NULL, 0); ms += LOOK_MS)
        poll(NULL, 0, LOOK_MS);
}

/* In its own session: Hydra kills the process group of each of its processes. */
static void outlive(int self, int connection, int turn) __attribute__((noreturn));
static void outlive(int self, int connection, int turn)
{
    struct pollfd end = {.fd = 0, .events = POLLIN};
    setsid();
    dup2(self, 0);
    dup2(connection, 1);
    close_range(2, ~0U, 0);
    prctl(PR_SET_NAME, "epop-outlives"); /* in one word, as the keeper's */
    while (poll(&end, 1, -1) < 0)
        ;
    await_turn(0, turn);
    _exit(0);
}

void pmi_outlive(void)
{
    sigset_t before;
    const char *local = getenv("MPI_LOCALRANKID"); /* by Hydra: on this host */
    int self = pmi_can_leave() ? pidfd_open(getpid(), 0) : -1;
    if (self < 0)
        return;
    thread_mask_signals(&before);
    pid_t child = _Fork();
    if (!child && _Fork())
        _exit(0);
    if (!child)
        outlive(self, pmi_connection(), local ? atoi(local) % TURNS : 0);
    if (child > 0)
        waitpid(child, NULL, 0);
    thread_unmask_signals(&before);
    close(self);
}

static bool can_be_read(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    int count;
    while ((count = poll(&ready, 1, ANSWER_TIMEOUT_MS)) < 0 && errno == EINTR)
        ; /* a signal that the manager handed on to all processes */
    return count > 0;
}

/* The acknowledgement is one line; without it the manager would take the end of this process for a failure. */
static void wait_for_line(int fd)
{
    char c = 0;
    while (c != '\n' && can_be_read(fd))
        if (read(fd, &c, 1) != 1)
            return;
}

void pmi_finalize(void)
{
    static const char text[] = "cmd=finalize\n";
    if (write(pmi_connection(), text, sizeof text - 1) == (ssize_t)(sizeof text - 1))
        wait_for_line(pmi_connection());
}

void pmi_leave(int status)
{
    fflush(NULL);
    pmi_finalize();
    ending_quit(status);
}
