/* The job's side of the handshake: see handshake.h. */
#include "scheduler/attend/handshake.h"

#include <inttypes.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/json.h"
#include "runtime/base/random.h"
#include "runtime/wire/loop.h"
#include "scheduler/attend/slurm_user.h"
#include "scheduler/munge/munge.h"

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

static void say(const struct handshake *shake, cJSON *line)
{
    wire_line_send(shake->line, line); /* one that is gone is told of */
    cJSON_Delete(line);
}

/* An address of version 4 may be written as one of version 6. */
static const char *plain(const char *address)
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
           !strcmp(plain(text + begin + length + 1), plain(address));
}

static int check(struct handshake *shake, const cJSON *line, struct error *error)
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
    say(shake, line);
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
    say(shake, line);
    return 0;
}

/* ---- Its steps --------------------------------------------------------------------------------- */

/* It has failed where the line is to be closed. */
static void finish(struct handshake *shake, bool failed, const struct error *why)
{
    if (failed)
        wire_line_close(shake->line);
    event_free(shake->late);
    shake->done(shake->context, failed ? NULL : shake->line, why);
    free(shake);
}

static void fail(struct handshake *shake, enum error_code code, const char *text)
{
    char unused[ADDRESS_MAX];
    struct error error;
    bool reached = !find_address(shake, unused);
    error_set(&error, code, "%s", text);
    finish(shake, true, reached ? &error : NULL);
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
        failed = check(shake, line, &error) || prove(shake, json_text(line, "nonce"), &error);
    else if (!json_true(line, "welcome"))
        failed = error_set(&error, ERROR_FAILED, "that is no adviser: it does not say welcome");
    if (failed || shake->shown)
        finish(shake, failed, failed ? &error : NULL);
    else
        shake->shown = true;
}

static void on_nonsense(void *context, const char *text)
{
    (void)text;
    fail(context, ERROR_FAILED, "that is no adviser: it speaks otherwise");
}

static void on_gone(void *context, const char *why)
{
    char text[200];
    snprintf(text, sizeof text, "the adviser has gone: %s", why);
    fail(context, ERROR_FAILED, text);
}

static void on_late(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    fail(context, ERROR_TIMEOUT, "the adviser does not answer");
}

int handshake_begin(struct event_base *base, int fd, int64_t job,
                    void (*done)(void *context, struct wire_line *line, const struct error *why), void *context)
{
    static const struct wire_line_ops ops = {.message = on_message, .nonsense = on_nonsense, .gone = on_gone};
    static const struct wire_limits limits = {.line = LINE_MOST};
    struct handshake *shake = calloc(1, sizeof *shake);
    struct event *late = shake ? evtimer_new(base, on_late, shake) : NULL;
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
