/* Process 0's end of the wire: see server.h. */
#include "runtime/wire/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime/base/array.h"
#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/base/say.h"
#include "runtime/base/thread.h"
#include "runtime/wire/attach.h"
#include "runtime/wire/envelope.h"
#include "runtime/wire/line.h"
#include "runtime/wire/messages.h"
#include "runtime/wire/proof.h"
#include "runtime/wire/socket.h"

/* Of strangers: how many at a time of all addresses but this user's processes here, and of these; seconds and bytes. */
enum { STRANGERS_MOST = 128, OWN_STRANGERS_MOST = 512, FIRST_LINE_MOST = 4096 };
#define PATIENCE 5.0

/* Of tools: how many; requests that one, and all, may have open: beyond that it is not read from. Bytes. */
enum { TOOLS_MOST = 256, OPEN_MOST = 32, OPEN_MOST_OF_ALL = 512 };
enum { TOOL_LINE_MOST = 1 << 20, TOOL_UNSENT_MOST = 32 << 20, MEMBER_LINE_MOST = 256 << 20 };

enum { NUMBER_MOST = 1 << 22 }; /* of a member: the table has a place for each */

enum { DESCRIPTORS_BESIDE = 100 }; /* files of the program, MPI's connections, tools */

#define FAREWELL   0.2  /* seconds for what is still to be sent to one that goes */
#define MOVE_LIMIT 30.0 /* seconds that one whose relay has gone may take to attach again */

enum kind { STRANGER, MEMBER, TOOL, LIFELINE };

struct peer {
    struct wire_server *server;
    struct wire_line *line; /* NULL: a member that its host's relay brought, or that moves */
    enum kind kind;
    in_addr_t address; /* of a stranger; INADDR_ANY: a process of this user on this host */
    double since;
    char challenge[PROOF_MAX];
    int process;           /* a member's */
    struct peer *relay;    /* of a member that has no connection of its own; NULL: it moves to another one */
    struct evbuffer *kept; /* what is sent to it while it moves */
    struct event *late;    /* then it is lost */
    int *batch;            /* a relay's: for whom a line is, while it is being put together */
    size_t batch_count, batch_room;
    SLIST_ENTRY(peer) batched;
    bool watches, held, polite; /* polite: it has said goodbye */
    bool brings, gone;          /* a member: it is a relay; and nothing can be sent by it any more */
    int open;                   /* a tool's requests */
    TAILQ_ENTRY(peer) at;
};
TAILQ_HEAD(peers, peer);
SLIST_HEAD(batches, peer);

struct wire_request {
    struct peer *tool; /* NULL: gone */
    double id;
    TAILQ_ENTRY(wire_request) at;
};

struct wire_server {
    const struct wire_server_ops *ops;
    void *context;
    struct event_base *base;
    pthread_t thread;
    struct wire_listener *here, *network;
    struct event *patience; /* the oldest stranger's */
    struct event *eased;    /* requests were answered: tools may go on */
    struct event *quit;
    char path[400], uri[WIRE_URI_MAX], token[WIRE_TOKEN_MAX];
    struct peers strangers;
    int stranger_count, own_stranger_count;
    /* The loop's thread changes it, with the lock; others read it with the lock. */
    pthread_mutex_t lock;
    pthread_cond_t fewer;
    struct peers tools, lifelines;
    struct peer **members; /* by process; NULL: not attached */
    size_t member_room, places;
    int member_count, tool_count, open; /* open: requests that wait, also of tools that have gone */
    bool holding;                       /* some tool is not read from */
    bool over, ending;                  /* the program has ended everywhere; and: the server goes */
    TAILQ_HEAD(, wire_request) requests;
};

/* ---- Peers ------------------------------------------------------------------------------------ */

/* By a relay. -1: it is gone, or no memory. */
static int send_by(const struct peer *relay, const int *processes, size_t count, const char *text, size_t length)
{
    size_t size;
    char *line = relay->gone ? NULL : envelope_text(WIRE_FOR, processes, count, "say", text, length - 1, &size);
    int failed = line ? wire_line_send_text(relay->line, line, size) : -1;
    free(line);
    return failed;
}

/* One line, with its end. With the lock held, if others may send to it. */
static int send_text(struct peer *peer, const char *text, size_t length)
{
    if (peer->line)
        return wire_line_send_text(peer->line, text, length);
    if (peer->relay)
        return send_by(peer->relay, &peer->process, 1, text, length);
    return evbuffer_add(peer->kept, text, length);
}

