/* The connection with a job's attendant, which is made again whenever it breaks. */
#include "scheduler/hosts/attend_client.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/wire/loop.h"
#include "runtime/wire/socket.h"

static const double pause_between = 0.05; /* seconds between two tries; longer the longer it is not there */
static const struct wire_limits limits = {.line = 16 << 20, .unsent = 16 << 20};

static void try_again(struct attend_client *client)
{
    double missing = monotonic_seconds() - client->since;
    wire_timer_set(client->again, missing < 1 ? pause_between : missing < 20 ? missing / 10 : 2);
}

static void drop_line(struct attend_client *client)
{
    if (client->line)
        wire_line_close(client->line);
    client->line = NULL;
}

static void on_message(void *context, const cJSON *message)
{
    struct attend_client *client = context;
    client->take(client->context, message);
}

static void on_gone(void *context, const char *why)
{
    struct attend_client *client = context;
    (void)why;
    drop_line(client);
    client->since = monotonic_seconds();
    try_again(client);
    client->gone(client->context);
}

static void connect_now(evutil_socket_t ignored, short what, void *context)
{
    static const struct wire_line_ops ops = {.message = on_message, .gone = on_gone};
    struct attend_client *client = context;
    int fd = wire_connect_path(client->path);
    (void)ignored, (void)what;
    client->line = fd >= 0 ? wire_line_new(client->base, fd, &limits, &ops, client) : NULL;
    if (client->line)
        wire_line_hand(client->line, &limits, WIRE_MEMBERS, &ops, client);
    else
        try_again(client);
}

int attend_client_open(struct attend_client *client, struct event_base *base, const char *path)
{
    client->base = base;
    client->path = strdup(path);
    client->again = evtimer_new(base, connect_now, client);
    if (!client->path || !client->again)
        return -1;
    client->since = monotonic_seconds();
    connect_now(-1, 0, client);
    return 0;
}

void attend_client_close(struct attend_client *client)
{
    drop_line(client);
    if (client->again)
        event_free(client->again);
    client->again = NULL;
    free(client->path);
    client->path = NULL;
}

/* One that is gone is told of. */
void attend_client_say(struct attend_client *client, cJSON *message)
{
    if (client->line)
        wire_line_send(client->line, message);
    cJSON_Delete(message);
}

void attend_client_ask(struct attend_client *client, int64_t id, cJSON *request, double seconds)
{
    cJSON *message = cJSON_CreateObject();
    cJSON_AddNumberToObject(message, "id", (double)id);
    cJSON_AddStringToObject(message, "do", "ask");
    cJSON_AddItemToObject(message, "request", request);
    cJSON_AddNumberToObject(message, "timeout", seconds);
    attend_client_say(client, message);
}

void attend_client_forget(struct attend_client *client, int64_t id)
{
    cJSON *message = cJSON_CreateObject(), *ids;
    cJSON_AddStringToObject(message, "do", "forget");
    ids = cJSON_AddArrayToObject(message, "ids");
    cJSON_AddItemToArray(ids, cJSON_CreateNumber((double)id));
    attend_client_say(client, message);
}

double attend_client_missing(const struct attend_client *client)
{
    return client->line ? 0 : monotonic_seconds() - client->since;
}
