/* The connection of a command with the daemon, made anew while too many ask at a time. */
#include "scheduler/epoprm/client.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/wire/line.h"
#include "runtime/wire/loop.h"
#include "runtime/wire/socket.h"
#include "scheduler/epoprm/command.h"
#include "terminal/output.h"

static const double usual = 30; /* seconds */
enum { AGAIN_MS = 20 };

struct client {
    struct event_base *base;
    struct wire_line *line;
    double seconds;
    cJSON *came;     /* an array: what nobody has taken yet */
    bool stir, gone; /* something came, or the end */
};

static void on_message(void *context, const cJSON *message)
{
    struct client *client = context;
    cJSON_AddItemToArray(client->came, cJSON_Duplicate(message, 1));
    client->stir = true;
    wire_wake(client->base);
}

static void on_gone(void *context, const char *why)
{
    struct client *client = context;
    (void)why;
    client->stir = client->gone = true;
    wire_wake(client->base);
}

/* One that is asked by very many at once has no room for a moment. A descriptor, or -1. */
static int reach_daemon(const char *path)
{
    double end = monotonic_seconds() + usual;
    int fd;
    while ((fd = wire_connect_path(path)) < 0 && errno == EAGAIN && monotonic_seconds() < end)
        poll(NULL, 0, AGAIN_MS);
    return fd;
}

static struct wire_line *new_line(struct client *client, int fd)
{
    static const struct wire_line_ops ops = {.message = on_message, .gone = on_gone};
    static const struct wire_limits limits = {.line = 1 << 30};
    return wire_line_new(client->base, fd, &limits, &ops, client);
}

static struct client *talk_over(int fd, double seconds)
{
    struct client *client = calloc(1, sizeof *client);
    if (client) {
        *client = (struct client){.base = wire_base_new(), .seconds = seconds, .came = cJSON_CreateArray()};
        client->line = client->base && client->came ? new_line(client, fd) : NULL;
    }
    if (client && client->line)
        return client;
    client_close(client);
    return NULL;
}

struct client *client_connect(double seconds, bool quiet, int *code)
{
    char path[RM_PATH_MAX];
    struct error error;
    *code = COMMAND_USAGE;
    if (rm_file(path, "socket", &error)) {
        term_complain("%s", error.text);
        return NULL;
    }
    int fd = reach_daemon(path);
    struct client *client = fd >= 0 ? talk_over(fd, seconds) : NULL;
    *code = client ? COMMAND_DONE : COMMAND_NO_JOB;
    if (!client && !quiet)
        term_complain("no daemon answers at %s: epoprm start begins one", path);
    return client;
}

void client_close(struct client *client)
{
    if (!client)
        return;
    if (client->line)
        wire_line_close(client->line);
    if (client->base)
        event_base_free(client->base);
    cJSON_Delete(client->came);
    free(client);
}

cJSON *client_next(struct client *client, bool *gone)
{
    client->stir = client->gone;
    if (!client->came->child)
        wire_wait(client->base, &client->stir, client->seconds > 0 ? client->seconds : -1);
    cJSON *next = cJSON_DetachItemFromArray(client->came, 0);
    if (gone)
        *gone = !next && client->gone;
    return next;
}

static int code_of_answer(const cJSON *answer)
{
    const char *code = json_text(answer, "code");
    if (code && !strcmp(code, "unknown"))
        return COMMAND_NO_JOB;
    return code && !strcmp(code, "usage") ? COMMAND_USAGE : COMMAND_REFUSED;
}

/* False: there is no daemon any more. */
static bool reconnect(struct client *client)
{
    char path[RM_PATH_MAX];
    struct error error;
    int fd = rm_file(path, "socket", &error) ? -1 : reach_daemon(path);
    if (fd < 0)
        return false;
    wire_line_close(client->line);
    client->gone = false;
    client->line = new_line(client, fd);
    return client->line;
}

static cJSON *ask_until_heard(struct client *client, const cJSON *request, bool *gone)
{
    double end = monotonic_seconds() + usual;
    for (;;) {
        wire_line_send(client->line, request); /* one that is gone is told of */
        cJSON *answer = client_next(client, gone);
        const char *code = json_text(answer, "code");
        if (!code || strcmp(code, "busy") || monotonic_seconds() > end || !reconnect(client))
            return answer;
        cJSON_Delete(answer);
    }
}

cJSON *client_ask(struct client *client, const cJSON *request, int *code)
{
    bool gone;
    cJSON *answer = ask_until_heard(client, request, &gone);
    *code = answer ? COMMAND_DONE : gone ? COMMAND_REFUSED : COMMAND_TIMEOUT;
    if (!answer)
        term_complain(gone ? "the daemon went away: its log says why" : "the daemon does not answer");
    if (!answer || json_true(answer, "ok"))
        return answer;
    term_complain("%s", json_text(answer, "reason") ? json_text(answer, "reason") : "refused");
    *code = code_of_answer(answer);
    cJSON_Delete(answer);
    return NULL;
}

cJSON *client_request(cJSON *request, int *code)
{
    struct client *client = client_connect(usual, false, code);
    cJSON *answer = client ? client_ask(client, request, code) : NULL;
    cJSON_Delete(request);
    client_close(client);
    return answer;
}