static void send_message(struct peer *peer, const cJSON *message)
{
    size_t length;
    char *text = wire_line_text(message, &length);
    if (text)
        send_text(peer, text, length);
    cJSON_free(text);
}

static void say(struct peer *peer, const char *op, const char *name, const char *text)
{
    cJSON *message = json_message(op);
    if (name)
        cJSON_AddStringToObject(message, name, text);
    send_message(peer, message);
    cJSON_Delete(message);
}

static void free_peer(struct peer *peer)
{
    if (peer->late)
        event_free(peer->late);
    if (peer->kept)
        evbuffer_free(peer->kept);
    free(peer->batch);
    free(peer);
}

static void watch_patience(struct wire_server *server)
{
    const struct peer *oldest = TAILQ_FIRST(&server->strangers);
    if (oldest)
        wire_timer_set(server->patience, oldest->since + PATIENCE - monotonic_seconds());
    else
        evtimer_del(server->patience);
}

static void leave_strangers(struct peer *peer)
{
    struct wire_server *server = peer->server;
    TAILQ_REMOVE(&server->strangers, peer, at);
    server->stranger_count--;
    server->own_stranger_count -= peer->address == INADDR_ANY;
    watch_patience(server);
}

static void drop_stranger(struct peer *peer)
{
    leave_strangers(peer);
    wire_line_finish(peer->line, FAREWELL);
    free_peer(peer);
}

static void on_patience(evutil_socket_t fd, short what, void *context)
{
    struct wire_server *server = context;
    struct peer *oldest;
    (void)fd, (void)what;
    while ((oldest = TAILQ_FIRST(&server->strangers)) && monotonic_seconds() - oldest->since >= PATIENCE)
        drop_stranger(oldest);
    watch_patience(server);
}

/* The first of its requests that is still its own, which is nobody's then. NULL: there is none. */
static struct wire_request *orphan(const struct peer *tool)
{
    struct wire_server *server = tool->server;
    struct wire_request *request;
    pthread_mutex_lock(&server->lock);
    TAILQ_FOREACH(request, &server->requests, at)
    if (request->tool == tool)
        break;
    if (request)
        request->tool = NULL;
    pthread_mutex_unlock(&server->lock);
    return request;
}

/* Whoever is told compares the handle, and does not look into it: it may have been answered by then. */
static void abandon(const struct peer *tool)
{
    const struct wire_server *server = tool->server;
    for (struct wire_request *request; (request = orphan(tool));)
        if (server->ops->abandoned)
            server->ops->abandoned(server->context, request);
}

/* Out of the table, so that nobody else sends to it. Does the job go on? */
static bool unlist(struct peer *peer)
{
    struct wire_server *server = peer->server;
    pthread_mutex_lock(&server->lock);
    bool goes_on = !server->ending;
    peer->gone = true;
    if (peer->kind == MEMBER) {
        server->members[peer->process] = NULL;
        server->member_count--;
    } else {
        TAILQ_REMOVE(peer->kind == TOOL ? &server->tools : &server->lifelines, peer, at);
        server->tool_count -= peer->kind == TOOL;
    }
    pthread_cond_broadcast(&server->fewer);
    pthread_mutex_unlock(&server->lock);
    return goes_on;
}

static void part_with(struct peer *peer);

/* With a relay those are gone that it brought. */
static void part_with_brought(const struct peer *relay)
{
    const struct wire_server *server = relay->server;
    for (size_t i = 0; i < server->places; i++)
        if (server->members[i] && server->members[i]->relay == relay)
            part_with(server->members[i]);
}

static void part_with(struct peer *peer)
{
    struct wire_server *server = peer->server;
    const struct wire_server_ops *ops = server->ops;
    bool goes_on = unlist(peer);
    if (peer->kind == TOOL)
        abandon(peer);
    if (peer->line)
        wire_line_finish(peer->line, FAREWELL);
    if (peer->kind == MEMBER && !peer->polite && goes_on && ops->lost)
        ops->lost(server->context, peer->process);
    if (peer->kind == MEMBER && ops->closed)
        ops->closed(server->context, peer->process);
    if (peer->brings)
        part_with_brought(peer);
    free_peer(peer);
}

static void on_gone(void *context, const char *why)
{
    struct peer *peer = context;
    if (peer->kind == TOOL && !strcmp(why, "it does not read what it is sent"))
        say_line("a client is dropped: it does not read what it is sent");
    if (peer->kind == STRANGER)
        drop_stranger(peer);
    else
        part_with(peer);
}

