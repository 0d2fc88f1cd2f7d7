/* A client's connection to a job: see link.h. */
#include "runtime/wire/link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/wire/attach.h"
#include "runtime/wire/line.h"
#include "runtime/wire/proof.h"
#include "runtime/wire/relay.h"
#include "runtime/wire/socket.h"

/* Seconds between tries, from and to; for what was sent before a goodbye. */
static const double soonest = 0.002, rarest = 0.1, farewell = 1, move_limit = 25;
enum { LINE_MOST = 256 << 20 };

struct ask {
    struct wire_link *link;
    int64_t id;
    void (*answered)(void *context, cJSON *answer, const struct error *why);
    void *context;
    struct event *late; /* NULL: there is no limit */
    TAILQ_ENTRY(ask) at;
};

struct wire_link {
    struct event_base *base;
    const struct wire_link_ops *ops;
    void *context;
    struct wire_target target;
    char token[WIRE_TOKEN_MAX], challenge[PROOF_MAX], server[PROOF_MAX];
    const char *role;
    int process;
    double deadline, pause;
    char last[200]; /* what the last try failed by */
    struct event *again;
    bool by_path, attached, leaving;
    bool unreached;           /* by the last try: not even its host's kernel answered */
    struct wire_relay *relay; /* a member's whose job is on another host; NULL */
    void (*alone)(void *context);
    int64_t asked;
    TAILQ_HEAD(, ask) asks;
    pthread_mutex_t lock; /* of tell, which other threads call: line is there, and attached, or */
    struct wire_line *line;
    struct evbuffer *kept; /* it moves from one relay to another; what is said meanwhile */
};

/* ---- Addresses --------------------------------------------------------------------------------- */

/* "HOST:PATH", where HOST is this one */
static void take_path(struct wire_target *target, const char *text, size_t length)
{
    char host[256];
    wire_host(host, sizeof host);
    size_t own = strlen(host);
    if (length > own + 1 && !strncmp(text, host, own) && text[own] == ':')
        snprintf(target->path, sizeof target->path, "%.*s", (int)(length - own - 1), text + own + 1);
}

/* "ADDRESS:PORT" */
static void take_address(struct wire_target *target, const char *text)
{
    char host[INET_ADDRSTRLEN];
    int port;
    if (sscanf(text, "%15[0-9.]:%d", host, &port) != 2 || port < 1 || port > 65535)
        return;
    target->address.sin_port = htons((uint16_t)port);
    target->networked = inet_pton(AF_INET, host, &target->address.sin_addr) == 1;
}

int wire_target_of(const char *uri, struct wire_target *target)
{
    const char *network = strncmp(uri, "tcp:", 4) ? strstr(uri, ";tcp:") : uri;
    *target = (struct wire_target){.address = {.sin_family = AF_INET}};
    if (!strncmp(uri, "unix:", 5))
        take_path(target, uri + 5, network ? (size_t)(network - uri - 5) : strlen(uri + 5));
    if (network)
        take_address(target, strstr(network, "tcp:") + 4);
    return target->path[0] || target->networked ? 0 : -1;
}

static void try_now(evutil_socket_t fd, short what, void *context);

/* ---- Requests --------------------------------------------------------------------------------- */

static void end_ask(struct ask *ask, cJSON *answer, const struct error *why)
{
    TAILQ_REMOVE(&ask->link->asks, ask, at);
    if (ask->late)
        event_free(ask->late);
    ask->answered(ask->context, answer, why);
    free(ask);
}

static void end_asks(struct wire_link *link, const char *why)
{
    struct error error;
    struct ask *ask;
    error_set(&error, ERROR_FAILED, "%s", why);
    while ((ask = TAILQ_FIRST(&link->asks)))
        end_ask(ask, NULL, &error);
}

static void on_late(evutil_socket_t fd, short what, void *context)
{
    struct ask *ask = context;
    struct error error;
    (void)fd, (void)what;
    if (ask->link->attached)
        error_set(&error, ERROR_TIMEOUT, "no answer came in time");
    else /* it was over before this was asked */
        error_set(&error, ERROR_FAILED, "the job has ended");
    end_ask(ask, NULL, &error);
}

static void take_answer(struct wire_link *link, const cJSON *message)
{
    int64_t id = json_int64(message, "id", -1);
    struct ask *ask;
    TAILQ_FOREACH(ask, &link->asks, at)
    if (ask->id == id) {
        cJSON *answer = cJSON_Duplicate(message, 1);
        cJSON_DeleteItemFromObjectCaseSensitive(answer, "id");
        end_ask(ask, answer, NULL);
        return;
    }
}

