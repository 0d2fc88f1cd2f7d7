/* One start of a job: see recover_attempt.h. */
#include "driver/epop/recover_attempt.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/epop/options.h"
#include "runtime/base/clock.h"
#include "runtime/base/kin.h"
#include "runtime/base/say.h"
#include "runtime/hydra/hydra.h"
#include "runtime/hydra/leftovers.h"
#include "runtime/wire/loop.h"

/* Seconds until what is left is killed: when process 0 is gone without a word; when it has said that it ends badly;
 * and for its connection to end when mpiexec has. */
static const double without_word = 0.5, with_word = 8, by_fault = 1, drained = 0.5;
/* And between two looks: when something is about to happen, and else. */
static const double soon = 0.02, look_apart = 0.2;
enum { FAILED_MOST = 5 };

int attempt_prepare(struct error *error)
{
    sigset_t ours;
    sigemptyset(&ours);
    for (size_t i = 0; i < 4; i++)
        sigaddset(&ours, (const int[]){SIGCHLD, SIGTERM, SIGINT, SIGHUP}[i]);
    sigprocmask(SIG_BLOCK, &ours, NULL);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    int fd = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd >= 0 ? fd : error_set(error, ERROR_FAILED, "no signalfd: %s", strerror(errno));
}

/* In the same process group, so that the terminal is its own, too. If this process is killed the job is told to stop.
 */
static void become(char **argv, pid_t supervisor)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == supervisor)
        execv(argv[0], argv);
    say_line("cannot start '%s': %s", argv[0], strerror(errno));
    _exit(EXIT_USAGE);
}

static void reap(struct attempt *a)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        if (pid == a->mpiexec) {
            a->status = status;
            a->ended = true;
        }
}

bool attempt_told(int signals)
{
    struct signalfd_siginfo info;
    bool told = false;
    while (read(signals, &info, sizeof info) == (ssize_t)sizeof info)
        told |= info.ssi_signo != SIGCHLD;
    return told;
}