/* ---- Requests ----------------------------------------------------------------------------------- */

static bool has_too_many(const struct peer *tool)
{
    return tool->open >= OPEN_MOST || (tool->open && tool->server->open >= OPEN_MOST_OF_ALL);
}

/* With the lock held. */
static void hold_or_go_on(struct peer *tool)
{
    tool->held = has_too_many(tool);
    tool->server->holding |= tool->held;
    wire_line_hold(tool->line, tool->held);
}

static void on_eased(evutil_socket_t fd, short what, void *context)
{
    struct wire_server *server = context;
    struct peer *tool;
    (void)fd, (void)what;
    pthread_mutex_lock(&server->lock);
    server->holding = false;
    TAILQ_FOREACH(tool, &server->tools, at)
    if (tool->held)
        hold_or_go_on(tool);
    pthread_mutex_unlock(&server->lock);
}

static struct wire_request *open_request(struct peer *tool, const cJSON *json)
{
    struct wire_server *server = tool->server;
    struct wire_request *request = calloc(1, sizeof *request);
    if (!request)
        return NULL;
    double id = json_number(json, "id", 0);
    *request = (struct wire_request){.tool = tool, .id = isfinite(id) ? id : 0};
    pthread_mutex_lock(&server->lock);
    TAILQ_INSERT_TAIL(&server->requests, request, at);
    tool->open++;
    server->open++;
    hold_or_go_on(tool);
    pthread_mutex_unlock(&server->lock);
    return request;
}

static void take_request(struct peer *tool, const cJSON *json)
{
    struct wire_server *server = tool->server;
    const char *op = json_text(json, "op");
    struct wire_request *request = open_request(tool, json);
    if (!request) {
        part_with(tool);
        return;
    }
    if (op && !strcmp(op, REQUEST(watch))) {
        cJSON *answer = cJSON_CreateObject();
        cJSON_AddTrueToObject(answer, "ok");
        pthread_mutex_lock(&server->lock);
        tool->watches = true;
        pthread_mutex_unlock(&server->lock);
        wire_server_answer(server, request, answer);
        cJSON_Delete(answer);
    } else {
        cJSON_DeleteItemFromObjectCaseSensitive((cJSON *)json, "id"); /* it is between the two ends of the connection */
        server->ops->request(server->context, request, json);
    }
}

/* With the lock held: an answer has the number of its request. */
static void send_answer(const struct wire_request *request, const cJSON *answer)
{
    size_t length;
    char *text = wire_line_text_numbered(answer, request->id, &length);
    if (text)
        wire_line_send_text(request->tool->line, text, length);
    free(text);
}

/* With the lock held. A request is answered once, whoever comes first. */
static bool is_open(struct wire_server *server, const struct wire_request *request)
{
    const struct wire_request *at;
    TAILQ_FOREACH(at, &server->requests, at)
    if (at == request)
        return true;
    return false;
}

void wire_server_answer(struct wire_server *server, struct wire_request *request, const cJSON *answer)
{
    pthread_mutex_lock(&server->lock);
    if (is_open(server, request)) {
        if (request->tool) {
            send_answer(request, answer);
            request->tool->open--;
        }
        server->open--;
        if (server->holding)
            event_active(server->eased, EV_TIMEOUT, 0);
        TAILQ_REMOVE(&server->requests, request, at);
        free(request);
    }
    pthread_mutex_unlock(&server->lock);
}

static void answer_all(struct wire_server *server)
{
    cJSON *answer = cJSON_CreateObject();
    struct wire_request *request;
    cJSON_AddFalseToObject(answer, "ok");
    cJSON_AddStringToObject(answer, "code", "ended");
    cJSON_AddStringToObject(answer, "reason", "the job has ended");
    while (pthread_mutex_lock(&server->lock), request = TAILQ_FIRST(&server->requests),
           pthread_mutex_unlock(&server->lock), request)
        wire_server_answer(server, request, answer);
    cJSON_Delete(answer);
}

/* ---- What comes -------------------------------------------------------------------------------- */

/* The member of that number, if this relay has brought it. */
static struct peer *brought_by(const struct peer *relay, int process)
{
    const struct wire_server *server = relay->server;
    size_t place = (size_t)process;
    bool there = process > 0 && place < server->places && server->members[place];
    return there && server->members[place]->relay == relay ? server->members[place] : NULL;
}

static void on_late(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    part_with(context);
}

