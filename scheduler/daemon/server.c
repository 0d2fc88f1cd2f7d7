/* The clients of a daemon of epoprm: who is admitted, how long each may be silent, who gets events. */
#include "scheduler/daemon/server.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "runtime/wire/line.h"
#include "runtime/wire/loop.h"
#include "runtime/wire/socket.h"
#include "scheduler/daemon/answers.h"

/* Places: of those who ask, of those who watch, and of long requests that come: an environment and arguments. */
enum { ASKERS = 128, WATCHERS = 128, LONG_ONES = 4 };
enum { SHORT = 64 << 10, LONGEST = 16 << 20, UNSENT = 16 << 20 }; /* bytes */
/* Seconds until one is let go who has not said anything whole: usually, and when others wait in front of the door; who
 * asks nothing, and watches nothing: longer than stop waits; for what was answered last. */
static const double greeting = 10, hurried = 1, silence = 300, farewell = 5;
static const struct wire_limits limits = {.line = LONGEST + SHORT, .unsent = UNSENT};

struct client {
    struct server *server;
    struct wire_line *line;
    struct event *idle;
    bool asked, watches; /* it has said something; it hears events */
    bool is_long;        /* it has one of the places for long requests */
    bool waits;          /* for such a place, or for answers to be taken: it is not read from */
    TAILQ_ENTRY(client) at;
};

struct server {
    struct event_base *base;
    const struct daemon_table *table;
    void *context;
    char *path;
    struct wire_listener *listener;
    TAILQ_HEAD(clients, client) clients; /* the oldest first */
    int askers, watchers, long_ones;
};

/* ---- A client ----------------------------------------------------------------------------- */

static void hold_client(struct client *client, bool waits)
{
    client->waits = waits;
    wire_line_hold(client->line, waits);
}

/* Those who wait for it go on; whoever needs it first has it. */
static void give_long_place(struct client *client)
{
    struct client *other;
    if (!client->is_long)
        return;
    client->is_long = false;
    client->server->long_ones--;
    TAILQ_FOREACH(other, &client->server->clients, at)
    if (other->waits && wire_line_is_sent(other->line))
        hold_client(other, false);
}

/* Who comes when all places are taken waits; those who have said nothing yet do not have long then. */
static void look_after_door(struct server *server)
{
    bool full = server->askers >= ASKERS;
    struct client *client;
    TAILQ_FOREACH(client, &server->clients, at)
    if (full && !client->asked && wire_timer_left(client->idle) > hurried)
        wire_timer_set(client->idle, hurried);
    wire_listener_hold(server->listener, full);
}

static void remove_client(struct client *client)
{
    struct server *server = client->server;
    give_long_place(client);
    TAILQ_REMOVE(&server->clients, client, at);
    *(client->watches ? &server->watchers : &server->askers) -= 1;
    look_after_door(server);
    event_free(client->idle);
    free(client);
}

/* What it is sent still goes out. */
static void let_go(struct client *client)
{
    wire_line_finish(client->line, farewell);
    remove_client(client);
}

static void send_json(struct client *client, cJSON *json)
{
    wire_line_send(client->line, json); /* one that is gone is told of */
    cJSON_Delete(json);
}

/* One that was about to ask would take it for the daemon's end. */
static void is_silent(evutil_socket_t fd, short what, void *context)
{
    struct client *client = context;
    (void)fd, (void)what;
    if (!client->asked)
        send_json(client, answers_refusal("busy", "too many talk to the daemon at a time: try again"));
    let_go(client);
}

static void begin_to_watch(struct client *client)
{
    if (client->watches)
        return;
    client->watches = true;
    client->server->askers--;
    client->server->watchers++;
    look_after_door(client->server);
}

/* Half a request is no reason to stay, either. One that does not take its answers is not asked for more. */
static void answer_client(struct client *client, const cJSON *request)
{
    const struct server *server = client->server;
    bool watches;
    cJSON *answer = answers_to(server->table, server->context, request, &watches);
    if (watches && !client->watches && server->watchers >= WATCHERS) {
        cJSON_Delete(answer);
        answer = answers_refusal("refused", "128 watch already");
    } else if (watches) {
        begin_to_watch(client);
    }
    client->asked = true;
    give_long_place(client);
    if (client->watches)
        evtimer_del(client->idle);
    else
        wire_timer_set(client->idle, silence);
    send_json(client, answer);
    if (!wire_line_is_sent(client->line))
        hold_client(client, true);
}