static int send_request(struct wire_link *link, const cJSON *request, int64_t id)
{
    size_t length;
    char *text = wire_line_text_numbered(request, (double)id, &length);
    if (!text)
        return -1;
    if (link->line)
        wire_line_send_text(link->line, text, length); /* one that is gone is told of */
    free(text);
    return 0;
}

int wire_link_ask(struct wire_link *link, const cJSON *request, double seconds,
                  void (*answered)(void *context, cJSON *answer, const struct error *why), void *context)
{
    struct ask *ask = calloc(1, sizeof *ask);
    if (!ask)
        return -1;
    *ask = (struct ask){.link = link, .id = ++link->asked, .answered = answered, .context = context};
    ask->late = seconds > 0 || !link->attached ? evtimer_new(link->base, on_late, ask) : NULL;
    if (((seconds > 0 || !link->attached) && !ask->late) || send_request(link, request, ask->id)) {
        if (ask->late)
            event_free(ask->late);
        free(ask);
        return -1;
    }
    TAILQ_INSERT_TAIL(&link->asks, ask, at);
    if (ask->late)
        wire_timer_set(ask->late, link->attached ? seconds : 0);
    return 0;
}

/* ---- The end ------------------------------------------------------------------------------------ */

static void drop_line(struct wire_link *link, bool gently)
{
    pthread_mutex_lock(&link->lock);
    struct wire_line *line = link->line;
    link->line = NULL;
    link->attached = false;
    pthread_mutex_unlock(&link->lock);
    if (line && gently)
        wire_line_finish(line, farewell);
    else if (line)
        wire_line_close(line);
}

static void end(struct wire_link *link, bool lost)
{
    drop_line(link, false);
    evtimer_del(link->again);
    if (link->relay)
        wire_relay_attached(link->relay, NULL);
    end_asks(link, "the job has ended");
    if (link->ops->ended)
        link->ops->ended(link->context, lost);
}

static void fail(struct wire_link *link, enum error_code code, const char *text)
{
    struct error error;
    if (link->kept) { /* it had been attached */
        end(link, true);
        return;
    }
    drop_line(link, false);
    evtimer_del(link->again);
    if (link->relay)
        wire_relay_attached(link->relay, NULL);
    error_set(&error, code, "cannot attach to the job: %s", text);
    link->ops->attached(link->context, &error);
}

/* ---- Attaching ------------------------------------------------------------------------------------ */

static void try_again(struct wire_link *link, const char *why)
{
    double left = link->deadline - monotonic_seconds();
    char text[300];
    if (why != link->last)
        snprintf(link->last, sizeof link->last, "%s", why);
    drop_line(link, false);
    if (link->target.networked) /* the path may be another host's of the same name, or another user's view of it */
        link->target.path[0] = '\0';
    if (left > 0) {
        wire_timer_set(link->again, link->pause < left ? link->pause : left);
        link->pause = 2 * link->pause < rarest ? 2 * link->pause : rarest;
        return;
    }
    snprintf(text, sizeof text, "no answer in time (%s)", link->last);
    fail(link, ERROR_TIMEOUT, text);
}

bool wire_link_unreached(const struct wire_link *link)
{
    return link->unreached;
}

/* A job that is busy, or stands still, is connected to all the same. */
static bool is_connected(const struct wire_link *link)
{
    struct sockaddr_storage other;
    socklen_t size = sizeof other;
    return link->line && !getpeername(wire_line_fd(link->line), (struct sockaddr *)&other, &size);
}

static void introduce(struct wire_link *link)
{
    char code[PROOF_MAX], about[64];
    cJSON *message = json_message(WIRE_ATTACH);
    cJSON_AddStringToObject(message, "role", link->role);
    if (link->process >= 0)
        cJSON_AddNumberToObject(message, "process", link->process);
    if (!link->by_path) {
        attach_about(about, sizeof about, link->role, link->process);
        proof_make(code, link->token, PROOF_CLIENT, link->challenge, link->server, about);
        cJSON_AddStringToObject(message, "challenge", link->challenge);
        cJSON_AddStringToObject(message, "proof", code);
    }
    wire_line_send(link->line, message);
    cJSON_Delete(message);
}

static void take_challenge(struct wire_link *link, const cJSON *message)
{
    const char *challenge = json_text(message, "challenge");
    snprintf(link->server, sizeof link->server, "%s", challenge ? challenge : "");
    if (proof_random(link->challenge))
        fail(link, ERROR_FAILED, "the kernel gives no random numbers");
    else
        introduce(link);
}

/* Whoever listens there now does not know the token. */
static bool is_the_job(const struct wire_link *link, const cJSON *message)
{
    char code[PROOF_MAX], about[64];
    if (link->by_path)
        return true;
    attach_about(about, sizeof about, link->role, link->process);
    proof_make(code, link->token, PROOF_SERVER, link->challenge, link->server, about);
    return proof_is(code, json_text(message, "proof"));
}

