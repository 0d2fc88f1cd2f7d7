/*
 * One start of a job under epop --recover: listens to what the job says, watches mpiexec, and decides when and how it
 * has ended.
 */
#include "driver/epop/recover_attempt.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
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
#include "runtime/base/host.h"
#include "runtime/base/json.h"
#include "runtime/base/proctree.h"
#include "runtime/base/say.h"
#include "runtime/control/address.h"
#include "runtime/control/control.h"
#include "runtime/control/rundir.h"
#include "runtime/control/supervisor.h"
#include "runtime/hydra/leftovers.h"
#include "runtime/launch/engine.h"
#include "runtime/wire/line.h"
#include "runtime/wire/link.h"
#include "runtime/wire/loop.h"
#include "runtime/wire/socket.h"

/* ---- Who says something ------------------------------------------------------------------------- */

/* Those who have not said anything yet, from a network and of this host; bytes of a line. */
enum { STRANGERS = 16, STRANGERS_HERE = 64, LINE_MOST = 2048 };
static const double patience = 5, farewell = 1; /* seconds for the first line, and for the answer to be taken */

struct caller {
    struct words *words;
    struct wire_line *line;
    struct event *late;     /* until it has said something */
    bool known;             /* it has */
    struct in_addr address; /* INADDR_ANY: it is on this host, and of this user */
    char challenge[PROOF_MAX];
    TAILQ_ENTRY(caller) at; /* the oldest first */
};

static bool is_on_this_host(const struct caller *caller)
{
    return caller->address.s_addr == htonl(INADDR_ANY);
}

static void forget_caller(struct caller *caller)
{
    TAILQ_REMOVE(&caller->words->callers, caller, at);
    if (caller->words->chief == caller)
        caller->words->chief = NULL;
    event_free(caller->late);
    free(caller);
}

/* What it is told still goes out. */
static void drop_caller(struct caller *caller)
{
    wire_line_finish(caller->line, farewell);
    forget_caller(caller);
}

static void say_to_caller(const struct caller *caller, const char *op, const char *name, const char *text)
{
    cJSON *message = json_message(op);
    if (name)
        cJSON_AddStringToObject(message, name, text);
    wire_line_send(caller->line, message); /* one that is gone is told of */
    cJSON_Delete(message);
}

/* ---- What is said ------------------------------------------------------------------------------- */

static void take_place(struct words *words, const cJSON *message)
{
    words->place = (struct words_place){.count = (unsigned long long)json_int64(message, "count", 0),
                                        .size = json_int(message, "size", 0),
                                        .pc = json_int(message, "pc", 0),
                                        .iteration = json_int64(message, "iteration", 0)};
}

static void take_state(struct words *words, const cJSON *message)
{
    const char *from = json_text(message, "from");
    words->state =
        (struct words_state){.number = json_int(message, "number", 0), .time = json_number(message, "time", 0)};
    snprintf(words->state.from, sizeof words->state.from, "%s", from ? from : "");
}

static void take_saved(struct words *words, const cJSON *message)
{
    struct words_saved saved = {json_int(message, "number", 0), (unsigned long long)json_int64(message, "count", 0)};
    memmove(words->saved + 1, words->saved, sizeof words->saved - sizeof saved);
    words->saved[0] = saved;
}

static void take_world(struct words *words, const cJSON *message)
{
    const char *hosts = json_text(message, "hosts");
    snprintf(words->hosts, sizeof words->hosts, "%s", hosts ? hosts : "");
}

/* How it ends; the first word counts. */
static void take_end(struct words *words, enum word word, const cJSON *message)
{
    const char *text = json_text(message, "text");
    if (words->word)
        return;
    words->word = word;
    words->status = json_int(message, word == WORD_FITS ? "ranks" : "status", 0);
    snprintf(words->text, sizeof words->text, "%s", text ? text : "");
    words->lost = json_int(message, "rank", -1);
}

