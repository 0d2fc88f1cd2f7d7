/* The job's side of the handshake: see handshake.h. */
#include "scheduler/attend/handshake.h"

#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/base/random.h"
#include "scheduler/attend/slurm_user.h"
#include "scheduler/munge/munge.h"

enum { LINE_MAX_BYTES = 16384, NONCE = 33, ADDRESS_MAX = NI_MAXHOST + NI_MAXSERV };
static const double patience = 5; /* seconds for all of it */

struct shake {
    int fd;
    double deadline;
    char nonce[NONCE];
    char address[ADDRESS_MAX]; /* of the adviser's end */
    uid_t uid;                 /* the adviser's */
};

static int say(const struct shake *shake, cJSON *line, struct error *error)
{
    char *text = cJSON_PrintUnformatted(line);
    size_t length = text ? strlen(text) : 0;
    cJSON_Delete(line);
    if (!text)
        return error_memory(error);
    text[length] = '\n'; /* its end is not looked at any more */
    bool sent = send(shake->fd, text, length + 1, MSG_NOSIGNAL) == (ssize_t)length + 1;
    free(text);
    return sent ? 0 : error_set(error, ERROR_FAILED, "the adviser has gone: %s", strerror(errno));
}

/* One byte at a time: what follows the line is not ours. */
static int read_line(const struct shake *shake, char text[LINE_MAX_BYTES], struct error *error)
{
    for (size_t used = 0; used < LINE_MAX_BYTES; used++) {
        struct pollfd fd = {.fd = shake->fd, .events = POLLIN};
        double left = shake->deadline - monotonic_seconds();
        if (left <= 0 || poll(&fd, 1, (int)(left * 1e3) + 1) <= 0)
            return error_set(error, ERROR_TIMEOUT, "the adviser does not answer");
        if (recv(shake->fd, text + used, 1, 0) != 1)
            return error_set(error, ERROR_FAILED, "the adviser has gone");
        if (text[used] == '\n') {
            text[used] = '\0';
            return 0;
        }
    }
    return error_set(error, ERROR_FAILED, "that is no adviser: its line is too long");
}

/* NULL: an error says why. */
static cJSON *hear(const struct shake *shake, struct error *error)
{
    char text[LINE_MAX_BYTES];
    if (read_line(shake, text, error))
        return NULL;
    cJSON *line = cJSON_Parse(text);
    const char *refused = json_text(line, "refused");
    if (cJSON_IsObject(line) && !refused)
        return line;
    if (refused)
        error_set(error, ERROR_REFUSED, "the adviser refuses: %.300s", refused);
    else
        error_set(error, ERROR_FAILED, "that is no adviser: it speaks otherwise");
    cJSON_Delete(line);
    return NULL;
}

/* An address of version 4 may be written as one of version 6. */
static const char *plain(const char *address)
{
    static const char mapped[] = "::ffff:";
    return strncmp(address, mapped, sizeof mapped - 1) ? address : address + sizeof mapped - 1;
}

static int find_address(struct shake *shake)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    char host[NI_MAXHOST], port[NI_MAXSERV];
    if (getpeername(shake->fd, (struct sockaddr *)&address, &length) ||
        getnameinfo((struct sockaddr *)&address, length, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV))
        return -1;
    snprintf(shake->address, sizeof shake->address, "%s %s", host, port);
    return 0;
}

static bool is_trusted(uid_t uid)
{
    const char *named = getenv("EPOP_ADVISER_UID");
    return !uid || uid == geteuid() || uid == slurm_user() ||
           (named && *named && strtoul(named, NULL, 10) == (unsigned long)uid);
}

/* "epop-adviser NONCE ADDRESS PORT" */
static bool is_of_this_connection(const struct shake *shake, const char *text)
{
    static const char word[] = "epop-adviser ";
    size_t length = strlen(shake->nonce), begin = sizeof word - 1;
    return !strncmp(text, word, begin) && !strncmp(text + begin, shake->nonce, length) && text[begin + length] == ' ' &&
           !strcmp(plain(text + begin + length + 1), plain(shake->address));
}

static int check(struct shake *shake, const cJSON *line, struct error *error)
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

static int introduce(const struct shake *shake, int64_t job, struct error *error)
{
    cJSON *line = cJSON_CreateObject();
    cJSON_AddNumberToObject(line, "attend", 1);
    cJSON_AddNumberToObject(line, "job", (double)job);
    cJSON_AddNumberToObject(line, "uid", (double)geteuid());
    cJSON_AddStringToObject(line, "nonce", shake->nonce);
    return say(shake, line, error);
}

static int prove(const struct shake *shake, const char *nonce, int64_t job, struct error *error)
{
    char text[200], *credential;
    snprintf(text, sizeof text, "epop-attend %.64s %" PRId64, nonce, job);
    if (munge_make(text, shake->uid, &credential, error))
        return -1;
    cJSON *line = cJSON_CreateObject();
    cJSON_AddStringToObject(line, "credential", credential);
    free(credential);
    return say(shake, line, error);
}

static int await_welcome(const struct shake *shake, struct error *error)
{
    cJSON *line = hear(shake, error);
    bool welcome = json_true(line, "welcome");
    cJSON_Delete(line);
    if (line && !welcome)
        return error_set(error, ERROR_FAILED, "that is no adviser: it does not say welcome");
    return line ? 0 : -1;
}

int handshake(int fd, int64_t job, struct error *error)
{
    struct shake shake = {.fd = fd, .deadline = monotonic_seconds() + patience};
    if (random_hex(shake.nonce, (NONCE - 1) / 2) || find_address(&shake))
        return error_set(error, ERROR_FAILED, "the connection has no address");
    if (introduce(&shake, job, error))
        return -1;
    cJSON *line = hear(&shake, error);
    int failed = !line || check(&shake, line, error) || prove(&shake, json_text(line, "nonce"), job, error);
    cJSON_Delete(line);
    return failed ? -1 : await_welcome(&shake, error);
}