/* What was said while it had no relay. With the lock held. */
static void send_kept(struct wire_link *link)
{
    size_t length = link->kept ? evbuffer_get_length(link->kept) : 0;
    if (length)
        wire_line_send_text(link->line, (const char *)evbuffer_pullup(link->kept, -1), length);
    if (link->kept)
        evbuffer_free(link->kept);
    link->kept = NULL;
}

static void take_attached(struct wire_link *link, const cJSON *message)
{
    if (!is_the_job(link, message)) {
        fail(link, ERROR_FAILED, "what answers at its address is not the job");
        return;
    }
    evtimer_del(link->again);
    bool moved = link->kept;
    pthread_mutex_lock(&link->lock);
    link->attached = true;
    send_kept(link);
    pthread_mutex_unlock(&link->lock);
    if (link->relay && !link->by_path)
        wire_relay_attached(link->relay, link->line);
    if (!moved)
        link->ops->attached(link->context, NULL);
}

static void take_refused(struct wire_link *link, const cJSON *message)
{
    const char *reason = json_text(message, "reason");
    if (json_true(message, "again"))
        try_again(link, reason ? reason : "refused");
    else
        fail(link, ERROR_REFUSED, reason ? reason : "refused");
}

static void take_first(struct wire_link *link, const char *op, const cJSON *message)
{
    if (!strcmp(op, WIRE_CHALLENGE) && !link->by_path)
        take_challenge(link, message);
    else if (!strcmp(op, WIRE_ATTACHED))
        take_attached(link, message);
    else if (!strcmp(op, WIRE_REFUSED))
        take_refused(link, message);
    else
        fail(link, ERROR_FAILED, "what answers at its address is not the job");
}

/* The relay goes: this is the last that is said by it. */
static void begin_to_move(struct wire_link *link)
{
    cJSON *moved = json_message(WIRE_MOVED);
    pthread_mutex_lock(&link->lock);
    if (!link->leaving && !link->kept && (link->kept = evbuffer_new()))
        wire_line_send(link->line, moved);
    pthread_mutex_unlock(&link->lock);
    cJSON_Delete(moved);
}

/* And that was the last to be heard by it. */
static void move(struct wire_link *link)
{
    drop_line(link, false);
    link->deadline = monotonic_seconds() + move_limit;
    link->pause = soonest;
    wire_timer_set(link->again, 0);
}

static void on_message(void *context, const cJSON *message)
{
    struct wire_link *link = context;
    const char *op = json_text(message, "op");
    if (!link->attached)
        take_first(link, op ? op : "", message);
    else if (link->relay && wire_relay_take(link->relay, message))
        return;
    else if (op && !strcmp(op, WIRE_MOVE))
        begin_to_move(link);
    else if (op && !strcmp(op, WIRE_BYE) && link->kept)
        move(link);
    else if (op && !strcmp(op, WIRE_BYE))
        end(link, false);
    else if (!op && cJSON_HasObjectItem(message, "id"))
        take_answer(link, message);
    else
        link->ops->message(link->context, message);
}

static void on_gone(void *context, const char *why)
{
    struct wire_link *link = context;
    /* A job listens before anybody has its address, and until its end. */
    bool ended = !link->by_path && !strcmp(why, strerror(ECONNREFUSED));
    link->unreached = !strcmp(why, strerror(ETIMEDOUT)) || !strcmp(why, strerror(EHOSTUNREACH));
    if (link->attached)
        end(link, true);
    else if (ended)
        fail(link, ERROR_FAILED, why);
    else
        try_again(link, why);
}

/* Whoever listens at the path is of this user: nothing else is shown there. A descriptor, or -1 with errno. */
static int reach_path(const char *path)
{
    uid_t user;
    int fd = wire_connect_path(path);
    if (fd < 0 || (wire_socket_user(fd, &user) && user == geteuid()))
        return fd;
    close(fd);
    errno = EACCES;
    return -1;
}

/* A descriptor, or -1 with errno. */
static int reach(struct wire_link *link)
{
    int fd = -1;
    enum wire_way way = WIRE_ALONE;
    link->by_path = link->target.path[0];
    if (link->by_path)
        return reach_path(link->target.path);
    if (link->relay)
        way = wire_relay_seek(link->relay, &fd);
    link->by_path = way == WIRE_FOLLOWS;
    if (way == WIRE_WAITS)
        errno = EAGAIN;
    if (way == WIRE_FOLLOWS || way == WIRE_WAITS)
        return fd;
    fd = wire_connect_address((const struct sockaddr *)&link->target.address, sizeof link->target.address);
    if (fd >= 0)
        wire_socket_tune(fd);
    return fd;
}

