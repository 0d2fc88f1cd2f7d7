/* Connections of attendants: see peer.h. */
#include "scheduler/slurm/peer.h"

#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/array.h"
#include "runtime/base/json.h"
#include "runtime/base/random.h"
#include "scheduler/munge/munge.h"

#define PIECE            65536
#define LINE_MAX_WELCOME (16 << 20) /* an answer to a status of a large job */
#define LINE_MAX_NEW     8192
#define OUT_MAX          (1 << 20)
static const double patience = 10; /* seconds for the greeting */
static const int most_strangers = 64;
static int strangers; /* connections that are not welcome yet: anybody may make one */

static void lose(struct peer *peer)
{
    if (peer->state == PEER_WELCOME)
        peer->owner->gone(peer->owner->context, peer);
    peer_close(peer);
}

void peer_close(struct peer *peer)
{
    strangers -= peer->state != PEER_WELCOME;
    loop_drop(peer->owner->loop, &peer->watched);
    timers_cancel(&peer->owner->loop->timers, &peer->late);
    close(peer->watched.fd);
    free(peer->in);
    free(peer->out);
    free(peer);
}

void peer_shut(struct peer *peer)
{
    shutdown(peer->watched.fd, SHUT_RDWR);
}

/* Never frees it: what cannot be sent shows when it is read. */
static void flush(struct peer *peer)
{
    ssize_t sent = send(peer->watched.fd, peer->out, peer->out_length, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
        peer->out_length -= (size_t)sent;
        memmove(peer->out, peer->out + sent, peer->out_length);
    }
    if ((sent < 0 && errno != EAGAIN && errno != EINTR) || (peer->closing && !peer->out_length)) {
        shutdown(peer->watched.fd, SHUT_RDWR);
        peer->out_length = 0;
    }
    peer->watched.events = (short)(POLLIN | (peer->out_length ? POLLOUT : 0));
}

void peer_send(struct peer *peer, cJSON *line)
{
    char *text = line ? cJSON_PrintUnformatted(line) : NULL;
    size_t length = text ? strlen(text) : 0;
    cJSON_Delete(line);
    if (!text || peer->out_length + length + 1 > OUT_MAX ||
        array_reserve(&peer->out, &peer->out_room, peer->out_length + length + 1, 1)) {
        shutdown(peer->watched.fd, SHUT_RDWR);
        free(text);
        return;
    }
    memcpy(peer->out + peer->out_length, text, length);
    peer->out_length += length;
    peer->out[peer->out_length++] = '\n';
    free(text);
    flush(peer);
}

static void refuse(struct peer *peer, const char *why)
{
    cJSON *line = cJSON_CreateObject();
    cJSON_AddStringToObject(line, "refused", why);
    peer->closing = true;
    peer_send(peer, line);
}

static bool is_nonce(const char *text)
{
    return text && strlen(text) == PEER_NONCE - 1 && strspn(text, "0123456789abcdef") == PEER_NONCE - 1;
}

/* This end, as the other one sees it. */
static int own_address(int fd, char *text, size_t size)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    char host[NI_MAXHOST], port[NI_MAXSERV];
    if (getsockname(fd, (struct sockaddr *)&address, &length) ||
        getnameinfo((struct sockaddr *)&address, length, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV))
        return -1;
    snprintf(text, size, "%s %s", host, port);
    return 0;
}

/* "I am the adviser at this address, and you have just said that." */
static void greet(struct peer *peer, const cJSON *line)
{
    const char *nonce = json_text(line, "nonce");
    char address[NI_MAXHOST + NI_MAXSERV], text[NI_MAXHOST + NI_MAXSERV + 64], *credential;
    double uid = json_number(line, "uid", -1);
    struct error error;
    peer->job = json_int64(line, "job", 0);
    if (json_int(line, "attend", 0) != 1 || !is_nonce(nonce) || peer->job <= 0 || uid < 0 || uid > 4294967294.0) {
        refuse(peer, "this is the adviser of EPOP jobs, and speaks with their attendants, of version 1");
        return;
    }
    peer->uid = (uid_t)uid;
    if (own_address(peer->watched.fd, address, sizeof address) || random_hex(peer->nonce, (PEER_NONCE - 1) / 2)) {
        refuse(peer, "the adviser does not know its own address");
        return;
    }
    snprintf(text, sizeof text, "epop-adviser %s %s", nonce, address);
    if (munge_make(text, peer->uid, &credential, &error)) {
        refuse(peer, error.text);
        return;
    }
    cJSON *answer = cJSON_CreateObject();
    cJSON_AddNumberToObject(answer, "adviser", 1);
    cJSON_AddStringToObject(answer, "nonce", peer->nonce);
    cJSON_AddStringToObject(answer, "credential", credential);
    free(credential);
    peer->state = PEER_GREETED;
    peer_send(peer, answer);
}

