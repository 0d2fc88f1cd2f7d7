/* The job's side of its supervisor, `epop --recover`. */
#include "runtime/control/supervisor.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/child.h"
#include "runtime/base/clock.h"
#include "runtime/base/host.h"
#include "runtime/wire/line.h"
#include "runtime/wire/link.h"
#include "runtime/wire/proof.h"
#include "runtime/wire/socket.h"

static const double to_begin = 3, to_hear = 1; /* seconds */
enum { FIRST_LINE = 1280, TEXT_MOST = 400, ANSWER_BYTES = 1 << 18 };

static struct {
    bool there, found; /* one is named; its address is known */
    char uri[WIRE_URI_MAX], token[PROOF_TOKEN_MAX];
    struct wire_target target;
    int fd; /* process 0's connection */
} supervisor = {.fd = -1};

bool supervisor_know(void)
{
    const char *text = getenv(SUPERVISOR);
    supervisor.there = text && sscanf(text, "%511s %64s", supervisor.uri, supervisor.token) == 2;
    supervisor.found = supervisor.there && !wire_target_of(supervisor.uri, &supervisor.target);
    return supervisor.there;
}

bool supervisor_is_there(void)
{
    return supervisor.there;
}

int supervisor_recoveries(void)
{
    const char *text = supervisor.there ? getenv(SUPERVISOR_COUNT) : NULL;
    return text ? atoi(text) : 0;
}

int supervisor_lost_ranks(int *ranks, int room)
{
    int count = 0, rank, used;
    const char *at = supervisor.there ? getenv(SUPERVISOR_LOST) : NULL;
    for (; at && sscanf(at, "%d,%n", &rank, &used) == 1; at += used)
        if (count < room)
            ranks[count++] = rank;
    return count;
}

/* ---- A first line, and its answer: also in a handler of a signal, so that nothing here takes memory ------------- */

/* Waits until then at most. */
static bool is_ready(int fd, short events, double until)
{
    struct pollfd one = {.fd = fd, .events = events};
    int ready;
    do {
        double left = until - monotonic_seconds();
        ready = poll(&one, 1, left > 0 ? (int)(left * 1e3) + 1 : 0);
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
}

static int await_connected(int fd, double until)
{
    int failure = 0;
    socklen_t size = sizeof failure;
    if (!is_ready(fd, POLLOUT, until))
        failure = ETIMEDOUT;
    else
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size);
    if (!failure)
        return fd;
    close(fd);
    errno = failure;
    return -1;
}

/* The path is that of this host's supervisor, or of none. A descriptor, or -1 with errno. */
static int reach(double until, bool *networked)
{
    const struct wire_target *target = &supervisor.target;
    int fd = supervisor.found && target->path[0] ? wire_connect_path(target->path) : -1;
    *networked = fd < 0 && supervisor.found && target->networked;
    if (*networked) {
        fd = wire_connect_address((const struct sockaddr *)&target->address, sizeof target->address);
        if (fd >= 0)
            wire_socket_tune(fd);
    }
    return fd >= 0 ? await_connected(fd, until) : -1;
}

/* Without its end; "": it did not come in time. */
static void read_line(int fd, char *line, size_t size, double until)
{
    size_t used = 0;
    line[0] = '\0';
    while (used < size - 1 && is_ready(fd, POLLIN, until)) {
        ssize_t n = recv(fd, line + used, size - 1 - used, 0);
        if (n <= 0)
            return;
        used += (size_t)n;
        if (line[used - 1] == '\n') {
            line[used - 1] = '\0';
            return;
        }
        line[used] = '\0';
    }
    line[0] = '\0';
}

/* A member that is 64 hexadecimal digits. */
static bool take_digits(const char *line, const char *name, char digits[PROOF_MAX])
{
    char quoted[32];
    int length = snprintf(quoted, sizeof quoted, "\"%s\"", name);
    while ((line = strstr(line, quoted))) {
        line += length;
        line += strspn(line, " ");
        if (*line != ':')
            continue; /* it is a value */
        line += strspn(line, ": \"");
        snprintf(digits, PROOF_MAX, "%s", line);
        return strspn(digits, "0123456789abcdef") == PROOF_MAX - 1;
    }
    return false;
}

/* What both ends know of a connection. */
struct secret {
    bool needed; /* it goes over a network */
    char own[PROOF_MAX], other[PROOF_MAX];
};

static bool hear_challenge(int fd, struct secret *secret, double until)
{
    char line[FIRST_LINE];
    if (!secret->needed)
        return true;
    read_line(fd, line, sizeof line, until);
    return take_digits(line, "challenge", secret->other) && !proof_random(secret->own);
}