/* It has heard all that was sent to it by its relay when it hears the goodbye, and attaches again. */
static void let_move(struct peer *peer)
{
    struct evbuffer *kept = evbuffer_new();
    struct event *late = evtimer_new(peer->server->base, on_late, peer);
    pthread_mutex_lock(&peer->server->lock);
    say(peer, WIRE_BYE, NULL, NULL);
    peer->kept = kept;
    peer->late = late;
    if (kept && late)
        peer->relay = NULL;
    pthread_mutex_unlock(&peer->server->lock);
    if (peer->relay)
        part_with(peer);
    else
        wire_timer_set(late, MOVE_LIMIT);
}

static void part_politely(struct peer *peer)
{
    pthread_mutex_lock(&peer->server->lock);
    say(peer, WIRE_BYE, NULL, NULL);
    pthread_mutex_unlock(&peer->server->lock);
    peer->polite = true;
    part_with(peer);
}

static void take_said(const struct peer *relay, int *processes, size_t count, const cJSON *says)
{
    const struct wire_server *server = relay->server;
    const char *op = json_text(says, "op");
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        if (brought_by(relay, processes[i]))
            processes[known++] = processes[i];
    bool leaves = op && !strcmp(op, WIRE_BYE), moves = op && !strcmp(op, WIRE_MOVED);
    for (size_t i = 0; (leaves || moves) && i < known; i++)
        (leaves ? part_politely : let_move)(brought_by(relay, processes[i]));
    if (known && cJSON_IsObject(says) && !leaves && !moves && server->ops->message)
        server->ops->message(server->context, processes, (int)known, says);
}

static void bring(struct peer *relay, int process);

/* Of a relay, about the others of its host. Is it one? */
static bool take_relayed(struct peer *relay, const char *op, const cJSON *message)
{
    size_t count;
    int *processes = NULL, process = json_int(message, "process", -1);
    if (!strcmp(op, WIRE_BRINGS))
        bring(relay, process);
    else if (!strcmp(op, WIRE_MISSES) && brought_by(relay, process))
        part_with(brought_by(relay, process));
    else if (!strcmp(op, WIRE_OF) && (processes = envelope_processes(message, &count)))
        take_said(relay, processes, count, cJSON_GetObjectItemCaseSensitive(message, "says"));
    free(processes);
    return processes || !strcmp(op, WIRE_BRINGS) || !strcmp(op, WIRE_MISSES);
}

static void on_member_line(void *context, const cJSON *message)
{
    struct peer *peer = context;
    const struct wire_server *server = peer->server;
    const char *op = json_text(message, "op");
    if (op && !strcmp(op, WIRE_BYE))
        peer->polite = true;
    else if (!(op && take_relayed(peer, op, message)) && server->ops->message)
        server->ops->message(server->context, &peer->process, 1, message);
    if (peer->polite)
        part_with(peer);
}

static void on_tool_line(void *context, const cJSON *message)
{
    const char *op = json_text(message, "op");
    if (op && !strcmp(op, WIRE_BYE))
        part_with(context);
    else
        take_request(context, message);
}

static void on_idle_line(void *context, const cJSON *message)
{
    (void)message;
    part_with(context);
}

static const struct wire_line_ops member_ops = {.message = on_member_line, .gone = on_gone},
                                  tool_ops = {.message = on_tool_line, .gone = on_gone},
                                  lifeline_ops = {.message = on_idle_line, .gone = on_gone};
static const struct wire_limits member_limits = {.line = MEMBER_LINE_MOST},
                                tool_limits = {.line = TOOL_LINE_MOST, .unsent = TOOL_UNSENT_MOST},
                                stranger_limits = {.line = FIRST_LINE_MOST, .unsent = FIRST_LINE_MOST};

/* ---- Who comes --------------------------------------------------------------------------------- */

/* `again`: it may be otherwise soon. */
static void say_refused(struct peer *peer, const char *reason, bool again)
{
    cJSON *message = json_message(WIRE_REFUSED);
    cJSON_AddStringToObject(message, "reason", reason);
    cJSON_AddBoolToObject(message, "again", again);
    send_message(peer, message);
    cJSON_Delete(message);
}

static void refuse(struct peer *peer, const char *reason, bool again)
{
    say_refused(peer, reason, again);
    drop_stranger(peer);
}

/* The limit of open files stays as the user has set it until so many members need another. Twice their number: MPI may
 * have a connection of its own to each. */
