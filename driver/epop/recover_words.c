/* What the job says: see recover_words.h. */
#include "driver/epop/recover_words.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/json.h"
#include "runtime/control/address.h"
#include "runtime/control/control.h"
#include "runtime/control/rundir.h"
#include "runtime/control/supervisor.h"
#include "runtime/wire/line.h"
#include "runtime/wire/link.h"
#include "runtime/wire/loop.h"
#include "runtime/wire/socket.h"

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

static bool is_here(const struct caller *caller)
{
    return caller->address.s_addr == htonl(INADDR_ANY);
}

static void forget(struct caller *caller)
{
    TAILQ_REMOVE(&caller->words->callers, caller, at);
    if (caller->words->chief == caller)
        caller->words->chief = NULL;
    event_free(caller->late);
    free(caller);
}

/* What it is told still goes out. */
static void drop(struct caller *caller)
{
    wire_line_finish(caller->line, farewell);
    forget(caller);
}

static void say(const struct caller *caller, const char *op, const char *name, const char *text)
{
    cJSON *message = json_message(op);
    if (name)
        cJSON_AddStringToObject(message, name, text);
    wire_line_send(caller->line, message); /* one that is gone is told of */
    cJSON_Delete(message);
}

/* ---- Lines ------------------------------------------------------------------------------------ */

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

/* How it ends; the first word counts. */
static void take_end(struct words *words, enum word word, const cJSON *message)
{
    const char *text = json_text(message, "text");
    if (words->word)
        return;
    words->word = word;
    words->status = json_int(message, word == WORD_FITS ? "ranks" : "status", 0);
    snprintf(words->text, sizeof words->text, "%s", text ? text : "");
}

static void take_first(struct caller *caller, const char *op, const cJSON *message)
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
static void greet(struct caller *caller, const char *op, const cJSON *message)
{
    const char *challenge = json_text(message, "challenge"), *token = caller->words->token;
    char code[PROOF_MAX];
    if (is_here(caller)) {
        take_first(caller, op, message);
        say(caller, SUPERVISOR_HEARD, NULL, NULL);
        return;
    }
    proof_make(code, token, PROOF_CLIENT, challenge ? challenge : "", caller->challenge, op);
    if (!challenge || !proof_is(code, json_text(message, "proof"))) {
        drop(caller);
        return;
    }
    take_first(caller, op, message);
    proof_make(code, token, PROOF_SERVER, challenge, caller->challenge, op);
    say(caller, SUPERVISOR_HEARD, "proof", code);
}

static void on_message(void *context, const cJSON *message)
{
    struct caller *caller = context;
    struct words *words = caller->words;
    const char *op = json_text(message, "op");
    if (!op)
        drop(caller);
    else if (!caller->known)
        greet(caller, op, message);
    else if (caller != words->chief)
        return;
    else if (!strcmp(op, SUPERVISOR_AT))
        take_place(words, message);
    else if (!strcmp(op, SUPERVISOR_SAVED))
        take_saved(words, message);
    else if (!strcmp(op, SUPERVISOR_RUNS))
        take_state(words, message);
}

static void on_gone(void *context, const char *why)
{
    (void)why;
    drop(context);
}

static void on_late(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    drop(context);
}

/* ---- Who comes ----------------------------------------------------------------------------------- */

/* One of another user or host never takes a place that the job needs: of too many strangers of its kind the oldest of
 * its address goes, or the oldest. */
static void make_room(struct words *words, const struct caller *coming)
{
    struct caller *caller, *oldest = NULL, *same = NULL;
    int count = 0;
    TAILQ_FOREACH(caller, &words->callers, at)
    {
        if (caller->known || is_here(caller) != is_here(coming))
            continue;
        count++;
        if (!oldest)
            oldest = caller;
        if (!same && caller->address.s_addr == coming->address.s_addr)
            same = caller;
    }
    if (count >= (is_here(coming) ? STRANGERS_HERE : STRANGERS))
        drop(same ? same : oldest);
}

