/* A host's relay: see relay.h. */
#include "runtime/wire/relay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "runtime/base/array.h"
#include "runtime/base/json.h"
#include "runtime/wire/attach.h"
#include "runtime/wire/envelope.h"
#include "runtime/wire/messages.h"
#include "runtime/wire/proof.h"
#include "runtime/wire/socket.h"

#define FAREWELL 0.2  /* seconds for what is still to be sent to one that goes */
#define PATIENCE 0.02 /* seconds that what some have said waits for what the others say */
enum { LINE_MOST = 256 << 20, GROUPS_MOST = 64 };

/* Of those who have not said yet who they are, as at the server: how many, seconds, bytes. */
#define STRANGER_SECONDS 5.0
enum { STRANGERS_MOST = 512, FIRST_LINE_MOST = 4096 };

struct follower {
    struct wire_relay *relay;
    struct wire_line *line;
    int process;        /* -1: it has not said so far */
    struct event *late; /* then it has to */
    bool brought, attached;
    unsigned long flushes; /* so many there had been when it was put into its last group */
    size_t group;
    TAILQ_ENTRY(follower) at;
};

/* Processes that said the same. */
struct group {
    char *text; /* without its line's end, and without how long it has held */
    size_t length;
    double held; /* the longest; negative: they do not say that */
    int *processes;
    size_t count, room;
};

struct wire_relay {
    struct event_base *base;
    const struct wire_relay_ops *ops;
    void *context;
    int process;
    char name[PROOF_MAX + 8];
    struct wire_listener *listener;
    struct wire_line *up; /* NULL: not attached */
    bool aside;           /* it is none, and will be none */
    TAILQ_HEAD(, follower) followers;
    size_t count, strangers;
    struct group groups[GROUPS_MOST];
    size_t group_count, gathered, expected; /* processes that have answered what all were told, and that will */
    unsigned long flushes;
    struct event *patience;
};

/* ---- Up: what the processes of the host say ----------------------------------------------------- */

static void send_up(struct wire_relay *relay, const int *processes, size_t count, const char *text, size_t length)
{
    size_t size;
    char *line = envelope_text(WIRE_OF, processes, count, "says", text, length, &size);
    if (line && relay->up)
        wire_line_send_text(relay->up, line, size);
    free(line);
}

static void send_about(const struct follower *follower, const char *op)
{
    cJSON *message = json_message(op);
    cJSON_AddNumberToObject(message, "process", follower->process);
    if (follower->relay->up)
        wire_line_send(follower->relay->up, message);
    cJSON_Delete(message);
}

static int ascending(const void *a, const void *b)
{
    int first = *(const int *)a, second = *(const int *)b;
    return (first > second) - (first < second);
}

static const char held_is[] = ",\"held\":";

static void send_group(struct wire_relay *relay, struct group *group)
{
    char *text = NULL;
    int length = group->held < 0 ? asprintf(&text, "%s", group->text)
                                 : asprintf(&text, "%s%s%.9g}", group->text, held_is, group->held);
    qsort(group->processes, group->count, sizeof *group->processes, ascending);
    if (length >= 0)
        send_up(relay, group->processes, group->count, text, (size_t)length);
    if (length >= 0)
        free(text);
    free(group->text);
    free(group->processes);
}

static void flush(struct wire_relay *relay)
{
    for (size_t i = 0; i < relay->group_count; i++)
        send_group(relay, &relay->groups[i]);
    relay->group_count = 0;
    relay->flushes++;
    evtimer_del(relay->patience);
}

static void on_patience(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    flush(context);
}

/* How much of it is to be the same: all, but for how long its process has held at its probe, which is its last. */
static size_t part_in_common(const char *text, size_t length, double *held)
{
    *held = -1;
    for (size_t i = length; i-- > 0;)
        if (text[i] == ',') {
            if (strncmp(text + i, held_is, sizeof held_is - 1))
                return length;
            *held = strtod(text + i + sizeof held_is - 1, NULL);
            return i;
        }
    return length;
}