static void make_descriptors(int members)
{
    struct rlimit limit;
    rlim_t wanted = 2 * (rlim_t)members + DESCRIPTORS_BESIDE;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= wanted || limit.rlim_cur == limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* One that moves is there again. What it is to hear is sent behind its welcome. */
static const char *take_moved(struct peer *peer, struct peer *before, bool *again)
{
    if (before->line || before->relay) {
        *again = true; /* it may be the one whose loss is still on its way */
        return "a process of that number is attached already";
    }
    peer->kept = before->kept;
    before->kept = NULL;
    peer->process = before->process;
    peer->kind = MEMBER;
    peer->server->members[peer->process] = peer;
    free_peer(before);
    return NULL;
}

static const char *take_member(struct peer *peer, int process, bool *again)
{
    struct wire_server *server = peer->server;
    size_t place = (size_t)process;
    if (process <= 0)
        return "a member has a number above 0";
    if (process > NUMBER_MOST)
        return "no member has so high a number";
    if (place < server->places && server->members[place])
        return take_moved(peer, server->members[place], again);
    if (array_reserve(&server->members, &server->member_room, place + 1, sizeof *server->members)) {
        *again = true;
        return "no memory";
    }
    while (server->places <= place)
        server->members[server->places++] = NULL;
    server->members[place] = peer;
    make_descriptors(++server->member_count);
    peer->process = process;
    peer->kind = MEMBER;
    return NULL;
}

static const char *take_tool(struct peer *peer, bool *again)
{
    struct wire_server *server = peer->server;
    if (server->tool_count >= TOOLS_MOST) {
        *again = true;
        return "too many clients are attached";
    }
    TAILQ_INSERT_TAIL(&server->tools, peer, at);
    server->tool_count++;
    peer->kind = TOOL;
    return NULL;
}

static const char *take_lifeline(struct peer *peer)
{
    TAILQ_INSERT_TAIL(&peer->server->lifelines, peer, at);
    peer->kind = LIFELINE;
    return NULL;
}

/* With the lock held, as it changes the table. NULL, or why not. */
static const char *place_peer(struct peer *peer, const char *role, int process, bool *again)
{
    if (peer->server->ending)
        return "the job has ended";
    if (role && !strcmp(role, "member"))
        return take_member(peer, process, again);
    if (role && !strcmp(role, "tool"))
        return take_tool(peer, again);
    if (role && !strcmp(role, "lifeline"))
        return peer->server->over ? "the job has ended" : take_lifeline(peer);
    return "there is no such role; known: member, tool, lifeline";
}

/* With the lock held, before anything else can be sent to it. Had it been a member before? */
static bool greet(struct peer *peer, const char *proof)
{
    struct evbuffer *kept = peer->kept;
    char *text;
    size_t length;
    say(peer, WIRE_ATTACHED, proof ? "proof" : NULL, proof);
    peer->kept = NULL;
    while (kept && (text = evbuffer_readln(kept, &length, EVBUFFER_EOL_LF))) {
        text[length] = '\n'; /* in the place of its end, which nobody looks for */
        send_text(peer, text, length + 1);
        free(text);
    }
    if (kept)
        evbuffer_free(kept);
    return kept;
}

static void give_role(struct peer *peer)
{
    static const struct {
        enum wire_priority priority;
        const struct wire_limits *limits;
        const struct wire_line_ops *ops;
    } roles[] = {[MEMBER] = {WIRE_MEMBERS, &member_limits, &member_ops},
                 [TOOL] = {WIRE_OTHERS, &tool_limits, &tool_ops},
                 [LIFELINE] = {WIRE_OTHERS, &stranger_limits, &lifeline_ops}};
    wire_line_hand(peer->line, roles[peer->kind].limits, roles[peer->kind].priority, roles[peer->kind].ops, peer);
}

static void welcome(struct peer *peer, const cJSON *message, const char *proof)
{
    struct wire_server *server = peer->server;
    bool again = false, moved = false;
    leave_strangers(peer);
    pthread_mutex_lock(&server->lock);
    const char *why = place_peer(peer, json_text(message, "role"), json_int(message, "process", -1), &again);
    if (!why)
        moved = greet(peer, proof);
    pthread_mutex_unlock(&server->lock);
    if (why) {
        TAILQ_INSERT_HEAD(&server->strangers, peer, at);
        server->stranger_count++;
        server->own_stranger_count += peer->address == INADDR_ANY;
        refuse(peer, why, again);
        return;
    }
    give_role(peer);
    if (peer->kind == MEMBER && !moved && server->ops->attached)
        server->ops->attached(server->context, peer->process);
}

/* A relay has shown that it knows the token, and knows who its host's processes are. */
static void bring(struct peer *relay, int process)
{
    struct wire_server *server = relay->server;
    struct peer *peer = calloc(1, sizeof *peer);
    bool again = false, moved = false;
    if (!peer)
        return; /* it tries again */
    *peer = (struct peer){.server = server, .relay = relay, .process = process};
    pthread_mutex_lock(&server->lock);
    const char *why = server->ending ? "the job has ended" : take_member(peer, process, &again);
    if (why)
        say_refused(peer, why, again);
    else
        moved = greet(peer, NULL);
    relay->brings |= !why;
    pthread_mutex_unlock(&server->lock);
    if (why)
        free_peer(peer);
    else if (!moved && server->ops->attached)
        server->ops->attached(server->context, process);
}

static void on_first_line(void *context, const cJSON *message)
{
    struct peer *peer = context;
    const struct wire_server *server = peer->server;
    const char *op = json_text(message, "op"), *challenge = json_text(message, "challenge");
    char code[PROOF_MAX], about[64];
    if (!op || strcmp(op, WIRE_ATTACH)) {
        refuse(peer, "the first line is to be an attach: see docs/reference/control.md", false);
        return;
    }
    if (peer->address == INADDR_ANY) {
        welcome(peer, message, NULL);
        return;
    }
    attach_about(about, sizeof about, json_text(message, "role"), json_int(message, "process", -1));
    proof_make(code, server->token, PROOF_CLIENT, challenge ? challenge : "", peer->challenge, about);
    if (!challenge || !proof_is(code, json_text(message, "proof"))) {
        refuse(peer, "the token is not that of this job", false);
        return;
    }
    proof_make(code, server->token, PROOF_SERVER, challenge, peer->challenge, about);
    welcome(peer, message, code);
}

static const struct wire_line_ops stranger_ops = {.message = on_first_line, .gone = on_gone};

/* The one who has been here for longest from the same address; if there is none, of all. */
static void make_room(struct wire_server *server, in_addr_t address)
{
    struct peer *same;
    if (address == INADDR_ANY ? server->own_stranger_count < OWN_STRANGERS_MOST
                              : server->stranger_count - server->own_stranger_count < STRANGERS_MOST)
        return;
    TAILQ_FOREACH(same, &server->strangers, at)
    if (same->address == address)
        break;
    if (!same)
        TAILQ_FOREACH(same, &server->strangers, at)
    if (same->address != INADDR_ANY)
        break;
    if (same)
        drop_stranger(same);
}

static struct peer *take_stranger(struct wire_server *server, int fd, in_addr_t address)
{
    struct peer *peer = calloc(1, sizeof *peer);
    if (!peer) {
        close(fd);
        return NULL;
    }
    make_room(server, address);
    *peer = (struct peer){.server = server, .address = address, .since = monotonic_seconds()};
    peer->line = wire_line_new(server->base, fd, &stranger_limits, &stranger_ops, peer);
    if (!peer->line) {
        free(peer);
        return NULL;
    }
    TAILQ_INSERT_TAIL(&server->strangers, peer, at);
    server->stranger_count++;
    server->own_stranger_count += address == INADDR_ANY;
    if (TAILQ_FIRST(&server->strangers) == peer)
        watch_patience(server);
    return peer;
}

static void on_newcomer_here(void *context, int fd)
{
    uid_t user;
    if (wire_socket_user(fd, &user) && user == geteuid())
        take_stranger(context, fd, INADDR_ANY);
    else
        close(fd);
}

static void on_newcomer(void *context, int fd)
{
    struct sockaddr_in address = {0};
    socklen_t size = sizeof address;
    getpeername(fd, (struct sockaddr *)&address, &size);
    wire_socket_tune(fd);
    struct peer *peer = take_stranger(context, fd, address.sin_addr.s_addr);
    if (peer && !proof_random(peer->challenge))
        say(peer, WIRE_CHALLENGE, "challenge", peer->challenge);
    else if (peer)
        drop_stranger(peer);
}

/* ---- Sending ------------------------------------------------------------------------------------ */

/* To several: those behind a relay get it in one line with it. With the lock held, as for the next ones. */
static void batch(struct batches *batches, struct peer *peer, const char *text, size_t length)
{
    struct peer *relay = peer->relay ? peer->relay : peer;
    if ((!peer->relay && !peer->brings) ||
        array_reserve(&relay->batch, &relay->batch_room, relay->batch_count + 1, sizeof *relay->batch)) {
        send_text(peer, text, length);
        return;
    }
    if (!relay->batch_count)
        SLIST_INSERT_HEAD(batches, relay, batched);
    relay->batch[relay->batch_count++] = peer->process;
}

static void send_batches(struct batches *batches, const char *text, size_t length)
{
    struct peer *relay;
    SLIST_FOREACH(relay, batches, batched)
    {
        if (relay->batch_count == 1 && relay->batch[0] == relay->process)
            send_text(relay, text, length);
        else
            send_by(relay, relay->batch, relay->batch_count, text, length);
        relay->batch_count = 0;
    }
}

int wire_server_send(struct wire_server *server, int process, const cJSON *message)
{
    struct batches batches = SLIST_HEAD_INITIALIZER(batches);
    size_t length, place = (size_t)process;
    char *text = wire_line_text(message, &length);
    int failed = -1;
    pthread_mutex_lock(&server->lock);
    if (text && process != WIRE_ALL && place < server->places && server->members[place])
        failed = send_text(server->members[place], text, length);
    for (size_t i = 0; text && process == WIRE_ALL && i < server->places; i++)
        if (server->members[i])
            batch(&batches, server->members[i], text, length);
    send_batches(&batches, text, length);
    pthread_mutex_unlock(&server->lock);
    cJSON_free(text);
    return process == WIRE_ALL ? 0 : failed;
}

void wire_server_send_all(struct wire_server *server, const int *processes, size_t count, const cJSON *message)
{
    struct batches batches = SLIST_HEAD_INITIALIZER(batches);
    size_t length;
    char *text = wire_line_text(message, &length);
    pthread_mutex_lock(&server->lock);
    for (size_t i = 0; text && i < count; i++) {
        size_t place = (size_t)processes[i];
        if (place < server->places && server->members[place])
            batch(&batches, server->members[place], text, length);
    }
    send_batches(&batches, text, length);
    pthread_mutex_unlock(&server->lock);
    cJSON_free(text);
}

void wire_server_publish(struct wire_server *server, const cJSON *event)
{
    struct peer *tool;
    size_t length;
    char *text = wire_line_text(event, &length);
    pthread_mutex_lock(&server->lock);
    TAILQ_FOREACH(tool, &server->tools, at)
    if (tool->watches && text)
        wire_line_send_text(tool->line, text, length);
    pthread_mutex_unlock(&server->lock);
    cJSON_free(text);
}

int wire_server_members(struct wire_server *server)
{
    pthread_mutex_lock(&server->lock);
    int count = server->member_count;
    pthread_mutex_unlock(&server->lock);
    return count;
}

const char *wire_server_uri(const struct wire_server *server)
{
    return server->uri;
}

/* ---- Its life ------------------------------------------------------------------------------------ */

static void *run(void *context)
{
    struct wire_server *server = context;
    event_base_loop(server->base, EVLOOP_NO_EXIT_ON_EMPTY);
    return NULL;
}

static void on_quit(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    event_base_loopbreak(((struct wire_server *)context)->base);
}

static int listen_here(struct wire_server *server, const char *path, struct error *error)
{
    char host[256];
    int fd = wire_listen_path(path, error);
    if (fd < 0)
        return -1;
    wire_host(host, sizeof host);
    snprintf(server->path, sizeof server->path, "%s", path);
    snprintf(server->uri, sizeof server->uri, "unix:%s:%s", host, path);
    server->here = wire_listener_new(server->base, fd, on_newcomer_here, server);
    return server->here ? 0 : error_memory(error);
}

static int listen_to_network(struct wire_server *server, const struct sockaddr_in *at, struct error *error)
{
    struct sockaddr_in address = *at;
    socklen_t size = sizeof address;
    char host[INET_ADDRSTRLEN];
    size_t used = strlen(server->uri);
    int fd = wire_listen_address((struct sockaddr *)&address, &size, error);
    if (fd < 0)
        return -1;
    inet_ntop(AF_INET, &address.sin_addr, host, sizeof host);
    snprintf(server->uri + used, sizeof server->uri - used, ";tcp:%s:%d", host, ntohs(address.sin_port));
    server->network = wire_listener_new(server->base, fd, on_newcomer, server);
    return server->network ? 0 : error_memory(error);
}

static int make_events(struct wire_server *server)
{
    server->base = wire_base_new();
    if (!server->base)
        return -1;
    server->patience = evtimer_new(server->base, on_patience, server);
    server->eased = event_new(server->base, -1, 0, on_eased, server);
    server->quit = event_new(server->base, -1, 0, on_quit, server);
    return server->patience && server->eased && server->quit ? 0 : -1;
}

static void free_server(struct wire_server *server)
{
    struct event *events[] = {server->patience, server->eased, server->quit};
    wire_listener_free(server->here);
    wire_listener_free(server->network);
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i])
            event_free(events[i]);
    if (server->base)
        event_base_free(server->base);
    if (server->path[0])
        unlink(server->path);
    pthread_cond_destroy(&server->fewer);
    pthread_mutex_destroy(&server->lock);
    free(server->members);
    free(server);
}