static void take_first_word(struct caller *caller, const char *op, const cJSON *message)
{
    static const struct {
        const char *op;
        enum word word;
    } ends[] = {{SUPERVISOR_ENDED, WORD_ENDED},
                {SUPERVISOR_FAILED, WORD_FAILED},
                {SUPERVISOR_FAULT, WORD_FAULT},
                {SUPERVISOR_FITS, WORD_FITS}};
    struct words *words = caller->words;
    caller->known = true;
    evtimer_del(caller->late);
    words->started |= !strcmp(op, SUPERVISOR_STARTS);
    if (!strcmp(op, SUPERVISOR_BEGINS)) {
        words->begun = true;
        words->chief = caller;
    }
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (!strcmp(op, ends[i].op))
            take_end(words, ends[i].word, message);
}

/* Whoever is on this host has been looked at; the others know the token. */
static void greet_caller(struct caller *caller, const char *op, const cJSON *message)
{
    const char *challenge = json_text(message, "challenge"), *token = caller->words->token;
    char code[PROOF_MAX];
    if (is_on_this_host(caller)) {
        take_first_word(caller, op, message);
        say_to_caller(caller, SUPERVISOR_HEARD, NULL, NULL);
        return;
    }
    proof_make(code, token, PROOF_CLIENT, challenge ? challenge : "", caller->challenge, op);
    if (!challenge || !proof_is(code, json_text(message, "proof"))) {
        drop_caller(caller);
        return;
    }
    take_first_word(caller, op, message);
    proof_make(code, token, PROOF_SERVER, challenge, caller->challenge, op);
    say_to_caller(caller, SUPERVISOR_HEARD, "proof", code);
}

static void on_caller_message(void *context, const cJSON *message)
{
    struct caller *caller = context;
    struct words *words = caller->words;
    const char *op = json_text(message, "op");
    if (!op)
        drop_caller(caller);
    else if (!caller->known)
        greet_caller(caller, op, message);
    else if (caller != words->chief)
        return;
    else if (!strcmp(op, SUPERVISOR_AT))
        take_place(words, message);
    else if (!strcmp(op, SUPERVISOR_WORLD))
        take_world(words, message);
    else if (!strcmp(op, SUPERVISOR_SAVED))
        take_saved(words, message);
    else if (!strcmp(op, SUPERVISOR_RUNS))
        take_state(words, message);
}

static void on_caller_gone(void *context, const char *why)
{
    (void)why;
    drop_caller(context);
}

static void on_caller_late(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    drop_caller(context);
}

/* ---- Who comes ---------------------------------------------------------------------------------- */

/* One of another user or host never takes a place that the job needs: of too many strangers of its kind the oldest of
 * its address goes, or the oldest. */
static void make_room_for_caller(struct words *words, const struct caller *coming)
{
    struct caller *caller, *oldest = NULL, *same = NULL;
    int count = 0;
    TAILQ_FOREACH(caller, &words->callers, at)
    {
        if (caller->known || is_on_this_host(caller) != is_on_this_host(coming))
            continue;
        count++;
        if (!oldest)
            oldest = caller;
        if (!same && caller->address.s_addr == coming->address.s_addr)
            same = caller;
    }
    if (count >= (is_on_this_host(coming) ? STRANGERS_HERE : STRANGERS))
        drop_caller(same ? same : oldest);
}

static void add_caller(struct words *words, int fd, struct in_addr address)
{
    static const struct wire_line_ops ops = {.message = on_caller_message, .gone = on_caller_gone};
    static const struct wire_limits limits = {.line = LINE_MOST};
    struct caller *caller = calloc(1, sizeof *caller);
    struct event *late = caller ? evtimer_new(words->base, on_caller_late, caller) : NULL;
    struct wire_line *line = late ? wire_line_new(words->base, fd, &limits, &ops, caller) : NULL;
    if (!late)
        close(fd);
    if (!line) {
        if (late)
            event_free(late);
        free(caller);
        return;
    }
    *caller = (struct caller){.words = words, .line = line, .late = late, .address = address};
    make_room_for_caller(words, caller);
    TAILQ_INSERT_TAIL(&words->callers, caller, at);
    wire_timer_set(late, patience);
    if (is_on_this_host(caller))
        return;
    if (proof_random(caller->challenge))
        drop_caller(caller);
    else
        say_to_caller(caller, SUPERVISOR_CHALLENGE, "challenge", caller->challenge);
}