/* What the terminal sends has reached mpiexec, too. */
static void take_signals(struct attempt *a)
{
    struct signalfd_siginfo info;
    while (read(a->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            continue;
        a->told = true;
        if (!a->ended && info.ssi_code != SI_KERNEL)
            kill(a->mpiexec, (int)info.ssi_signo);
    }
}

static void kill_by(struct attempt *a, double seconds)
{
    double at = monotonic_seconds() + seconds;
    if (!a->kill || at < a->kill)
        a->kill = at;
}

/* mpiexec does not notice that the command which reaches a host for it has failed; or it does, and waits for processes
 * whose proxies have gone. When they have just ended well it has none for a moment, too. */
static bool cannot_go_on(struct attempt *a, char *why, size_t size)
{
    char name[64];
    int status;
    if (!a->ended && hydra_failed(a->mpiexec, name, sizeof name, &status)) {
        snprintf(why, size, "its '%s' ended with status %d", name, status);
        return true;
    }
    snprintf(why, size, "its proxies have gone");
    return !a->ended && a->words.chief && !a->words.word && hydra_is_alone(a->mpiexec);
}

static void look_for_failed(struct attempt *a)
{
    char why[120];
    a->failed = cannot_go_on(a, why, sizeof why) ? a->failed + 1 : 0;
    if (a->failed < FAILED_MOST || a->kill)
        return;
    a->stuck = true;
    say_line("mpiexec cannot go on: %s", why);
    kill_by(a, 0);
}

/* By a signal: mpiexec, or one of the processes, of which mpiexec has the signal's number. */
static bool was_killed(const struct attempt *a)
{
    static const int signals[] = {SIGKILL, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    int status = WIFEXITED(a->status) ? WEXITSTATUS(a->status) : 0;
    bool killed = WIFSIGNALED(a->status) && !a->stuck;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        killed |= status == signals[i] || status == 128 + signals[i];
    return killed;
}

/* It was there, or on its way; what it cannot start, or what does not want to, ends by itself. */
static bool ends_by_fault(const struct attempt *a)
{
    return a->ended && (a->words.begun || was_killed(a) || (a->words.started && a->status));
}

/* What is known now. */
static void judge(struct attempt *a)
{
    double now = monotonic_seconds();
    enum word word = a->words.word;
    if (words_is_lost(&a->words) && !a->lost)
        a->lost = now;
    bool fault = word == WORD_FAULT || (!word && (a->lost || ends_by_fault(a)));
    if (fault && !a->died)
        a->died = now;
    if (word == WORD_FAULT)
        kill_by(a, by_fault);
    else if (word == WORD_FAILED)
        kill_by(a, with_word);
    else if (!word && a->lost)
        kill_by(a, without_word);
}

static void tell_that_it_runs(struct attempt *a)
{
    if (!a->runs || !a->words.state.from[0])
        return;
    a->runs(a->context);
    a->runs = NULL;
}

/* mpiexec has ended, and all that process 0 said is heard. */
static bool is_over(const struct attempt *a, double ended)
{
    return a->ended && (!a->words.chief || a->words.word || monotonic_seconds() - ended > drained);
}

/* What wakes the loop is looked at behind it. */
static void on_wake(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what, (void)context;
}

static void take_all(struct attempt *a)
{
    take_signals(a);
    reap(a);
    words_hear(&a->words); /* what it said before it ended */
    tell_that_it_runs(a);
    judge(a);
    if (a->kill && monotonic_seconds() > a->kill && !a->ended)
        kin_signal(getpid(), NULL, SIGKILL);
}

static int wait_and_take(struct attempt *a, struct event *tick, struct event *signals)
{
    double ended = 0, looked = monotonic_seconds();
    while (!is_over(a, ended)) {
        if (event_add(signals, NULL)) /* each time: hearing all that is there must not hear it again and again */
            return -1;
        wire_timer_set(tick, a->kill || a->ended ? soon : look_apart);
        event_base_loop(a->words.base, EVLOOP_ONCE);
        take_all(a);
        if (a->ended && !ended)
            ended = monotonic_seconds();
        if (monotonic_seconds() - looked > look_apart) {
            look_for_failed(a);
            looked = monotonic_seconds();
        }
    }
    words_hear(&a->words);
    judge(a);
    return 0;
}

static int watch(struct attempt *a, struct error *error)
{
    struct event *tick = evtimer_new(a->words.base, on_wake, NULL);
    struct event *signals = event_new(a->words.base, a->signals, EV_READ, on_wake, NULL);
    int failed = !tick || !signals || wait_and_take(a, tick, signals) ? error_memory(error) : 0;
    if (tick)
        event_free(tick);
    if (signals)
        event_free(signals);
    return failed;
}

/* What a program that ended well left running on purpose goes on. */
static void clear(struct attempt *a)
{
    if (a->words.word == WORD_ENDED || (!a->words.begun && !a->died && !a->told))
        return;
    kin_signal(getpid(), NULL, SIGKILL);
    for (int i = 0; i < 500 && kin_signal(getpid(), NULL, 0) > 0; i++)
        usleep(10000);
    reap(a);
    leftovers_remove();
}

bool attempt_run(struct attempt *a, char **argv, struct error *error)
{
    pid_t supervisor = getpid();
    fflush(NULL);
    a->mpiexec = fork();
    if (a->mpiexec == 0)
        become(argv, supervisor);
    if (a->mpiexec < 0) {
        error_set(error, ERROR_FAILED, "cannot start '%s': %s", argv[0], strerror(errno));
        return false;
    }
    int failed = watch(a, error);
    if (failed)
        kin_signal(getpid(), NULL, SIGKILL);
    clear(a);
    return !failed;
}

bool attempt_died(const struct attempt *a, bool first)
{
    bool by_itself = a->words.word && a->words.word != WORD_FAULT;
    return !a->told && !by_itself && (a->died || !first);
}

int attempt_status(const struct attempt *a, bool executable)
{
    bool exited = WIFEXITED(a->status);
    int status = exited ? WEXITSTATUS(a->status) : 128 + WTERMSIG(a->status);
    if (a->words.word == WORD_ENDED)
        return a->words.status || !executable || !exited ? a->words.status : status;
    if (a->words.word && a->words.status)
        return a->words.status;
    return status || !a->words.begun ? status : EXIT_FAILED;
}