/* Is it heard, by the supervisor? */
static bool is_heard(int fd, const char *op, const struct secret *secret, double until)
{
    char line[FIRST_LINE], code[PROOF_MAX], shown[PROOF_MAX];
    read_line(fd, line, sizeof line, until);
    if (!secret->needed)
        return line[0];
    proof_make(code, supervisor.token, PROOF_SERVER, secret->own, secret->other, op);
    return take_digits(line, "proof", shown) && proof_is(code, shown);
}

/* Lines are short, and the socket's buffer is not. */
static bool put(int fd, const char *line, size_t length)
{
    return send(fd, line, length, MSG_NOSIGNAL) == (ssize_t)length;
}

/* `members`: ,"name":value ... of the line, besides its op. */
static bool say_first(int fd, const char *op, const char *members, struct secret *secret, double until)
{
    char line[FIRST_LINE], code[PROOF_MAX], proof[3 * PROOF_MAX] = "";
    if (!hear_challenge(fd, secret, until))
        return false;
    if (secret->needed) {
        proof_make(code, supervisor.token, PROOF_CLIENT, secret->own, secret->other, op);
        snprintf(proof, sizeof proof, ",\"challenge\":\"%s\",\"proof\":\"%s\"", secret->own, code);
    }
    int length = snprintf(line, sizeof line, "{\"op\":\"%s\"%s%s}\n", op, members, proof);
    return length < (int)sizeof line && put(fd, line, (size_t)length) && is_heard(fd, op, secret, until);
}

/* On a connection of its own. */
static void say_alone(const char *op, const char *members)
{
    struct secret secret;
    double until = monotonic_seconds() + to_hear;
    int fd = reach(until, &secret.needed);
    if (fd < 0)
        return;
    say_first(fd, op, members, &secret, until);
    close(fd);
}

/* ---- Process 0 ----------------------------------------------------------------------------------- */

void supervisor_starts(void)
{
    say_alone(SUPERVISOR_STARTS, "");
}

int supervisor_begin(struct error *error)
{
    char members[128];
    struct secret secret;
    double until = monotonic_seconds() + to_begin;
    int fd = reach(until, &secret.needed);
    if (fd < 0)
        return error_set(error, ERROR_FAILED,
                         "cannot reach epop --recover at %s: %s; EPOP_CONTROL_ADDRESS there names the address that is "
                         "reached",
                         supervisor.uri, supervisor.found ? strerror(errno) : "that is no address for this host");
    snprintf(members, sizeof members, ",\"pid\":%ld,\"host\":\"%s\"", (long)getpid(), host_own());
    if (!say_first(fd, SUPERVISOR_BEGINS, members, &secret, until)) {
        close(fd);
        return error_set(error, ERROR_FAILED, "epop --recover at %s does not answer", supervisor.uri);
    }
    supervisor.fd = fd;
    child_without(&supervisor.fd);
    return 0;
}

void supervisor_say(const cJSON *message)
{
    size_t length;
    char *text = supervisor.fd >= 0 ? wire_line_text(message, &length) : NULL;
    if (text)
        put(supervisor.fd, text, length);
    cJSON_free(text);
}

static _Atomic(cJSON *) list;

void supervisor_runs(const cJSON *message)
{
    char *text = supervisor.fd >= 0 ? malloc(ANSWER_BYTES) : NULL;
    if (!text)
        return;
    supervisor_say(message);
    read_line(supervisor.fd, text, ANSWER_BYTES, monotonic_seconds() + to_hear);
    cJSON *answer = cJSON_Parse(text);
    atomic_store(&list, cJSON_DetachItemFromObjectCaseSensitive(answer, SUPERVISOR_RECOVERIES));
    cJSON_Delete(answer);
    free(text);
}

const cJSON *supervisor_list(void)
{
    return atomic_load(&list);
}

/* ---- The end ------------------------------------------------------------------------------------- */

/* The first line of a text, as it stands in JSON. */
static void quote(char quoted[2 * TEXT_MOST], const char *text)
{
    size_t used = 0;
    for (int i = 0; i < TEXT_MOST - 1 && text[i] && text[i] != '\n'; i++) {
        if (text[i] == '"' || text[i] == '\\')
            quoted[used++] = '\\';
        quoted[used++] = (unsigned char)text[i] < ' ' ? ' ' : text[i];
    }
    quoted[used] = '\0';
}

static char lost[32]; /* a member of a fault's line */

void supervisor_lost(int rank)
{
    if (rank >= 0)
        snprintf(lost, sizeof lost, ",\"rank\":%d", rank);
}

void supervisor_end(const char *op, int number, const char *text)
{
    char members[2 * TEXT_MOST + 96], quoted[2 * TEXT_MOST];
    quote(quoted, text ? text : "");
    snprintf(members, sizeof members, ",\"%s\":%d%s%s%s%s", !strcmp(op, SUPERVISOR_FITS) ? "ranks" : "status", number,
             !strcmp(op, SUPERVISOR_FAULT) ? lost : "", text ? ",\"text\":\"" : "", quoted, text ? "\"" : "");
    say_alone(op, members);
}
