/* Talking with an attendant: see attendant.h. */
#include "scheduler/hosts/attend_client.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/wire/loop.h"
#include "runtime/wire/socket.h"

static const double pause_between = 0.05; /* seconds between two tries; longer the longer it is not there */
static const struct wire_limits limits = {.line = 16 << 20, .unsent = 16 << 20};

static void try_again(struct attend_client *attendant)
{
    double missing = monotonic_seconds() - attendant->since;
    wire_timer_set(attendant->again, missing < 1 ? pause_between : missing < 20 ? missing / 10 : 2);
}

static void drop(struct attend_client *attendant)
{
    if (attendant->line)
        wire_line_close(attendant->line);
    attendant->line = NULL;
}

static void on_message(void *context, const cJSON *message)
{
    struct attend_client *attendant = context;
    attendant->take(attendant->context, message);
}

static void on_gone(void *context, const char *why)
{
    struct attend_client *attendant = context;
    (void)why;
    drop(attendant);
    attendant->since = monotonic_seconds();
    try_again(attendant);
    attendant->gone(attendant->context);
}

static void connect_now(evutil_socket_t ignored, short what, void *context)
{
    static const struct wire_line_ops ops = {.message = on_message, .gone = on_gone};
    struct attend_client *attendant = context;
    int fd = wire_connect_path(attendant->path);
    (void)ignored, (void)what;
    attendant->line = fd >= 0 ? wire_line_new(attendant->base, fd, &limits, &ops, attendant) : NULL;
    if (attendant->line)
        wire_line_hand(attendant->line, &limits, WIRE_MEMBERS, &ops, attendant);
    else
        try_again(attendant);
}

int attend_client_open(struct attend_client *attendant, struct event_base *base, const char *path)
{
    attendant->base = base;
    attendant->path = strdup(path);
    attendant->again = evtimer_new(base, connect_now, attendant);
    if (!attendant->path || !attendant->again)
        return -1;
    attendant->since = monotonic_seconds();
    connect_now(-1, 0, attendant);
    return 0;
}

void attend_client_close(struct attend_client *attendant)
{
    drop(attendant);
    if (attendant->again)
        event_free(attendant->again);
    attendant->again = NULL;
    free(attendant->path);
    attendant->path = NULL;
}

/* One that is gone is told of. */
void attend_client_say(struct attend_client *attendant, cJSON *message)
{
    if (attendant->line)
        wire_line_send(attendant->line, message);
    cJSON_Delete(message);
}

void attend_client_ask(struct attend_client *attendant, int64_t id, cJSON *request, double seconds)
{
    cJSON *message = cJSON_CreateObject();
    cJSON_AddNumberToObject(message, "id", (double)id);
    cJSON_AddStringToObject(message, "do", "ask");
    cJSON_AddItemToObject(message, "request", request);
    cJSON_AddNumberToObject(message, "timeout", seconds);
    attend_client_say(attendant, message);
}

void attend_client_forget(struct attend_client *attendant, int64_t id)
{
    cJSON *message = cJSON_CreateObject(), *ids;
    cJSON_AddStringToObject(message, "do", "forget");
    ids = cJSON_AddArrayToObject(message, "ids");
    cJSON_AddItemToArray(ids, cJSON_CreateNumber((double)id));
    attend_client_say(attendant, message);
}

double attend_client_missing(const struct attend_client *attendant)
{
    return attendant->line ? 0 : monotonic_seconds() - attendant->since;
}
