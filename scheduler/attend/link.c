/* Connected with an adviser: see link.h. */
#include "scheduler/attend/link.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "scheduler/attend/attendant.h"
#include "scheduler/attend/ended.h"
#include "scheduler/attend/handshake.h"

/* Seconds: between tries, from and to; between looks at the job; to connect; that it looks for a job that it never saw;
 * that it stays to tell of the end. */
static const double soonest = 0.5, rarest = 30, look_each = 0.5, connect_in = 3, missing = 30, linger = 5;

struct linked {
    struct attendant attendant;
    const char *host, *port;
    char adviser[NI_MAXHOST + NI_MAXSERV], id[NAME_MAX];
    int64_t job;
    double pause, since;
    char complained[ERROR_TEXT_MAX]; /* each thing once */
    struct timer again, look, late;
};

static void complain(struct linked *l, const char *text)
{
    if (!strcmp(l->complained, text))
        return;
    snprintf(l->complained, sizeof l->complained, "%s", text);
    fprintf(stderr, "attend: adviser %s:%s: %s\n", l->host, l->port, text);
}

/* ---- The connection ---------------------------------------------------------------------------- */

static int await_connected(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    int wrong = 0;
    socklen_t length = sizeof wrong;
    if (poll(&ready, 1, (int)(connect_in * 1e3)) != 1)
        return ETIMEDOUT;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &wrong, &length) ? errno : wrong;
}

static int connect_to(const struct addrinfo *address)
{
    int on = 1, fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    if (connect(fd, address->ai_addr, address->ai_addrlen) && (errno != EINPROGRESS || (errno = await_connected(fd)))) {
        close(fd);
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    return fd;
}

static int reach(const struct linked *l, struct error *error)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    int fd = -1, wrong = getaddrinfo(l->host, l->port, &hints, &found);
    if (wrong)
        return error_set(error, ERROR_FAILED, "%s", gai_strerror(wrong));
    for (const struct addrinfo *one = found; one && fd < 0; one = one->ai_next)
        fd = connect_to(one);
    freeaddrinfo(found);
    return fd >= 0 ? fd : error_set(error, ERROR_FAILED, "%s", strerror(errno));
}

static void try_later(struct linked *l)
{
    timers_set(&l->attendant.loop.timers, &l->again, l->pause);
    l->pause = fmin(2 * l->pause, rarest);
}

/* Not reached: it may not be there now, which is nothing to complain of. */
static void try_now(void *context)
{
    struct linked *l = context;
    struct error error;
    int fd = reach(l, &error);
    if (fd >= 0 && handshake(fd, l->job, &error)) {
        complain(l, error.text);
        close(fd);
        fd = -1;
    }
    struct peer *peer = fd >= 0 ? peers_add(&l->attendant.peers, fd) : NULL;
    if (!peer) {
        try_later(l);
        return;
    }
    l->pause = soonest;
    l->complained[0] = '\0';
    attendant_greet(&l->attendant, peer);
}

static void on_peer_gone(void *context)
{
    struct linked *l = context; /* the attendant is its first member */
    if (!l->attendant.ended)
        try_later(l);
}

/* ---- The job ----------------------------------------------------------------------------------- */

static void on_late(void *context)
{
    struct linked *l = context;
    l->attendant.loop.over = true;
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
static void look(void *context)
{
    struct linked *l = context;
    const struct plane *plane = &l->attendant.plane;
    bool found = plane->job.id[0], sought = plane->state == PLANE_SEEKS;
    bool there = found ? control_job_alive(&plane->job) && (!sought || control_job_listed(&plane->job))
                       : monotonic_seconds() - l->since < missing;
    timers_set(&l->attendant.loop.timers, &l->look, look_each);
    if (there)
        return;
    timers_cancel(&l->attendant.loop.timers, &l->look);
    timers_cancel(&l->attendant.loop.timers, &l->again);
    attendant_ended(&l->attendant, job_ended());
    timers_set(&l->attendant.loop.timers, &l->late, linger);
}

static void between(void *context)
{
    struct linked *l = context;
    if (l->attendant.ended && peers_flushed(&l->attendant.peers))
        l->attendant.loop.over = true;
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
    a->peers.gone = on_peer_gone;
    l->pause = soonest;
    l->since = monotonic_seconds();
    timer_init(&l->again, try_now, l, NULL);
    timer_init(&l->look, look, l, NULL);
    timer_init(&l->late, on_late, l, NULL);
    timers_set(&a->loop.timers, &l->again, 0);
    timers_set(&a->loop.timers, &l->look, look_each);
    return loop_run(&a->loop, between, l, error);
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