/* For the job's end, the network's limits: a try that hangs is given up when the time is over. */
static void try_now(evutil_socket_t ignored, short what, void *context)
{
    static const struct wire_line_ops ops = {.message = on_message, .gone = on_gone};
    static const struct wire_limits limits = {.line = LINE_MOST};
    struct wire_link *link = context;
    (void)ignored, (void)what;
    if (link->line || monotonic_seconds() >= link->deadline) {
        link->unreached |= link->line && !is_connected(link);
        link->deadline = 0;
        try_again(link, link->last[0] ? link->last : "it does not answer");
        return;
    }
    int fd = reach(link);
    bool in_vain = fd < 0 && errno != EAGAIN && errno != EINTR && errno != EMFILE && errno != ENFILE;
    if (in_vain && !(link->by_path && link->target.networked)) {
        fail(link, ERROR_FAILED, strerror(errno));
        return;
    }
    struct wire_line *line = fd >= 0 ? wire_line_new(link->base, fd, &limits, &ops, link) : NULL;
    if (!line) {
        try_again(link, fd < 0 ? strerror(errno) : "no memory");
        return;
    }
    link->line = line;
    if (link->relay)
        wire_line_hand(line, &limits, WIRE_MEMBERS, &ops, link);
    wire_timer_set(link->again, link->deadline - monotonic_seconds());
    if (link->by_path)
        introduce(link);
}

static void on_empty(void *context)
{
    const struct wire_link *link = context;
    if (link->alone)
        link->alone(link->context);
}

static const struct wire_relay_ops relay_ops = {.own = on_message, .empty = on_empty};

struct wire_link *wire_link_open(struct event_base *base, const char *uri, const char *token, enum wire_role role,
                                 int process, const struct wire_link_ops *ops, void *context, double seconds,
                                 struct error *error)
{
    static const char *const names[] = {[WIRE_MEMBER] = "member", [WIRE_TOOL] = "tool", [WIRE_LIFELINE] = "lifeline"};
    struct wire_link *link = calloc(1, sizeof *link);
    if (!link || !(link->again = evtimer_new(base, try_now, link))) {
        free(link);
        error_memory(error);
        return NULL;
    }
    link->base = base;
    link->ops = ops;
    link->context = context;
    link->role = names[role];
    link->process = role == WIRE_MEMBER ? process : -1;
    link->deadline = monotonic_seconds() + seconds;
    link->pause = soonest;
    snprintf(link->token, sizeof link->token, "%s", token);
    pthread_mutex_init(&link->lock, NULL);
    TAILQ_INIT(&link->asks);
    if (wire_target_of(uri, &link->target)) {
        error_set(error, ERROR_FAILED, "cannot attach to the job: '%s' is no address of it from this host", uri);
        wire_link_close(link);
        return NULL;
    }
    if (role == WIRE_MEMBER && !link->target.path[0])
        link->relay = wire_relay_new(base, token, process, &relay_ops, link); /* NULL: it does without */
    wire_timer_set(link->again, 0);
    return link;
}

static int keep(struct evbuffer *kept, const cJSON *message)
{
    size_t length;
    char *text = wire_line_text(message, &length);
    int failed = text ? evbuffer_add(kept, text, length) : -1;
    cJSON_free(text);
    return failed;
}

/* With the lock held. */
static int send_message(struct wire_link *link, const cJSON *message)
{
    if (link->kept)
        return keep(link->kept, message);
    return link->line && link->attached ? wire_line_send(link->line, message) : -1;
}

int wire_link_tell(struct wire_link *link, const cJSON *message)
{
    pthread_mutex_lock(&link->lock);
    int failed = send_message(link, message);
    pthread_mutex_unlock(&link->lock);
    return failed;
}

int wire_link_leave(struct wire_link *link)
{
    cJSON *bye = json_message(WIRE_BYE);
    pthread_mutex_lock(&link->lock);
    link->leaving = true;
    int failed = send_message(link, bye);
    pthread_mutex_unlock(&link->lock);
    cJSON_Delete(bye);
    return failed;
}

bool wire_link_carries(struct wire_link *link, void (*alone)(void *context))
{
    link->alone = alone;
    return link->relay && wire_relay_count(link->relay);
}

void wire_link_step_aside(struct wire_link *link)
{
    if (link->relay)
        wire_relay_step_down(link->relay);
}

void wire_link_close(struct wire_link *link)
{
    if (link->attached)
        wire_link_leave(link);
    wire_relay_free(link->relay);
    drop_line(link, true);
    end_asks(link, "the connection was closed");
    event_free(link->again);
    if (link->kept)
        evbuffer_free(link->kept);
    pthread_mutex_destroy(&link->lock);
    free(link);
}
