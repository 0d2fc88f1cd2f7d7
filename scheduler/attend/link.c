/* Connected with an adviser: see link.h. */
#include "scheduler/attend/link.h"

#include <limits.h>
#include <math.h>
#include <netdb.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/wire/loop.h"
#include "runtime/wire/socket.h"
#include "scheduler/attend/attendant.h"
#include "scheduler/attend/ended.h"
#include "scheduler/attend/handshake.h"

/* Seconds: between tries, from and to; between looks at the job; that it looks for a job that it never saw; that it
 * stays to tell of the end. */
static const double soonest = 0.5, rarest = 30, look_each = 0.5, missing = 30, linger = 5;

struct linked {
    struct attendant attendant;
    const char *host, *port;
    char adviser[NI_MAXHOST + NI_MAXSERV], id[NAME_MAX];
    int64_t job;
    double pause, since;
    char complained[ERROR_TEXT_MAX]; /* each thing once */
    struct addrinfo *found, *next;   /* of the adviser: to be tried */
    struct event *again, *look, *late;
};

static void complain(struct linked *l, const char *text)
{
    if (!strcmp(l->complained, text))
        return;
    snprintf(l->complained, sizeof l->complained, "%s", text);
    fprintf(stderr, "attend: adviser %s:%s: %s\n", l->host, l->port, text);
}

/* ---- The connection ---------------------------------------------------------------------------- */

static void try_later(struct linked *l)
{
    wire_timer_set(l->again, l->pause);
    l->pause = fmin(2 * l->pause, rarest);
}

static void try_next(struct linked *l);

/* Not reached: it may not be there now, which is nothing to complain of. */
static void on_shaken(void *context, struct wire_line *line, const struct error *why)
{
    struct linked *l = context;
    if (line) {
        l->pause = soonest;
        l->complained[0] = '\0';
        attendant_talk(&l->attendant, line);
    } else if (why) {
        complain(l, why->text);
        try_later(l);
    } else {
        try_next(l);
    }
}

/* A name may mean several addresses. */
static void try_next(struct linked *l)
{
    int failed = -1;
    while (l->next && failed) {
        int fd = wire_connect_address(l->next->ai_addr, l->next->ai_addrlen);
        l->next = l->next->ai_next;
        if (fd >= 0)
            wire_socket_tune(fd);
        failed = fd < 0 ? -1 : handshake_begin(l->attendant.base, fd, l->job, on_shaken, l);
    }
    if (failed)
        try_later(l);
}

static void try_now(evutil_socket_t fd, short what, void *context)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct linked *l = context;
    (void)fd, (void)what;
    if (l->found)
        freeaddrinfo(l->found);
    if (getaddrinfo(l->host, l->port, &hints, &l->found))
        l->found = NULL;
    l->next = l->found;
    try_next(l);
}

static void on_peer_gone(void *context)
{
    struct linked *l = context;
    if (!l->attendant.ended)
        try_later(l);
}

/* ---- The job ----------------------------------------------------------------------------------- */

static void on_late(evutil_socket_t fd, short what, void *context)
{
    struct linked *l = context;
    (void)fd, (void)what;
    attendant_leave(&l->attendant);
}

static cJSON *job_ended(void)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "version", 1);
    cJSON_AddNullToObject(json, "status");
    cJSON_AddNullToObject(json, "signal");
    cJSON_AddNumberToObject(json, "time", wall_seconds());
    return json;
}

/* Its status is Slurm's to tell. */
static void look(evutil_socket_t fd, short what, void *context)
{
    struct linked *l = context;
    const struct plane *plane = &l->attendant.plane;
    bool found = plane->job.id[0], sought = plane->state == PLANE_SEEKS;
    bool there = found ? control_job_alive(&plane->job) && (!sought || control_job_listed(&plane->job))
                       : monotonic_seconds() - l->since < missing;
    (void)fd, (void)what;
    wire_timer_set(l->look, look_each);
    if (there)
        return;
    evtimer_del(l->look);
    evtimer_del(l->again);
    l->attendant.told = true; /* nobody else comes to ask */
    attendant_ended(&l->attendant, job_ended());
    wire_timer_set(l->late, linger);
}

/* "JOB.json" of a path. -1: it is none. */
static int take_id(struct linked *l, const char *path)
{
    const char *name = strrchr(path, '/');
    size_t length = strlen(name ? ++name : (name = path));
    if (length < 6 || length >= sizeof l->id || strcmp(name + length - 5, ".json"))
        return -1;
    memcpy(l->id, name, length - 5);
    return 0;
}

/* "HOST:PORT", or "[ADDRESS]:PORT". */
static int take_adviser(struct linked *l, const char *text)
{
    snprintf(l->adviser, sizeof l->adviser, "%s", text);
    char *colon = strrchr(l->adviser, ':');
    if (!colon || colon == l->adviser || !colon[1])
        return -1;
    *colon = '\0';
    l->host = l->adviser;
    l->port = colon + 1;
    if (*l->host == '[' && colon[-1] == ']') {
        colon[-1] = '\0';
        l->host++;
    }
    return 0;
}

static int stay(struct linked *l, struct error *error)
{
    struct attendant *a = &l->attendant;
    if (attendant_open(a, NULL, l->id, error))
        return -1;
    a->gone = on_peer_gone;
    a->context = l;
    l->pause = soonest;
    l->since = monotonic_seconds();
    l->again = evtimer_new(a->base, try_now, l);
    l->look = evtimer_new(a->base, look, l);
    l->late = evtimer_new(a->base, on_late, l);
    if (!l->again || !l->look || !l->late)
        return error_memory(error);
    wire_timer_set(l->again, 0);
    wire_timer_set(l->look, look_each);
    return attendant_run(a, error);
}

int link_to(const char *adviser, const char *address_file)
{
    static struct linked l;
    struct error error;
    const char *job = getenv("SLURM_JOB_ID");
    if (take_adviser(&l, adviser) || take_id(&l, address_file)) {
        fprintf(stderr, "attend: link wants HOST:PORT and the address file of a job, not '%s' and '%s'\n", adviser,
                address_file);
        return 2;
    }
    l.job = job ? atoll(job) : 0;
    if (l.job < 1) {
        fprintf(stderr, "attend: the adviser knows jobs of Slurm, and SLURM_JOB_ID is not set here\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    if (!stay(&l, &error))
        return 0;
    fprintf(stderr, "attend: %s\n", error.text);
    return 1;
}
