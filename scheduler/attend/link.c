/* attend link: looks for the adviser, shakes hands with it, and has it talk with the job until that ends. */
#include "scheduler/attend/link.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <netdb.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/base/random.h"
#include "runtime/wire/loop.h"
#include "runtime/wire/socket.h"
#include "scheduler/attend/alone.h"
#include "scheduler/attend/jobdir.h"
#include "scheduler/attend/service.h"
#include "scheduler/munge/munge.h"

/* ---- Slurm's own user --------------------------------------------------------------------------- */

/* Jobs of Slurm trust it anyway. */

static FILE *open_conf(void)
{
    static const char *const usual[] = {"/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf",
                                        "/run/slurm/conf/slurm.conf"};
    const char *named = getenv("SLURM_CONF");
    FILE *file = named && *named ? fopen(named, "re") : NULL;
    for (size_t i = 0; !file && i < sizeof usual / sizeof *usual; i++)
        file = fopen(usual[i], "re");
    return file;
}

/* "SlurmUser=slurm" or "SlurmUser=slurm(64030)" */
static uid_t uid_of(const char *name)
{
    const struct passwd *entry = getpwnam(name);
    return entry ? entry->pw_uid : 0;
}

/* By SlurmUser of slurm.conf ($SLURM_CONF, or where packages have it); root where that does not say it. */
static uid_t slurm_user(void)
{
    char line[1024], name[128];
    FILE *file = open_conf();
    uid_t uid = 0;
    while (file && fgets(line, sizeof line, file))
        if (!strncasecmp(line, "SlurmUser", 9) && sscanf(line + 9, " = %127[^ \t\n(#]", name) == 1)
            uid = uid_of(name);
    if (file)
        fclose(file);
    return uid;
}

/* ---- The handshake ------------------------------------------------------------------------------- */

/*
 * A job and the adviser show each other who they are, by munge, before anything else is said:
 *
 *   job      {"attend":1,"job":17,"uid":1000,"nonce":"..."}
 *   adviser  {"adviser":1,"nonce":"...","credential":"..."}   of "epop-adviser NONCE-OF-JOB ADDRESS PORT"
 *   job      {"credential":"..."}                             of "epop-attend NONCE-OF-ADVISER 17"
 *   adviser  {"welcome":true}, or at any point {"refused":"reason"}
 *
 * ADDRESS and PORT are the adviser's end of the connection, so that nobody in between can pass the words on.
 */

enum { LINE_MOST = 16384, NONCE = 33, ADDRESS_MAX = NI_MAXHOST + NI_MAXSERV };

static const double patience = 5; /* seconds for all of it */

struct handshake {
    struct wire_line *line;
    struct event *late;
    int64_t job;
    char nonce[NONCE];
    bool shown; /* the adviser has, and so has this end */
    uid_t uid;  /* the adviser's */
    void (*done)(void *context, struct wire_line *line, const struct error *why);
    void *context;
};

static void say_line(const struct handshake *shake, cJSON *line)
{
    wire_line_send(shake->line, line); /* one that is gone is told of */
    cJSON_Delete(line);
}

/* An address of version 4 may be written as one of version 6. */
static const char *plain_address(const char *address)
{
    static const char mapped[] = "::ffff:";
    return strncmp(address, mapped, sizeof mapped - 1) ? address : address + sizeof mapped - 1;
}

/* Of the adviser's end. -1: it is not connected. */
static int find_address(const struct handshake *shake, char text[ADDRESS_MAX])
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    char host[NI_MAXHOST], port[NI_MAXSERV];
    if (getpeername(wire_line_fd(shake->line), (struct sockaddr *)&address, &length) ||
        getnameinfo((struct sockaddr *)&address, length, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV))
        return -1;
    snprintf(text, ADDRESS_MAX, "%s %s", host, port);
    return 0;
}

static bool is_trusted(uid_t uid)
{
    const char *named = getenv("EPOP_ADVISER_UID");
    return !uid || uid == geteuid() || uid == slurm_user() ||
           (named && *named && strtoul(named, NULL, 10) == (unsigned long)uid);
}