static void on_message(void *context, const cJSON *request)
{
    answer_client(context, request);
}

static void on_nonsense(void *context, const char *text)
{
    (void)text;
    answer_client(context, NULL);
}

/* A part of a request. */
static void on_part(void *context, size_t bytes)
{
    struct client *client = context;
    struct server *server = client->server;
    if (bytes > LONGEST) {
        send_json(client, answers_refusal("usage", "a request of more than 16 MiB"));
        let_go(client);
    } else if (bytes > SHORT && !client->is_long && server->long_ones >= LONG_ONES) {
        evtimer_del(client->idle); /* it is not its fault */
        hold_client(client, true);
    } else if (bytes > SHORT && !client->is_long) {
        client->is_long = true;
        server->long_ones++;
        wire_timer_set(client->idle, greeting);
    }
}

static void on_sent(void *context)
{
    struct client *client = context;
    if (client->waits)
        hold_client(client, false);
}

static void on_gone(void *context, const char *why)
{
    struct client *client = context;
    if (!strcmp(why, WIRE_NOT_READ))
        fprintf(stderr, "epoprm: a client is dropped: %s\n", why);
    let_go(client);
}

/* ---- New clients -------------------------------------------------------------------------- */

static struct client *new_client(struct server *server, int fd)
{
    static const struct wire_line_ops ops = {
        .message = on_message, .nonsense = on_nonsense, .gone = on_gone, .part = on_part, .sent = on_sent};
    struct client *client = calloc(1, sizeof *client);
    if (!client || !(client->idle = evtimer_new(server->base, is_silent, client))) {
        free(client);
        close(fd);
        return NULL;
    }
    client->line = wire_line_new(server->base, fd, &limits, &ops, client);
    if (client->line)
        return client;
    event_free(client->idle);
    free(client);
    return NULL;
}

static void admit_client(void *context, int fd)
{
    struct server *server = context;
    struct client *client;
    uid_t uid;
    if (!wire_socket_user(fd, &uid) || uid != geteuid()) {
        close(fd);
        return;
    }
    if (!(client = new_client(server, fd)))
        return;
    client->server = server;
    TAILQ_INSERT_TAIL(&server->clients, client, at);
    server->askers++;
    wire_timer_set(client->idle, greeting);
    look_after_door(server);
}

/* ---- The socket --------------------------------------------------------------------------- */

int server_open(struct server **result, const char *path, struct event_base *base, const struct daemon_table *table,
                void *context, struct error *error)
{
    struct server *server = calloc(1, sizeof *server);
    *result = NULL;
    if (!server || !(server->path = strdup(path))) {
        free(server);
        return error_memory(error);
    }
    *server = (struct server){.base = base, .table = table, .context = context, .path = server->path};
    TAILQ_INIT(&server->clients);
    int fd = wire_listen_path(path, error);
    server->listener = fd >= 0 ? wire_listener_new(base, fd, admit_client, server) : NULL;
    if (server->listener) {
        *result = server;
        return 0;
    }
    free(server->path);
    free(server);
    return fd < 0 ? -1 : error_memory(error);
}

void server_close(struct server *server)
{
    if (!server)
        return;
    while (!TAILQ_EMPTY(&server->clients)) {
        wire_line_close(TAILQ_FIRST(&server->clients)->line);
        remove_client(TAILQ_FIRST(&server->clients));
    }
    wire_listener_free(server->listener);
    unlink(server->path);
    free(server->path);
    free(server);
}

/* ---- Events ------------------------------------------------------------------------------- */

/* One that does not read them is told of by its line, and dropped then. */
void server_tell(void *context, const struct journal_event *event)
{
    struct server *server = context;
    struct client *client;
    size_t length;
    if (!server->watchers)
        return;
    cJSON *row = answers_event(event);
    char *text = wire_line_text(row, &length);
    TAILQ_FOREACH(client, &server->clients, at)
    if (text && client->watches)
        wire_line_send_text(client->line, text, length);
    cJSON_free(text);
    cJSON_Delete(row);
}
