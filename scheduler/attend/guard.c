/*
 * The guard, in the order in which it comes about: the command, from fork to exec; the guard's own process, which
 * ends what the command leaves; and the attendant's side of it.
 */
#include "scheduler/attend/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/proctree.h"
#include "runtime/hydra/leftovers.h"
#include "scheduler/attend/jobdir.h"

/* ---- The command, from fork to exec ------------------------------------------------------------- */

struct failure {
    int stage, number;
};

static void forget_signals(void)
{
    sigset_t none;
    for (int number = 1; number < 32; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* A path that is not absolute is one of the command's directory. A FIFO does if somebody reads it: it is not waited
 * for, as nodes are held meanwhile. */
static int open_output(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK, 0666);
    int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);
    return flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) ? -1 : fd;
}

static int direct_streams(const struct launch *launch)
{
    int in = open("/dev/null", O_RDONLY), out = open_output(launch->output);
    if (in < 0 || out < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
        return -1;
    if (in > STDERR_FILENO)
        close(in);
    if (out > STDERR_FILENO)
        close(out);
    return 0;
}

/* Comes back when it failed. */
static int become_command(const struct launch *launch)
{
    forget_signals();
    if (launch->cwd && chdir(launch->cwd))
        return STAGE_DIRECTORY;
    if (direct_streams(launch))
        return STAGE_OUTPUT;
    environ = launch->environment;
    execvp(launch->argv[0], launch->argv);
    return STAGE_COMMAND;
}

static void run_child(const struct launch *launch, pid_t guard, int report)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != guard)
        _exit(1);
    struct failure failure = {.stage = become_command(launch)};
    failure.number = errno;
    if (write(report, &failure, sizeof failure) < 0)
        _exit(126);
    _exit(127);
}

/* In a process group of its own; it is sent SIGTERM when this process dies. A descriptor that can be read when it has
 * begun, or could not: a directory, a file may take for ever to open. -1: there is no process, as errno says. */
static int start_command(const struct launch *launch, pid_t *pid)
{
    pid_t guard = getpid();
    sigset_t all, before;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return -1;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); /* the child, too, would ignore them until it has forgotten to */
    *pid = fork();
    if (*pid == 0)
        run_child(launch, guard, ends[1]);
    int error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (*pid > 0) {
        setpgid(*pid, *pid);
        return ends[0];
    }
    close(ends[0]);
    errno = error;
    return -1;
}

/* Reads and closes the report, which exec closes, and the end of a process that was ended before that. -1: the command
 * has not begun; stage and errno say what could not be done. */
static int command_begun(int report, int *stage, int *number)
{
    struct failure failure;
    ssize_t length = read(report, &failure, sizeof failure);
    close(report);
    if (length != (ssize_t)sizeof failure)
        return 0;
    *stage = failure.stage;
    *number = failure.number;
    return -1;
}

/* ---- The guard's own process -------------------------------------------------------------------- */

/*
 * It is nobody's target: in a process group of its own, and deaf to the signals that users send. Whatever descends
 * from the command is its child or becomes that, so when it has no children the job is gone.
 */

/* Words to it. The end of the connection: the attendant has died. */
enum { GUARDING_GO = 'g', GUARDING_TERMINATE = 't', GUARDING_KILL = 'k' };

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

static void tell_attendant(const struct guarding *g, struct guard_message message)
{
    if (g->attendant >= 0)
        send(g->attendant, &message, sizeof message, MSG_NOSIGNAL);
}

static void begin_sweep(struct guarding *g, enum sweep sweep, double seconds)
{
    g->sweep = sweep;
    g->until = monotonic_seconds() + seconds;
}

/* All that have ended. No children: nothing of the job is left. */
static void reap_children(struct guarding *g)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != g->command)
            continue;
        g->status = status;
        g->command = 0;
        if (g->sweep == SWEEP_NOT)
            begin_sweep(g, SWEEP_WAITS, by_itself);
    }
    g->alone = pid < 0 && errno == ECHILD;
}

static void terminate_command(struct guarding *g)
{
    g->dirty = true;
    if (g->command) {
        kill(-g->command, SIGTERM);
        kill(-g->command, SIGCONT);
    }
}

static void terminate_all(struct guarding *g)
{
    terminate_command(g);
    proctree_signal_kin(NULL, SIGTERM);
    proctree_signal_kin(NULL, SIGCONT);
    begin_sweep(g, SWEEP_TERMINATED, terminated);
}

static void kill_all(struct guarding *g)
{
    g->dirty = true;
    proctree_signal_kin(NULL, SIGKILL);
    begin_sweep(g, SWEEP_KILLED, killed);
}

/* The next stage, when the time of this one is over. */
static void go_on_sweeping(struct guarding *g)
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