/* "epop-adviser NONCE ADDRESS PORT" */
static bool is_of_this_connection(const struct handshake *shake, const char *text)
{
    static const char word[] = "epop-adviser ";
    char address[ADDRESS_MAX];
    size_t length = strlen(shake->nonce), begin = sizeof word - 1;
    return !find_address(shake, address) && !strncmp(text, word, begin) &&
           !strncmp(text + begin, shake->nonce, length) && text[begin + length] == ' ' &&
           !strcmp(plain_address(text + begin + length + 1), plain_address(address));
}

static int check_adviser(struct handshake *shake, const cJSON *line, struct error *error)
{
    const char *credential = json_text(line, "credential");
    char *text;
    if (!credential || !json_text(line, "nonce"))
        return error_set(error, ERROR_FAILED, "that is no adviser: it shows no credential");
    if (munge_check(credential, &text, &shake->uid, error))
        return -1;
    bool ours = is_of_this_connection(shake, text);
    free(text);
    if (!ours)
        return error_set(error, ERROR_REFUSED, "the adviser's credential is not of this connection");
    if (!is_trusted(shake->uid))
        return error_set(
            error, ERROR_REFUSED,
            "the adviser is uid %ld: neither root, SlurmUser nor this user; EPOP_ADVISER_UID=%ld trusts it",
            (long)shake->uid, (long)shake->uid);
    return 0;
}

static void introduce(const struct handshake *shake)
{
    cJSON *line = cJSON_CreateObject();
    cJSON_AddNumberToObject(line, "attend", 1);
    cJSON_AddNumberToObject(line, "job", (double)shake->job);
    cJSON_AddNumberToObject(line, "uid", (double)geteuid());
    cJSON_AddStringToObject(line, "nonce", shake->nonce);
    say_line(shake, line);
}

static int prove(const struct handshake *shake, const char *nonce, struct error *error)
{
    char text[200], *credential;
    snprintf(text, sizeof text, "epop-attend %.64s %" PRId64, nonce, shake->job);
    if (munge_make(text, shake->uid, &credential, error))
        return -1;
    cJSON *line = cJSON_CreateObject();
    cJSON_AddStringToObject(line, "credential", credential);
    free(credential);
    say_line(shake, line);
    return 0;
}

/* ---- The steps of a handshake ------------------------------------------------------------------- */

/* It has failed where the line is to be closed. */
static void finish_handshake(struct handshake *shake, bool failed, const struct error *why)
{
    if (failed)
        wire_line_close(shake->line);
    event_free(shake->late);
    shake->done(shake->context, failed ? NULL : shake->line, why);
    free(shake);
}

static void fail_handshake(struct handshake *shake, enum error_code code, const char *text)
{
    char unused[ADDRESS_MAX];
    struct error error;
    bool reached = !find_address(shake, unused);
    error_set(&error, code, "%s", text);
    finish_handshake(shake, true, reached ? &error : NULL);
}

static void on_message(void *context, const cJSON *line)
{
    struct handshake *shake = context;
    struct error error;
    const char *refused = json_text(line, "refused");
    int failed = 0;
    if (refused)
        failed = error_set(&error, ERROR_REFUSED, "the adviser refuses: %.300s", refused);
    else if (!shake->shown)
        failed = check_adviser(shake, line, &error) || prove(shake, json_text(line, "nonce"), &error);
    else if (!json_true(line, "welcome"))
        failed = error_set(&error, ERROR_FAILED, "that is no adviser: it does not say welcome");
    if (failed || shake->shown)
        finish_handshake(shake, failed, failed ? &error : NULL);
    else
        shake->shown = true;
}

static void on_nonsense(void *context, const char *text)
{
    (void)text;
    fail_handshake(context, ERROR_FAILED, "that is no adviser: it speaks otherwise");
}

static void on_gone(void *context, const char *why)
{
    char text[200];
    snprintf(text, sizeof text, "the adviser has gone: %s", why);
    fail_handshake(context, ERROR_FAILED, text);
}

static void on_handshake_late(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    fail_handshake(context, ERROR_TIMEOUT, "the adviser does not answer");
}

/* The job's side, on a socket that is connected or will be: the descriptor is taken over. Once, and not before this
 * returns, `done` gets the line, which is its own then; or NULL and why not, within some seconds. ERROR_REFUSED: the
 * other one is not whom we take for an adviser (root, SlurmUser, this user, or the uid in $EPOP_ADVISER_UID), or does
 * not take us. No why: nobody was reached. -1: no memory, nothing is called. */