/* Groups go in the order in which they were begun, so a process is put into none before one that it is in. */
static bool fits(const struct follower *follower, size_t i, const char *text, size_t length)
{
    const struct wire_relay *relay = follower->relay;
    const struct group *group = &relay->groups[i];
    bool behind = follower->flushes != relay->flushes || i > follower->group;
    return behind && group->length == length && !memcmp(group->text, text, length);
}

/* NULL: no memory. */
static struct group *group_of(const struct follower *follower, const char *text, size_t length)
{
    struct wire_relay *relay = follower->relay;
    for (size_t i = 0; i < relay->group_count; i++)
        if (fits(follower, i, text, length))
            return &relay->groups[i];
    if (relay->group_count == GROUPS_MOST)
        flush(relay);
    char *copy = strndup(text, length);
    if (!copy)
        return NULL;
    relay->groups[relay->group_count] = (struct group){.text = copy, .length = length, .held = -1};
    return &relay->groups[relay->group_count++];
}

static void send_if_all(struct wire_relay *relay)
{
    if (relay->gathered < relay->expected) {
        if (!evtimer_pending(relay->patience, NULL))
            wire_timer_set(relay->patience, PATIENCE);
        return;
    }
    relay->gathered = relay->expected = 0;
    flush(relay);
}

static void gather(struct follower *follower, const char *text, size_t length)
{
    struct wire_relay *relay = follower->relay;
    double held;
    size_t part = part_in_common(text, length, &held);
    struct group *group = group_of(follower, text, part);
    if (!group || array_reserve(&group->processes, &group->room, group->count + 1, sizeof *group->processes)) {
        flush(relay);
        send_up(relay, &follower->process, 1, text, length);
        return;
    }
    group->processes[group->count++] = follower->process;
    follower->flushes = relay->flushes;
    follower->group = (size_t)(group - relay->groups);
    group->held = held > group->held ? held : group->held;
    relay->gathered++;
    send_if_all(relay);
}

/* Answers that all processes give at about the same time. */
static bool is_gathered(const char *text, size_t length)
{
    static const char *const ops[] = {REPORT(count), REPORT(arrived),   REPORT(waits),  REPORT(gauge), REPORT(ready),
                                      REPORT(meet),  REPORT(committed), REPORT(parked), REPORT(pong),  REPORT(alive)};
    static const char begin[] = "{\"op\":\"";
    if (length < sizeof begin || memcmp(text, begin, sizeof begin - 1) != 0)
        return false;
    const char *op = text + sizeof begin - 1, *end = memchr(op, '"', length - (sizeof begin - 1));
    for (size_t i = 0; end && i < sizeof ops / sizeof *ops; i++)
        if (strlen(ops[i]) == (size_t)(end - op) && !memcmp(ops[i], op, strlen(ops[i])))
            return true;
    return false;
}

static bool on_text(void *context, const char *text, size_t length)
{
    struct follower *follower = context;
    if (!follower->attached)
        return false;
    if (follower->relay->expected > 1 && is_gathered(text, length)) {
        gather(follower, text, length);
        return true;
    }
    flush(follower->relay); /* a process's messages stay in their order */
    send_up(follower->relay, &follower->process, 1, text, length);
    return true;
}

/* ---- Who comes and goes ------------------------------------------------------------------------- */

static void drop(struct follower *follower)
{
    struct wire_relay *relay = follower->relay;
    TAILQ_REMOVE(&relay->followers, follower, at);
    relay->count--;
    relay->strangers -= follower->process < 0;
    wire_line_finish(follower->line, FAREWELL);
    event_free(follower->late);
    free(follower);
    if (relay->expected && relay->gathered)
        flush(relay);
    if (!relay->count)
        relay->ops->empty(relay->context);
}

static void on_late(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    drop(context);
}

/* The server knows whether it had said goodbye. */
static void on_gone(void *context, const char *why)
{
    struct follower *follower = context;
    (void)why;
    flush(follower->relay);
    if (follower->brought)
        send_about(follower, WIRE_MISSES);
    drop(follower);
}