int wire_server_room(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_max > INT_MAX)
        return INT_MAX;
    return limit.rlim_max > DESCRIPTORS_BESIDE ? (int)limit.rlim_max - DESCRIPTORS_BESIDE : 0;
}

static int begin(struct wire_server *server, const struct wire_place *place, struct error *error)
{
    snprintf(server->token, sizeof server->token, "%s", place->token);
    if (make_events(server))
        return error_set(error, ERROR_FAILED, "cannot start the control server: no memory, or no descriptors");
    if (listen_here(server, place->path, error) || (place->address && listen_to_network(server, place->address, error)))
        return -1;
    if (thread_start(&server->thread, run, server))
        return error_set(error, ERROR_FAILED, "cannot start the control server: no thread");
    return 0;
}

struct wire_server *wire_server_open(const struct wire_place *place, const struct wire_server_ops *ops, void *context,
                                     struct error *error)
{
    struct wire_server *server = calloc(1, sizeof *server);
    if (!server) {
        error_memory(error);
        return NULL;
    }
    server->ops = ops;
    server->context = context;
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->fewer, NULL);
    TAILQ_INIT(&server->strangers);
    TAILQ_INIT(&server->tools);
    TAILQ_INIT(&server->lifelines);
    TAILQ_INIT(&server->requests);
    if (!begin(server, place, error))
        return server;
    free_server(server);
    return NULL;
}