static int begin_handshake(struct event_base *base, int fd, int64_t job,
                           void (*done)(void *context, struct wire_line *line, const struct error *why), void *context)
{
    static const struct wire_line_ops ops = {.message = on_message, .nonsense = on_nonsense, .gone = on_gone};
    static const struct wire_limits limits = {.line = LINE_MOST};
    struct handshake *shake = calloc(1, sizeof *shake);
    struct event *late = shake ? evtimer_new(base, on_handshake_late, shake) : NULL;
    if (!late || random_hex(shake->nonce, (NONCE - 1) / 2)) {
        if (late)
            event_free(late);
        free(shake);
        close(fd);
        return -1;
    }
    shake->late = late;
    shake->job = job;
    shake->done = done;
    shake->context = context;
    if (!(shake->line = wire_line_new(base, fd, &limits, &ops, shake))) {
        event_free(late);
        free(shake);
        return -1;
    }
    wire_timer_set(late, patience);
    introduce(shake);
    return 0;
}

/* ---- The connection with the adviser ------------------------------------------------------------ */

/* Seconds: between tries, from and to; between looks at the job; that it looks for a job that it never saw; that it
 * stays to tell of the end. */
static const double soonest = 0.5, rarest = 30, look_each = 0.5, missing = 30, linger = 5;

struct linked {
    struct service service;
    const char *host, *port;
    char adviser[NI_MAXHOST + NI_MAXSERV], id[NAME_MAX];
    int64_t job;
    double pause, since;
    char complained[ERROR_TEXT_MAX]; /* each thing once */
    struct addrinfo *found, *next;   /* of the adviser: to be tried */
    struct event *again, *look, *late;
    struct alone alone; /* from the time on when it has had an adviser */
};

static void complain_once(struct linked *l, const char *text)
{
    if (!strcmp(l->complained, text))
        return;
    snprintf(l->complained, sizeof l->complained, "%s", text);
    fprintf(stderr, "attend: adviser %s:%s: %s\n", l->host, l->port, text);
}

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
        alone_end(&l->alone);
        service_add_line(&l->service, line);
    } else if (why) {
        complain_once(l, why->text);
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
        failed = fd < 0 ? -1 : begin_handshake(l->service.base, fd, l->job, on_shaken, l);
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
    if (l->service.ended)
        return;
    alone_begin(&l->alone);
    try_later(l);
}

/* ---- The job ------------------------------------------------------------------------------------ */

static void on_lingered(evutil_socket_t fd, short what, void *context)
{
    struct linked *l = context;
    (void)fd, (void)what;
    service_leave(&l->service);
}

/* Its status is Slurm's to tell. */
static void look_at_job(evutil_socket_t fd, short what, void *context)
{
    struct linked *l = context;
    const struct plane *plane = &l->service.plane;
    bool found = plane->job.id[0], sought = plane->state == PLANE_SEEKS;
    bool there = found ? control_job_alive(&plane->job) && (!sought || control_job_listed(&plane->job))
                       : monotonic_seconds() - l->since < missing;
    (void)fd, (void)what;
    wire_timer_set(l->look, look_each);
    if (there)
        return;
    evtimer_del(l->look);
    evtimer_del(l->again);
    alone_end(&l->alone);
    l->service.told = true; /* nobody else comes to ask */
    service_ended(&l->service, jobdir_ended(-1, -1, NULL));
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

static int stay_connected(struct linked *l, struct error *error)
{
    struct service *s = &l->service;
    if (service_open(s, NULL, l->id, error))
        return -1;
    s->gone = on_peer_gone;
    s->context = l;
    l->pause = soonest;
    l->since = monotonic_seconds();
    l->again = evtimer_new(s->base, try_now, l);
    l->look = evtimer_new(s->base, look_at_job, l);
    l->late = evtimer_new(s->base, on_lingered, l);
    if (!l->again || !l->look || !l->late)
        return error_memory(error);
    if (alone_open(&l->alone, s, l->job, error))
        return -1;
    wire_timer_set(l->again, 0);
    wire_timer_set(l->look, look_each);
    return service_run(s, error);
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
    if (!stay_connected(&l, &error))
        return 0;
    fprintf(stderr, "attend: %s\n", error.text);
    return 1;
}
