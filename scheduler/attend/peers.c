/* Connections: see peers.h. */
#include "scheduler/attend/peers.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { IN_MOST = 1 << 20, OUT_MOST = 16 << 20 };

/* It is freed when nobody uses it any more: here, and in no other place. */
static void lose(struct peer *peer)
{
    struct peers *peers = peer->peers;
    for (struct peer **at = &peers->first; *at; at = &(*at)->next)
        if (*at == peer) {
            *at = peer->next;
            break;
        }
    loop_drop(peers->loop, &peer->watched);
    close(peer->watched.fd);
    lines_free(&peer->lines);
    free(peer);
    if (peers->gone)
        peers->gone(peers->context);
}

/* What goes wrong with writing shows itself when it is read from. */
static void flush(struct peer *peer)
{
    if (lines_send(&peer->lines, peer->watched.fd))
        peer->lines.out_used = 0;
    peer->watched.events = (short)(POLLIN | (peer->lines.out_used ? POLLOUT : 0));
}

static void ready(void *context, short events)
{
    struct peer *peer = context;
    if (events & POLLOUT)
        flush(peer);
    if (!(events & (POLLIN | POLLHUP | POLLERR)))
        return;
    enum lines_end end = lines_receive(&peer->lines, peer->watched.fd);
    for (char *text; (text = lines_next(&peer->lines));) {
        cJSON *line = cJSON_Parse(text);
        peer->peers->line(peer->peers->context, peer, cJSON_IsObject(line) ? line : NULL);
        cJSON_Delete(line);
    }
    if (end != LINES_OPEN)
        lose(peer);
}

struct peer *peers_add(struct peers *peers, int fd)
{
    struct peer *peer = calloc(1, sizeof *peer);
    if (peer) {
        peer->peers = peers;
        peer->lines.in_most = IN_MOST;
        peer->lines.out_most = OUT_MOST;
        peer->watched = (struct watched){.fd = fd, .events = POLLIN, .ready = ready, .context = peer};
    }
    if (!peer || loop_add(peers->loop, &peer->watched)) {
        free(peer);
        close(fd);
        return NULL;
    }
    peer->next = peers->first;
    peers->first = peer;
    return peer;
}

static void say_text(struct peer *peer, const char *text)
{
    if (lines_put(&peer->lines, text))
        shutdown(peer->watched.fd, SHUT_RDWR);
    flush(peer);
}

void peer_say(struct peer *peer, cJSON *line)
{
    char *text = cJSON_PrintUnformatted(line);
    if (text)
        say_text(peer, text);
    free(text);
    cJSON_Delete(line);
}

void peers_say(struct peers *peers, const char *text)
{
    for (struct peer *peer = peers->first; peer; peer = peer->next)
        say_text(peer, text);
}

bool peers_flushed(const struct peers *peers)
{
    for (const struct peer *peer = peers->first; peer; peer = peer->next)
        if (peer->lines.out_used)
            return false;
    return true;
}
