/*
 * The one connection of a host to a job that is on another one. The first member there that attaches is its relay: it
 * takes the other members of its host in, at a name that only those find who know the token, hands them what they are
 * told, and the job what they say. What many of them say alike at a time goes as one line (docs/reference/control.md,
 * Relays).
 *
 * A relay that leaves the job, or its world, says so to the others before, and the first of them to attach again is the
 * next one: nothing is lost. When a relay dies they are lost with it; as it is a process of the world, or joins
 * together with them, what becomes of the job is the same. Everything is called by the thread that runs the base.
 */
#ifndef EPOP_WIRE_RELAY_H
#define EPOP_WIRE_RELAY_H

#include <cjson/cJSON.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>

#include "runtime/wire/line.h"

struct wire_relay;

struct wire_relay_ops {
    /* What the relay itself is told, in a line for many. */
    void (*own)(void *context, const cJSON *message);
    /* The last of those that came by it has gone, or moved. */
    void (*empty)(void *context);
};

/* Of member `process`, who may become one. NULL: no memory. */
struct wire_relay *wire_relay_new(struct event_base *base, const char *token, int process,
                                  const struct wire_relay_ops *ops, void *context);
void wire_relay_free(struct wire_relay *relay);

/* How a member of this host reaches the job. */
enum wire_way {
    WIRE_FOLLOWS, /* by the relay: *fd is a connection to it */
    WIRE_LEADS,   /* by itself, and it is the relay from now on */
    WIRE_ALONE,   /* by itself */
    WIRE_WAITS    /* to be asked again soon */
};
enum wire_way wire_relay_seek(struct wire_relay *relay, int *fd);

/* It has attached, on that connection: those who wait are brought. NULL: the connection is gone; they are lost. */
void wire_relay_attached(struct wire_relay *relay, struct wire_line *up);

/* What has come from the job, if it is for the relay to hand on. Was it? */
bool wire_relay_take(struct wire_relay *relay, const cJSON *message);

/* Takes nobody in any more, now and later; those whom it has are to move. */
void wire_relay_step_down(struct wire_relay *relay);

/* So many come by it. */
size_t wire_relay_count(const struct wire_relay *relay);

#endif