static void take_caller_here(void *context, int fd)
{
    uid_t uid;
    if (wire_socket_user(fd, &uid) && uid == geteuid())
        add_caller(context, fd, (struct in_addr){.s_addr = htonl(INADDR_ANY)});
    else
        close(fd);
}

static void take_caller_from_network(void *context, int fd)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    wire_socket_tune(fd);
    if (getpeername(fd, (struct sockaddr *)&address, &size))
        close(fd);
    else
        add_caller(context, fd, address.sin_addr);
}

/* ---- Where it is heard -------------------------------------------------------------------------- */

/* A path of this start alone. */
static int listen_on_host(struct words *words, struct error *error)
{
    static int starts;
    char path[sizeof words->path - 16];
    if (control_rundir_socket(path, sizeof path, error))
        return -1;
    snprintf(words->path, sizeof words->path, "%s.%d", path, ++starts);
    int fd = wire_listen_path(words->path, error);
    if (fd < 0)
        return -1;
    words->here = wire_listener_new(words->base, fd, take_caller_here, words);
    return words->here ? 0 : error_memory(error);
}

static int listen_to_network(struct words *words, struct sockaddr_in *address, struct error *error)
{
    bool networked;
    socklen_t size = sizeof *address;
    control_reach_hosts();
    if (control_address(address, &networked))
        return error_set(error, ERROR_FAILED, "EPOP_CONTROL_ADDRESS is no address");
    int fd = wire_listen_address((struct sockaddr *)address, &size, error);
    if (fd < 0)
        return -1;
    words->network = wire_listener_new(words->base, fd, take_caller_from_network, words);
    return words->network ? 0 : error_memory(error);
}

static int publish_address(const struct words *words, const struct sockaddr_in *address)
{
    char text[WIRE_URI_MAX + PROOF_MAX + 1], host[INET_ADDRSTRLEN], network[64] = "";
    if (words->network)
        snprintf(network, sizeof network, ";tcp:%s:%d", inet_ntop(AF_INET, &address->sin_addr, host, sizeof host),
                 ntohs(address->sin_port));
    int length = snprintf(text, sizeof text, "unix:%s:%s%s %s", host_own(), words->path, network, words->token);
    return length < (int)sizeof text ? setenv(SUPERVISOR, text, 1) : -1;
}

int attempt_listen(struct words *words, bool anywhere, struct error *error)
{
    struct sockaddr_in address;
    *words = (struct words){.base = wire_base_new(), .lost = -1};
    TAILQ_INIT(&words->callers);
    int failed = !words->base                 ? error_memory(error)
                 : proof_random(words->token) ? error_set(error, ERROR_FAILED, "the kernel gives no random numbers")
                                              : listen_on_host(words, error);
    if (!failed && anywhere)
        failed = listen_to_network(words, &address, error);
    if (!failed && publish_address(words, &address))
        failed = error_set(error, ERROR_FAILED, "%s: too long a path for a socket", words->path);
    if (failed)
        attempt_hang_up(words);
    return failed;
}

void attempt_hang_up(struct words *words)
{
    for (struct caller *caller; (caller = TAILQ_FIRST(&words->callers));) {
        wire_line_close(caller->line);
        forget_caller(caller);
    }
    wire_listener_free(words->here);
    wire_listener_free(words->network);
    if (words->path[0])
        unlink(words->path);
    if (words->base)
        event_base_free(words->base);
}