static void on_first(void *context, const cJSON *message);

static const struct wire_line_ops ops = {.message = on_first, .gone = on_gone, .text = on_text};
static const struct wire_limits limits = {.line = LINE_MOST}, first_limits = {.line = FIRST_LINE_MOST};

static void bring(struct follower *follower)
{
    follower->brought = true;
    send_about(follower, WIRE_BRINGS);
}

/* Its first line: a process of this user on this host, as the kernel says, shows nothing more. */
static void on_first(void *context, const cJSON *message)
{
    struct follower *follower = context;
    const char *op = json_text(message, "op");
    int process = json_int(message, "process", 0);
    if (follower->process >= 0)
        return;
    if (!op || strcmp(op, WIRE_ATTACH) || process <= 0) {
        drop(follower);
        return;
    }
    follower->process = process;
    follower->relay->strangers--;
    evtimer_del(follower->late);
    wire_line_hand(follower->line, &limits, WIRE_MEMBERS, &ops, follower);
    if (follower->relay->up)
        bring(follower);
}

static void drop_oldest_stranger(struct wire_relay *relay)
{
    struct follower *follower;
    TAILQ_FOREACH(follower, &relay->followers, at)
    if (follower->process < 0)
        break;
    if (follower)
        drop(follower);
}

/* NULL: no memory; the descriptor is closed. */
static struct follower *new_follower(struct wire_relay *relay, int fd)
{
    struct follower *follower = calloc(1, sizeof *follower);
    struct wire_line *line = follower ? wire_line_new(relay->base, fd, &first_limits, &ops, follower) : NULL;
    struct event *late = line ? evtimer_new(relay->base, on_late, follower) : NULL;
    if (late) {
        *follower = (struct follower){.relay = relay, .line = line, .process = -1, .late = late};
        return follower;
    }
    if (line)
        wire_line_close(line);
    else if (!follower)
        close(fd);
    free(follower);
    return NULL;
}

static void on_newcomer(void *context, int fd)
{
    struct wire_relay *relay = context;
    uid_t user;
    if (!wire_socket_user(fd, &user) || user != geteuid()) {
        close(fd);
        return;
    }
    if (relay->strangers >= STRANGERS_MOST)
        drop_oldest_stranger(relay);
    struct follower *follower = new_follower(relay, fd);
    if (!follower)
        return;
    wire_timer_set(follower->late, STRANGER_SECONDS);
    TAILQ_INSERT_TAIL(&relay->followers, follower, at);
    relay->count++;
    relay->strangers++;
}

/* ---- Down: what they are told ------------------------------------------------------------------- */

static struct follower *follower_of(struct wire_relay *relay, int process)
{
    struct follower *follower;
    TAILQ_FOREACH(follower, &relay->followers, at)
    if (follower->process == process && follower->brought)
        break;
    return follower;
}

static void tell_to_move(const struct follower *follower)
{
    cJSON *move = json_message(WIRE_MOVE);
    wire_line_send(follower->line, move);
    cJSON_Delete(move);
}

static void tell_follower(struct follower *follower, const char *op, const char *text, size_t length)
{
    bool attached = !strcmp(op, WIRE_ATTACHED);
    wire_line_send_text(follower->line, text, length);
    follower->attached |= attached;
    if (!follower->attached) /* refused */
        drop(follower);
    else if (attached && follower->relay->aside)
        tell_to_move(follower);
}

static void hand_on(struct wire_relay *relay, const int *processes, size_t count, const cJSON *say)
{
    size_t length;
    char *text = wire_line_text(say, &length);
    const char *op = json_text(say, "op");
    bool own = false;
    for (size_t i = 0; text && i < count; i++) {
        struct follower *follower = processes[i] == relay->process ? NULL : follower_of(relay, processes[i]);
        own |= processes[i] == relay->process;
        if (follower)
            tell_follower(follower, op ? op : "", text, length);
    }
    cJSON_free(text);
    if (own)
        relay->ops->own(relay->context, say);
}