static void listen_to_attendant(struct guarding *g)
{
    char word = 0;
    ssize_t length = recv(g->attendant, &word, 1, MSG_DONTWAIT);
    if (length < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (length == 1 && word == GUARDING_TERMINATE)
        terminate_command(g);
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
    tell_attendant(g, message);
}

static int wait_ms(const struct guarding *g)
{
    double left = g->until - monotonic_seconds();
    if (g->sweep == SWEEP_NOT)
        return -1;
    return left > 0 ? (int)(left * 1e3) + 1 : 0;
}

static void wait_and_serve(struct guarding *g)
{
    struct pollfd fds[3] = {{.fd = g->children, .events = POLLIN},
                            {.fd = g->attendant, .events = POLLIN},
                            {.fd = g->report, .events = POLLIN}};
    struct signalfd_siginfo signal;
    poll(fds, 3, wait_ms(g));
    if (fds[0].revents && read(g->children, &signal, sizeof signal) < 0)
        return;
    reap_children(g);
    if (fds[1].revents)
        listen_to_attendant(g);
    if (g->report >= 0 && (fds[2].revents || !g->command))
        hear_beginning(g);
    go_on_sweeping(g);
}

static void conclude_sweep(struct guarding *g)
{
    int left = g->alone ? 0 : proctree_signal_kin(NULL, 0);
    if (g->dirty)
        leftovers_remove();
    tell_attendant(g, (struct guard_message){.word = GUARD_ENDED, .number = g->status, .left = left});
    if (g->lost)
        jobdir_write_lost(g->directory);
}

static void prepare_guard(struct guarding *g)
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

/* Its whole life; its exit status. */
static int be_guard(const struct launch *launch, const char *directory, int attendant)
{
    struct guarding g = {.directory = directory, .attendant = attendant};
    struct guard_message failure = {.word = GUARD_NOT, .stage = STAGE_COMMAND};
    char word;
    prepare_guard(&g);
    if (recv(attendant, &word, 1, 0) != 1)
        return 0;
    g.report = start_command(launch, &g.command);
    if (g.report < 0) {
        failure.number = errno;
        tell_attendant(&g, failure);
        return 0;
    }
    while (g.sweep != SWEEP_OVER)
        wait_and_serve(&g);
    conclude_sweep(&g);
    return 0;
}

/* ---- The attendant's side ----------------------------------------------------------------------- */

int guard_start(struct guard *guard, const struct launch *launch, const char *directory, struct error *error)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return error_set(error, ERROR_FAILED, "no guard: %s", strerror(errno));
    guard->pid = fork();
    if (guard->pid == 0) {
        close(ends[0]);
        _exit(be_guard(launch, directory, ends[1]));
    }
    close(ends[1]);
    guard->fd = ends[0];
    if (guard->pid > 0)
        return 0;
    close(ends[0]);
    return error_set(error, ERROR_FAILED, "no guard: %s", strerror(errno));
}

static void say_word(const struct guard *guard, char word)
{
    if (guard->fd >= 0)
        send(guard->fd, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void guard_go(const struct guard *guard)
{
    say_word(guard, GUARDING_GO);
}

void guard_terminate(const struct guard *guard)
{
    say_word(guard, GUARDING_TERMINATE);
}

void guard_kill(const struct guard *guard)
{
    say_word(guard, GUARDING_KILL);
}

int guard_read(struct guard *guard, struct guard_message *message)
{
    ssize_t length = guard->fd >= 0 ? recv(guard->fd, message, sizeof *message, MSG_DONTWAIT) : 0;
    if (length == (ssize_t)sizeof *message)
        return 1;
    if (length < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (guard->fd >= 0)
        close(guard->fd);
    guard->fd = -1;
    return -1;
}

/* ---- What its last word means ------------------------------------------------------------------- */

#define REASON_MAX 1024

static cJSON *not_begun(const struct guard_message *message, const struct launch *launch)
{
    char text[REASON_MAX];
    const char *why = strerror(message->number);
    if (message->stage == STAGE_OUTPUT && message->number == ENXIO)
        why = "nobody reads this FIFO";
    if (message->stage == STAGE_DIRECTORY)
        snprintf(text, sizeof text, "cannot change to the directory %.800s: %s", launch->cwd, why);
    else if (message->stage == STAGE_OUTPUT)
        snprintf(text, sizeof text, "cannot open the output file %.800s: %s", launch->output, why);
    else
        snprintf(text, sizeof text, "cannot start '%.800s': %s", launch->argv[0], why);
    bool missing = message->stage == STAGE_COMMAND && message->number == ENOENT;
    return jobdir_ended(missing ? JOBDIR_NOT_FOUND : JOBDIR_NOT_STARTED, -1, text);
}

cJSON *guard_ended(const struct guard_message *message, const struct launch *launch)
{
    char text[REASON_MAX];
    int status = message->number;
    if (message->word == GUARD_NOT)
        return not_begun(message, launch);
    if (message->left > 0)
        snprintf(text, sizeof text, "%d of its processes could not be ended, not by SIGKILL either", message->left);
    return jobdir_ended(WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : -1,
                        message->left > 0 ? text : NULL);
}
