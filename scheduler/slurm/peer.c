/* Connections of attendants: the port where they find the adviser, and how they and it show who they are. */
#include "scheduler/slurm/peer.h"

#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/host.h"
#include "runtime/base/json.h"
#include "runtime/base/paths.h"
#include "runtime/base/random.h"
#include "runtime/wire/loop.h"
#include "runtime/wire/socket.h"
#include "scheduler/munge/munge.h"

/* ---- The port and its file ---------------------------------------------------------------------- */

static int name_file(struct peer_port *listening, const char *file, struct error *error)
{
    size_t size = sizeof listening->file;
    if (file)
        snprintf(listening->file, size, "%s", file);
    else if (!geteuid())
        snprintf(listening->file, size, "/etc/epop/adviser");
    else if (statedir_path(listening->file, size, "run/adviser"))
        return error_set(error, ERROR_REFUSED, "there is no HOME for the file that names the adviser: --address-file");
    if (make_parents(listening->file, geteuid() || file ? 0700 : 0755)) /* below /etc all may read */
        return error_set(error, ERROR_FAILED, "%s: %s", listening->file, strerror(errno));
    return 0;
}

/* *port: it gets it. The number stands at the same place for both protocols. A descriptor, or -1 with text. */
static int open_either(int *port, struct error *error)
{
    struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)*port), .sin6_addr = in6addr_any};
    struct sockaddr_in any4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)*port)};
    socklen_t size = sizeof any, size4 = sizeof any4;
    int fd = wire_listen_address((struct sockaddr *)&any, &size, error);
    if (fd < 0) {
        fd = wire_listen_address((struct sockaddr *)&any4, &size4, error);
        any.sin6_port = any4.sin_port;
    }
    if (fd >= 0)
        *port = ntohs(any.sin6_port);
    return fd;
}

static int write_file(const struct peer_port *listening, struct error *error)
{
    char fresh[sizeof listening->file + 8];
    snprintf(fresh, sizeof fresh, "%s.new", listening->file);
    FILE *file = fopen(fresh, "we");
    bool written = file && fprintf(file, "%s\n", listening->address) > 0;
    if (file)
        written = !fclose(file) && written;
    if (!written || chmod(fresh, 0644) || rename(fresh, listening->file))
        return error_set(error, ERROR_FAILED, "%s: %s", listening->file, strerror(errno));
    return 0;
}

/* Jobs that run look for the next adviser where the last one was. */
static int last_port(const char *memory)
{
    FILE *file = fopen(memory, "re");
    int port = 0;
    if (file && (fscanf(file, "%5d", &port) < 1 || port < 1 || port > 65535))
        port = 0;
    if (file)
        fclose(file);
    return port;
}

static void remember_port(const char *memory, int port)
{
    FILE *file = fopen(memory, "we");
    if (file)
        fprintf(file, "%d\n", port), fclose(file);
}

int peer_port_open(struct peer_port *listening, int port, const char *file, const char *memory, struct error *error)
{
    int wished = port, last = port ? 0 : last_port(memory);
    *listening = (struct peer_port){.fd = -1};
    if (name_file(listening, file, error))
        return -1;
    if (last)
        listening->fd = open_either(&last, error);
    if (listening->fd < 0)
        listening->fd = open_either(&port, error);
    else
        port = last;
    if (listening->fd < 0)
        return error_set(error, ERROR_FAILED, "port %d: %s", wished, error->text);
    snprintf(listening->address, sizeof listening->address, "%s:%d", host_own(), port);
    remember_port(memory, port);
    if (!write_file(listening, error))
        return 0;
    close(listening->fd);
    return -1;
}

void peer_port_close(struct peer_port *listening)
{
    char line[sizeof listening->address] = "";
    FILE *file = fopen(listening->file, "re");
    if (!file)
        return;
    bool ours = fgets(line, sizeof line, file) && (line[strcspn(line, "\n")] = '\0', !strcmp(line, listening->address));
    fclose(file);
    if (ours)
        unlink(listening->file);
}

/* ---- Connections -------------------------------------------------------------------------------- */

static const double patience = 10, farewell = 5; /* seconds for the greeting, and for a refusal to be taken */
enum { STRANGERS = 64 };
static const struct wire_limits small = {.line = 8192, .unsent = 1 << 20},
                                large = {.line = 16 << 20, .unsent = 1 << 20}; /* a status of a large job */

/* Connections that are not welcome yet, the oldest first. */
static TAILQ_HEAD(peers, peer) strangers = TAILQ_HEAD_INITIALIZER(strangers);
static int stranger_count;

static void forget_peer(struct peer *peer)
{
    if (peer->state != PEER_WELCOME) {
        TAILQ_REMOVE(&strangers, peer, at);
        stranger_count--;
    }
    if (peer->late)
        event_free(peer->late);
    free(peer);
}

void peer_close(struct peer *peer)
{
    wire_line_close(peer->line);
    forget_peer(peer);
}

static void lose_peer(struct peer *peer)
{
    if (peer->state == PEER_WELCOME)
        peer->owner->gone(peer->owner->context, peer);
    peer_close(peer);
}