static int prove(struct peer *peer, const cJSON *line, struct error *error)
{
    const char *credential = json_text(line, "credential");
    char expected[PEER_NONCE + 64], *text;
    uid_t uid;
    if (!credential)
        return error_set(error, ERROR_REFUSED, "a credential was expected");
    if (munge_check(credential, &text, &uid, error))
        return -1;
    snprintf(expected, sizeof expected, "epop-attend %s %" PRId64, peer->nonce, peer->job);
    bool right = !strcmp(text, expected);
    free(text);
    if (!right)
        return error_set(error, ERROR_REFUSED, "the credential is not of this connection");
    if (uid != peer->uid)
        return error_set(error, ERROR_REFUSED, "the credential is of uid %ld, not %ld", (long)uid, (long)peer->uid);
    return peer->owner->check(peer->owner->context, peer->job, uid, error);
}

static void admit(struct peer *peer, const cJSON *line)
{
    struct error error;
    if (prove(peer, line, &error)) {
        refuse(peer, error.text);
        return;
    }
    cJSON *welcome = cJSON_CreateObject();
    cJSON_AddTrueToObject(welcome, "welcome");
    timers_cancel(&peer->owner->loop->timers, &peer->late);
    peer->state = PEER_WELCOME;
    strangers--;
    peer_send(peer, welcome);
    peer->owner->welcome(peer->owner->context, peer);
}

static void take(struct peer *peer, const char *text)
{
    cJSON *line = cJSON_Parse(text);
    if (!cJSON_IsObject(line))
        refuse(peer, "that was no line of JSON");
    else if (peer->state == PEER_NEW)
        greet(peer, line);
    else if (peer->state == PEER_GREETED)
        admit(peer, line);
    else
        peer->owner->line(peer->owner->context, peer, line);
    cJSON_Delete(line);
}

static void take_lines(struct peer *peer)
{
    size_t begin = 0;
    char *end;
    while (!peer->closing && (end = memchr(peer->in + begin, '\n', peer->in_length - begin))) {
        *end = '\0';
        take(peer, peer->in + begin);
        begin = (size_t)(end - peer->in) + 1;
    }
    peer->in_length -= begin;
    memmove(peer->in, peer->in + begin, peer->in_length);
}

static bool is_full(const struct peer *peer)
{
    return peer->in_length > (peer->state == PEER_WELCOME ? LINE_MAX_WELCOME : LINE_MAX_NEW);
}

static void ready(void *context, short events)
{
    struct peer *peer = context;
    if (events & POLLOUT)
        flush(peer);
    if (!(events & (POLLIN | POLLHUP | POLLERR)))
        return;
    if (array_reserve(&peer->in, &peer->in_room, peer->in_length + PIECE, 1)) {
        lose(peer);
        return;
    }
    ssize_t got = recv(peer->watched.fd, peer->in + peer->in_length, PIECE, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    peer->in_length += got > 0 ? (size_t)got : 0;
    if (got > 0 && !peer->closing)
        take_lines(peer);
    if (got <= 0 || is_full(peer))
        lose(peer);
}

static void on_late(void *context)
{
    lose(context);
}

struct peer *peer_open(const struct peer_owner *owner, int fd)
{
    struct peer *peer = strangers < most_strangers ? calloc(1, sizeof *peer) : NULL;
    int on = 1;
    if (peer) {
        peer->owner = owner;
        peer->watched = (struct watched){fd, POLLIN, ready, peer};
    }
    if (!peer || loop_add(owner->loop, &peer->watched)) {
        free(peer);
        close(fd);
        return NULL;
    }
    strangers++;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    timer_init(&peer->late, on_late, peer, NULL);
    timers_set(&owner->loop->timers, &peer->late, patience);
    return peer;
}
