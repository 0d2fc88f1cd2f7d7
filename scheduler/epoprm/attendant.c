/* Talking with an attendant: see attendant.h. */
#include "scheduler/epoprm/attendant.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "scheduler/epoprm/address.h"

static const double pause_between = 0.05; /* seconds between two tries; longer the longer it is not there */
enum { LINES_MOST = 16 << 20 };

static void drop(struct attendant *attendant)
{
    if (attendant->watched.fd >= 0) {
        loop_drop(attendant->loop, &attendant->watched);
        close(attendant->watched.fd);
    }
    attendant->watched.fd = -1;
    attendant->connected = false;
    lines_free(&attendant->lines);
}

static void try_again(struct attendant *attendant)
{
    double missing = monotonic_seconds() - attendant->since;
    timers_set(&attendant->loop->timers, &attendant->again,
               missing < 1    ? pause_between
               : missing < 20 ? missing / 10
                              : 2);
}

static void broke(struct attendant *attendant)
{
    drop(attendant);
    attendant->since = monotonic_seconds();
    try_again(attendant);
    attendant->gone(attendant->context);
}

static void send_some(struct attendant *attendant)
{
    lines_send(&attendant->lines, attendant->watched.fd); /* one that is gone is found by reading */
    attendant->watched.events = attendant->lines.out_used ? POLLIN | POLLOUT : POLLIN;
}

/* Its user may close the attendant meanwhile. */
static void take_lines(struct attendant *attendant)
{
    char *line;
    while (attendant->connected && (line = lines_next(&attendant->lines))) {
        cJSON *message = cJSON_Parse(line);
        if (message)
            attendant->take(attendant->context, message);
        cJSON_Delete(message);
    }
}

static void ready(void *context, short events)
{
    struct attendant *attendant = context;
    if (events & POLLOUT)
        send_some(attendant);
    if (!(events & (POLLIN | POLLHUP | POLLERR)))
        return;
    enum lines_end end = lines_receive(&attendant->lines, attendant->watched.fd);
    take_lines(attendant);
    if (end != LINES_OPEN && attendant->connected)
        broke(attendant);
}

static int reach(const char *path)
{
    struct sockaddr_un address;
    struct error error;
    int directory, fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool reached = fd >= 0 && !address_make(&address, &directory, path, &error);
    if (reached) {
        reached = !connect(fd, (struct sockaddr *)&address, sizeof address);
        close(directory);
    }
    if (!reached && fd >= 0)
        close(fd);
    return reached ? fd : -1;
}

static void connect_now(void *context)
{
    struct attendant *attendant = context;
    attendant->watched.fd = reach(attendant->path);
    attendant->watched.events = POLLIN;
    attendant->connected = attendant->watched.fd >= 0;
    attendant->lines.in_most = attendant->lines.out_most = LINES_MOST;
    if (!attendant->connected || loop_add(attendant->loop, &attendant->watched)) {
        drop(attendant);
        try_again(attendant);
    }
}

int attendant_open(struct attendant *attendant, struct loop *loop, const char *path)
{
    attendant->loop = loop;
    attendant->path = strdup(path);
    if (!attendant->path)
        return -1;
    attendant->watched = (struct watched){.fd = -1, .ready = ready, .context = attendant};
    attendant->since = monotonic_seconds();
    timer_init(&attendant->again, connect_now, attendant, NULL);
    connect_now(attendant);
    return 0;
}

void attendant_close(struct attendant *attendant)
{
    if (!attendant->path)
        return;
    drop(attendant);
    timers_cancel(&attendant->loop->timers, &attendant->again);
    free(attendant->path);
    attendant->path = NULL;
}

void attendant_say(struct attendant *attendant, cJSON *message)
{
    char *text = attendant->connected ? cJSON_PrintUnformatted(message) : NULL;
    if (text && !lines_put(&attendant->lines, text))
        send_some(attendant);
    free(text);
    cJSON_Delete(message);
}

void attendant_ask(struct attendant *attendant, int64_t id, cJSON *request, double seconds)
{
    cJSON *message = cJSON_CreateObject();
    cJSON_AddNumberToObject(message, "id", (double)id);
    cJSON_AddStringToObject(message, "do", "ask");
    cJSON_AddItemToObject(message, "request", request);
    cJSON_AddNumberToObject(message, "timeout", seconds);
    attendant_say(attendant, message);
}

void attendant_forget(struct attendant *attendant, int64_t id)
{
    cJSON *message = cJSON_CreateObject(), *ids;
    cJSON_AddStringToObject(message, "do", "forget");
    ids = cJSON_AddArrayToObject(message, "ids");
    cJSON_AddItemToArray(ids, cJSON_CreateNumber((double)id));
    attendant_say(attendant, message);
}

double attendant_missing(const struct attendant *attendant)
{
    return attendant->connected ? 0 : monotonic_seconds() - attendant->since;
}