bool wire_relay_take(struct wire_relay *relay, const cJSON *message)
{
    const char *op = json_text(message, "op");
    if (!op || strcmp(op, WIRE_FOR))
        return false;
    size_t count;
    int *processes = envelope_processes(message, &count);
    if (count > 2) { /* most likely all answer */
        flush(relay);
        relay->gathered = 0;
        relay->expected = count;
        for (size_t i = 0; i < count; i++)
            relay->expected -= processes[i] == relay->process;
    }
    hand_on(relay, processes, count, cJSON_GetObjectItemCaseSensitive(message, "say"));
    free(processes);
    return true;
}

/* ---- Its life ------------------------------------------------------------------------------------- */

struct wire_relay *wire_relay_new(struct event_base *base, const char *token, int process,
                                  const struct wire_relay_ops *ops, void *context)
{
    struct wire_relay *relay = calloc(1, sizeof *relay);
    char host[256], code[PROOF_MAX];
    if (!relay || !(relay->patience = evtimer_new(base, on_patience, relay))) {
        free(relay);
        return NULL;
    }
    relay->base = base;
    relay->process = process;
    relay->ops = ops;
    relay->context = context;
    TAILQ_INIT(&relay->followers);
    wire_host(host, sizeof host);
    proof_make(code, token, PROOF_SERVER, "relay", host, "");
    snprintf(relay->name, sizeof relay->name, "epop-%s", code);
    return relay;
}

static void on_nobody(void *context)
{
    (void)context;
}

static void stop_listening(struct wire_relay *relay)
{
    wire_listener_free(relay->listener);
    relay->listener = NULL;
}

void wire_relay_free(struct wire_relay *relay)
{
    static const struct wire_relay_ops nobody = {.empty = on_nobody};
    struct follower *follower;
    if (!relay)
        return;
    stop_listening(relay);
    relay->up = NULL;
    relay->ops = &nobody;
    while ((follower = TAILQ_FIRST(&relay->followers)))
        drop(follower);
    flush(relay);
    event_free(relay->patience);
    free(relay);
}

/* Whoever listens at that name is to be of this user. */
static enum wire_way follow(int fd, int *to)
{
    uid_t user;
    if (wire_socket_user(fd, &user) && user == geteuid()) {
        *to = fd;
        return WIRE_FOLLOWS;
    }
    close(fd);
    return WIRE_ALONE;
}

static enum wire_way lead(struct wire_relay *relay)
{
    int fd = wire_listen_name(relay->name);
    if (fd < 0)
        return errno == EADDRINUSE ? WIRE_WAITS : WIRE_ALONE;
    relay->listener = wire_listener_new(relay->base, fd, on_newcomer, relay);
    return relay->listener ? WIRE_LEADS : WIRE_ALONE;
}

enum wire_way wire_relay_seek(struct wire_relay *relay, int *fd)
{
    if (relay->listener)
        return WIRE_LEADS;
    int there = wire_connect_name(relay->name);
    if (there >= 0)
        return follow(there, fd);
    if (errno == EAGAIN)
        return WIRE_WAITS;
    return errno == ECONNREFUSED && !relay->aside ? lead(relay) : WIRE_ALONE;
}

void wire_relay_attached(struct wire_relay *relay, struct wire_line *up)
{
    struct follower *follower;
    relay->up = up;
    TAILQ_FOREACH(follower, &relay->followers, at)
    if (up && follower->process >= 0 && !follower->brought)
        bring(follower);
    while (!up && (follower = TAILQ_FIRST(&relay->followers)))
        drop(follower);
}

void wire_relay_step_down(struct wire_relay *relay)
{
    struct follower *follower, *next;
    stop_listening(relay);
    for (follower = TAILQ_FIRST(&relay->followers); follower && !relay->aside; follower = next) {
        next = TAILQ_NEXT(follower, at);
        if (follower->attached)
            tell_to_move(follower);
        else if (!follower->brought) /* it tries again */
            drop(follower);
    }
    relay->aside = true;
}

size_t wire_relay_count(const struct wire_relay *relay)
{
    return relay->count;
}