/* Hears all that is there, without waiting. */
static void words_hear(struct words *words)
{
    event_base_loop(words->base, EVLOOP_NONBLOCK);
}

void attempt_tell(const struct words *words, const cJSON *message)
{
    if (words->chief)
        wire_line_send(words->chief->line, message);
}

/* It has begun, and process 0 is gone. */
static bool words_is_lost(const struct words *words)
{
    return words->begun && !words->chief;
}

/* ---- mpiexec and what descends from it ---------------------------------------------------------- */

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
static void become_mpiexec(char **argv, pid_t supervisor)
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

static void reap_children(struct attempt *a)
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
static void take_signals_of_attempt(struct attempt *a)
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
    if (!a->ended && engine()->failed(a->mpiexec, name, sizeof name, &status)) {
        snprintf(why, size, "its '%s' ended with status %d", name, status);
        return true;
    }
    snprintf(why, size, "its proxies have gone");
    return !a->ended && a->words.chief && !a->words.word && engine()->is_alone(a->mpiexec);
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

/* As when Hydra loses a process while it is being started. */
static bool has_failed(const struct attempt *a)
{
    return a->failure && WIFEXITED(a->status) && WEXITSTATUS(a->status) == a->failure;
}

/* It was there, or on its way; what it cannot start, or what does not want to, ends by itself. */
static bool ends_by_fault(const struct attempt *a)
{
    return a->ended && (a->words.begun || was_killed(a) || has_failed(a) || (a->words.started && a->status));
}

/* What is known now. */
static void judge_attempt(struct attempt *a)
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
static bool attempt_is_over(const struct attempt *a, double ended)
{
    return a->ended && (!a->words.chief || a->words.word || monotonic_seconds() - ended > drained);
}

/* What wakes the loop is looked at behind it. */
static void on_wake(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what, (void)context;
}

static void take_all_news(struct attempt *a)
{
    take_signals_of_attempt(a);
    reap_children(a);
    words_hear(&a->words); /* what it said before it ended */
    tell_that_it_runs(a);
    judge_attempt(a);
    if (a->kill && monotonic_seconds() > a->kill && !a->ended)
        proctree_signal_kin(NULL, SIGKILL);
}

static int wait_and_take(struct attempt *a, struct event *tick, struct event *signals)
{
    double ended = 0, looked = monotonic_seconds();
    while (!attempt_is_over(a, ended)) {
        if (event_add(signals, NULL)) /* each time: hearing all that is there must not hear it again and again */
            return -1;
        wire_timer_set(tick, a->kill || a->ended ? soon : look_apart);
        event_base_loop(a->words.base, EVLOOP_ONCE);
        take_all_news(a);
        if (a->ended && !ended)
            ended = monotonic_seconds();
        if (monotonic_seconds() - looked > look_apart) {
            look_for_failed(a);
            looked = monotonic_seconds();
        }
    }
    words_hear(&a->words);
    judge_attempt(a);
    return 0;
}

static int watch_attempt(struct attempt *a, struct error *error)
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
static void clear_leftovers(struct attempt *a)
{
    if (a->words.word == WORD_ENDED || (!a->words.begun && !a->died && !a->told))
        return;
    proctree_signal_kin(NULL, SIGKILL);
    for (int i = 0; i < 500 && proctree_signal_kin(NULL, 0) > 0; i++)
        usleep(10000);
    reap_children(a);
    leftovers_remove();
}

bool attempt_run(struct attempt *a, char **argv, struct error *error)
{
    pid_t supervisor = getpid();
    fflush(NULL);
    a->mpiexec = fork();
    if (a->mpiexec == 0)
        become_mpiexec(argv, supervisor);
    if (a->mpiexec < 0) {
        error_set(error, ERROR_FAILED, "cannot start '%s': %s", argv[0], strerror(errno));
        return false;
    }
    int failed = watch_attempt(a, error);
    if (failed)
        proctree_signal_kin(NULL, SIGKILL);
    clear_leftovers(a);
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
