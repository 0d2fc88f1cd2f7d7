/*
 * The guard's own process. It is nobody's target: in a process group of its own, and deaf to the signals that users
 * send. Whatever descends from the command is its child or becomes that, so when it has no children the job is gone.
 */
#include "scheduler/attend/guarding.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/kin.h"
#include "runtime/hydra/leftovers.h"
#include "scheduler/attend/command.h"
#include "scheduler/attend/ended.h"
#include "scheduler/attend/guard.h"

/* Seconds that what the command left has: to end by itself, after SIGTERM, and after SIGKILL before it is given up. */
static const double by_itself = 0.5, terminated = 2, killed = 5;

enum sweep { SWEEP_NOT, SWEEP_WAITS, SWEEP_TERMINATED, SWEEP_KILLED, SWEEP_OVER };

struct guarding {
    const char *directory;
    int attendant; /* -1: it has died */
    int children;  /* a signalfd */
    int report;    /* of how the command begins; -1: it has */
    pid_t command; /* 0: it has ended */
    int status;
    enum sweep sweep;
    double until; /* of this stage of sweeping */
    bool lost, dirty, alone;
};

static void tell(const struct guarding *g, struct guard_message message)
{
    if (g->attendant >= 0)
        send(g->attendant, &message, sizeof message, MSG_NOSIGNAL);
}

static void begin(struct guarding *g, enum sweep sweep, double seconds)
{
    g->sweep = sweep;
    g->until = monotonic_seconds() + seconds;
}

/* All that have ended. No children: nothing of the job is left. */
static void reap(struct guarding *g)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != g->command)
            continue;
        g->status = status;
        g->command = 0;
        if (g->sweep == SWEEP_NOT)
            begin(g, SWEEP_WAITS, by_itself);
    }
    g->alone = pid < 0 && errno == ECHILD;
}

static void terminate(struct guarding *g)
{
    g->dirty = true;
    if (g->command) {
        kill(-g->command, SIGTERM);
        kill(-g->command, SIGCONT);
    }
}

static void terminate_all(struct guarding *g)
{
    terminate(g);
    kin_signal(getpid(), NULL, SIGTERM);
    kin_signal(getpid(), NULL, SIGCONT);
    begin(g, SWEEP_TERMINATED, terminated);
}

static void kill_all(struct guarding *g)
{
    g->dirty = true;
    kin_signal(getpid(), NULL, SIGKILL);
    begin(g, SWEEP_KILLED, killed);
}

/* The next stage, when the time of this one is over. */
static void sweep(struct guarding *g)
{
    if (g->alone && !g->command)
        g->sweep = SWEEP_OVER;
    if (g->sweep == SWEEP_NOT || g->sweep == SWEEP_OVER || monotonic_seconds() < g->until)
        return;
    if (g->sweep == SWEEP_WAITS)
        terminate_all(g);
    else if (g->sweep == SWEEP_TERMINATED)
        kill_all(g);
    else
        g->sweep = SWEEP_OVER;
}

static void listen_to(struct guarding *g)
{
    char word = 0;
    ssize_t length = recv(g->attendant, &word, 1, MSG_DONTWAIT);
    if (length < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (length == 1 && word == GUARDING_TERMINATE)
        terminate(g);
    if (length == 1 && word == GUARDING_KILL && g->sweep < SWEEP_KILLED)
        kill_all(g);
    if (length == 1)
        return;
    close(g->attendant);
    g->attendant = -1;
    g->lost = true;
    if (g->sweep < SWEEP_TERMINATED)
        terminate_all(g);
}

/* One that could not begin has nothing to be ended. */
static void hear_beginning(struct guarding *g)
{
    struct guard_message message = {.word = GUARD_RUNS};
    if (command_begun(g->report, &message.stage, &message.number)) {
        message.word = GUARD_NOT;
        g->sweep = SWEEP_OVER;
    }
    g->report = -1;
    tell(g, message);
}

static int wait_ms(const struct guarding *g)
{
    double left = g->until - monotonic_seconds();
    if (g->sweep == SWEEP_NOT)
        return -1;
    return left > 0 ? (int)(left * 1e3) + 1 : 0;
}

static void attend_to(struct guarding *g)
{
    struct pollfd fds[3] = {{.fd = g->children, .events = POLLIN},
                            {.fd = g->attendant, .events = POLLIN},
                            {.fd = g->report, .events = POLLIN}};
    struct signalfd_siginfo signal;
    poll(fds, 3, wait_ms(g));
    if (fds[0].revents && read(g->children, &signal, sizeof signal) < 0)
        return;
    reap(g);
    if (fds[1].revents)
        listen_to(g);
    if (g->report >= 0 && (fds[2].revents || !g->command))
        hear_beginning(g);
    sweep(g);
}

static void conclude(struct guarding *g)
{
    int left = g->alone ? 0 : kin_signal(getpid(), NULL, 0);
    if (g->dirty)
        leftovers_remove();
    tell(g, (struct guard_message){.word = GUARD_ENDED, .number = g->status, .left = left});
    if (g->lost)
        ended_write_lost(g->directory);
}

static void prepare(struct guarding *g)
{
    sigset_t children;
    setpgid(0, 0);
    prctl(PR_SET_NAME, "attend-guard");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (int number = 1; number < 32; number++)
        if (number != SIGCHLD)
            signal(number, SIG_IGN);
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, NULL);
    g->children = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
}

int guarding(const struct launch *launch, const char *directory, int attendant)
{
    struct guarding g = {.directory = directory, .attendant = attendant};
    struct guard_message failure = {.word = GUARD_NOT, .stage = STAGE_COMMAND};
    char word;
    prepare(&g);
    if (recv(attendant, &word, 1, 0) != 1)
        return 0;
    g.report = command_start(launch, &g.command);
    if (g.report < 0) {
        failure.number = errno;
        tell(&g, failure);
        return 0;
    }
    while (g.sweep != SWEEP_OVER)
        attend_to(&g);
    conclude(&g);
    return 0;
}