/* One that is gone is told of. */
void peer_send(struct peer *peer, cJSON *line)
{
    wire_line_send(peer->line, line);
    cJSON_Delete(line);
}

static void refuse_peer(struct peer *peer, const char *why)
{
    cJSON *line = cJSON_CreateObject();
    cJSON_AddStringToObject(line, "refused", why);
    peer_send(peer, line);
    wire_line_finish(peer->line, farewell);
    forget_peer(peer);
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
static void greet_job(struct peer *peer, const cJSON *line)
{
    const char *nonce = json_text(line, "nonce");
    char address[NI_MAXHOST + NI_MAXSERV], text[NI_MAXHOST + NI_MAXSERV + 64], *credential;
    double uid = json_number(line, "uid", -1);
    struct error error;
    peer->job = json_int64(line, "job", 0);
    if (json_int(line, "attend", 0) != 1 || !is_nonce(nonce) || peer->job <= 0 || uid < 0 || uid > 4294967294.0) {
        refuse_peer(peer, "this is the adviser of EPOP jobs, and speaks with their attendants, of version 1");
        return;
    }
    peer->uid = (uid_t)uid;
    if (own_address(wire_line_fd(peer->line), address, sizeof address) ||
        random_hex(peer->nonce, (PEER_NONCE - 1) / 2)) {
        refuse_peer(peer, "the adviser does not know its own address");
        return;
    }
    snprintf(text, sizeof text, "epop-adviser %s %s", nonce, address);
    if (munge_make(text, peer->uid, &credential, &error)) {
        refuse_peer(peer, error.text);
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

static int prove_job(struct peer *peer, const cJSON *line, struct error *error)
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

static const struct wire_line_ops ops;

static void admit_job(struct peer *peer, const cJSON *line)
{
    struct error error;
    if (prove_job(peer, line, &error)) {
        refuse_peer(peer, error.text);
        return;
    }
    cJSON *welcome = cJSON_CreateObject();
    cJSON_AddTrueToObject(welcome, "welcome");
    event_free(peer->late);
    peer->late = NULL;
    TAILQ_REMOVE(&strangers, peer, at);
    stranger_count--;
    peer->state = PEER_WELCOME;
    wire_line_hand(peer->line, &large, WIRE_MEMBERS, &ops, peer);
    peer_send(peer, welcome);
    peer->owner->welcome(peer->owner->context, peer);
}

static void on_message(void *context, const cJSON *line)
{
    struct peer *peer = context;
    if (peer->state == PEER_NEW)
        greet_job(peer, line);
    else if (peer->state == PEER_GREETED)
        admit_job(peer, line);
    else
        peer->owner->line(peer->owner->context, peer, line);
}

static void on_nonsense(void *context, const char *text)
{
    struct peer *peer = context;
    (void)text;
    if (peer->state == PEER_WELCOME)
        lose_peer(peer);
    else
        refuse_peer(peer, "that was no line of JSON");
}

static void on_gone(void *context, const char *why)
{
    (void)why;
    lose_peer(context);
}

static const struct wire_line_ops ops = {.message = on_message, .nonsense = on_nonsense, .gone = on_gone};

static void on_late(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    lose_peer(context);
}

/* ---- Those who come ----------------------------------------------------------------------------- */

/* Ports do not count. */
static bool is_same_host(const struct peer *one, const struct peer *other)
{
    struct sockaddr_in6 a, b;
    memcpy(&a, &one->from, sizeof a);
    memcpy(&b, &other->from, sizeof b);
    if (a.sin6_family != b.sin6_family)
        return false;
    if (a.sin6_family == AF_INET6)
        return !memcmp(&a.sin6_addr, &b.sin6_addr, sizeof a.sin6_addr);
    return !memcmp(&((struct sockaddr_in *)&a)->sin_addr, &((struct sockaddr_in *)&b)->sin_addr,
                   sizeof(struct in_addr));
}

static void drop_oldest(const struct peer *coming)
{
    struct peer *oldest = TAILQ_FIRST(&strangers), *other;
    TAILQ_FOREACH(other, &strangers, at)
    if (is_same_host(other, coming)) {
        oldest = other;
        break;
    }
    if (stranger_count >= STRANGERS)
        peer_close(oldest);
}

void peer_open(const struct peer_owner *owner, int fd)
{
    struct peer *peer = calloc(1, sizeof *peer);
    socklen_t length = sizeof peer->from;
    if (!peer || !(peer->late = evtimer_new(owner->base, on_late, peer))) {
        free(peer);
        close(fd);
        return;
    }
    peer->owner = owner;
    getpeername(fd, (struct sockaddr *)&peer->from, &length);
    wire_socket_tune(fd);
    drop_oldest(peer);
    if (!(peer->line = wire_line_new(owner->base, fd, &small, &ops, peer))) {
        event_free(peer->late);
        free(peer);
        return;
    }
    TAILQ_INSERT_TAIL(&strangers, peer, at);
    stranger_count++;
    wire_timer_set(peer->late, patience);
}