void wire_server_tell_end(struct wire_server *server)
{
    struct peer *peer;
    pthread_mutex_lock(&server->lock);
    server->over = true;
    TAILQ_FOREACH(peer, &server->lifelines, at)
    shutdown(wire_line_fd(peer->line), SHUT_RDWR); /* the loop's thread does the rest */
    pthread_mutex_unlock(&server->lock);
}

void wire_server_drain(struct wire_server *server, bool with_tools, int timeout_ms)
{
    struct timespec deadline = clock_in(CLOCK_MONOTONIC, timeout_ms / 1e3);
    int result = 0;
    pthread_mutex_lock(&server->lock);
    while ((server->member_count || (with_tools && server->tool_count)) && result != ETIMEDOUT)
        result = pthread_cond_clockwait(&server->fewer, &server->lock, CLOCK_MONOTONIC, &deadline);
    pthread_mutex_unlock(&server->lock);
}

static void say_goodbye(struct wire_server *server)
{
    struct peer *tool;
    wire_server_tell_end(server);
    answer_all(server);
    pthread_mutex_lock(&server->lock);
    server->ending = true;
    TAILQ_FOREACH(tool, &server->tools, at)
    say(tool, WIRE_BYE, NULL, NULL);
    for (size_t i = 0; i < server->places; i++)
        if (server->members[i])
            say(server->members[i], WIRE_BYE, NULL, NULL);
    pthread_mutex_unlock(&server->lock);
}

/* When its thread has ended. */
static void close_all(struct wire_server *server)
{
    struct peers *lists[] = {&server->strangers, &server->tools, &server->lifelines};
    struct peer *peer;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        while ((peer = TAILQ_FIRST(lists[i]))) {
            TAILQ_REMOVE(lists[i], peer, at);
            wire_line_close(peer->line);
            free_peer(peer);
        }
    for (size_t i = 0; i < server->places; i++)
        if (server->members[i]) {
            if (server->members[i]->line)
                wire_line_close(server->members[i]->line);
            free_peer(server->members[i]);
        }
}

void wire_server_farewell(struct wire_server *server, int timeout_ms)
{
    say_goodbye(server);
    wire_server_drain(server, true, timeout_ms);
}

void wire_server_close(struct wire_server *server)
{
    event_active(server->quit, EV_TIMEOUT, 0);
    pthread_join(server->thread, NULL);
    answer_all(server);
    close_all(server);
    free_server(server);
}