static void add(struct words *words, int fd, struct in_addr address)
{
    static const struct wire_line_ops ops = {.message = on_message, .gone = on_gone};
    static const struct wire_limits limits = {.line = LINE_MOST};
    struct caller *caller = calloc(1, sizeof *caller);
    struct event *late = caller ? evtimer_new(words->base, on_late, caller) : NULL;
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
    make_room(words, caller);
    TAILQ_INSERT_TAIL(&words->callers, caller, at);
    wire_timer_set(late, patience);
    if (is_here(caller))
        return;
    if (proof_random(caller->challenge))
        drop(caller);
    else
        say(caller, SUPERVISOR_CHALLENGE, "challenge", caller->challenge);
}

static void take_here(void *context, int fd)
{
    uid_t uid;
    if (wire_socket_user(fd, &uid) && uid == geteuid())
        add(context, fd, (struct in_addr){.s_addr = htonl(INADDR_ANY)});
    else
        close(fd);
}

static void take_from_network(void *context, int fd)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    wire_socket_tune(fd);
    if (getpeername(fd, (struct sockaddr *)&address, &size))
        close(fd);
    else
        add(context, fd, address.sin_addr);
}

/* ---- The environment of the job ---------------------------------------------------------------- */

/* A path of this start alone. */
static int listen_here(struct words *words, struct error *error)
{
    static int starts;
    char path[sizeof words->path - 16];
    if (control_rundir_socket(path, sizeof path, error))
        return -1;
    snprintf(words->path, sizeof words->path, "%s.%d", path, ++starts);
    int fd = wire_listen_path(words->path, error);
    if (fd < 0)
        return -1;
    words->here = wire_listener_new(words->base, fd, take_here, words);
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
    words->network = wire_listener_new(words->base, fd, take_from_network, words);
    return words->network ? 0 : error_memory(error);
}

static int publish(const struct words *words, const struct sockaddr_in *address)
{
    char text[WIRE_URI_MAX + PROOF_MAX + 1], own[256] = "localhost", host[INET_ADDRSTRLEN], network[64] = "";
    gethostname(own, sizeof own - 1);
    if (words->network)
        snprintf(network, sizeof network, ";tcp:%s:%d", inet_ntop(AF_INET, &address->sin_addr, host, sizeof host),
                 ntohs(address->sin_port));
    int length = snprintf(text, sizeof text, "unix:%s:%s%s %s", own, words->path, network, words->token);
    return length < (int)sizeof text ? setenv(SUPERVISOR, text, 1) : -1;
}

int words_open(struct words *words, bool anywhere, struct error *error)
{
    struct sockaddr_in address;
    *words = (struct words){.base = wire_base_new()};
    TAILQ_INIT(&words->callers);
    int failed = !words->base                 ? error_memory(error)
                 : proof_random(words->token) ? error_set(error, ERROR_FAILED, "the kernel gives no random numbers")
                                              : listen_here(words, error);
    if (!failed && anywhere)
        failed = listen_to_network(words, &address, error);
    if (!failed && publish(words, &address))
        failed = error_set(error, ERROR_FAILED, "%s: too long a path for a socket", words->path);
    if (failed)
        words_close(words);
    return failed;
}

void words_close(struct words *words)
{
    for (struct caller *caller; (caller = TAILQ_FIRST(&words->callers));) {
        wire_line_close(caller->line);
        forget(caller);
    }
    wire_listener_free(words->here);
    wire_listener_free(words->network);
    if (words->path[0])
        unlink(words->path);
    if (words->base)
        event_base_free(words->base);
}

void words_hear(struct words *words)
{
    event_base_loop(words->base, EVLOOP_NONBLOCK);
}

void words_tell(const struct words *words, const cJSON *message)
{
    if (words->chief)
        wire_line_send(words->chief->line, message);
}

bool words_is_lost(const struct words *words)
{
    return words->begun && !words->chief;
}
