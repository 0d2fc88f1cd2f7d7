/*
 * A client's connection to a job: that of a member, of a tool (epopctl, an attendant, the gateway), or of a process
 * that has left and only wants to hear of the end. Everything is called by the thread that runs the base, but for
 * wire_link_tell, which any thread may call. Members on another host than the job's come by the one of them that
 * attached first (relay.h).
 */
#ifndef EPOP_WIRE_LINK_H
#define EPOP_WIRE_LINK_H

#include <cjson/cJSON.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <stdbool.h>

#include "runtime/base/error.h"

#define WIRE_URI_MAX   512 /* "unix:HOST:PATH;tcp:ADDRESS:PORT": either, or both */
#define WIRE_TOKEN_MAX 65

/* Where a job is reached from this process. */
struct wire_target {
    char path[WIRE_URI_MAX]; /* of its Unix socket; "": it is on another host */
    bool networked;          /* it has an address */
    struct sockaddr_in address;
};

/* -1: it is no address, or none that this host can use. */
int wire_target_of(const char *uri, struct wire_target *target);

enum wire_role { WIRE_MEMBER, WIRE_TOOL, WIRE_LIFELINE };

struct wire_link;

struct wire_link_ops {
    /* The job has taken it in; or not, for the reason given, within the time: then the link is over. */
    void (*attached)(void *context, const struct error *why_not);
    /* An order, or an event for a tool that watches. */
    void (*message)(void *context, const cJSON *message);
    /* Once, after it was attached: the job has said goodbye, or the connection is gone without (lost). Requests that
     * wait have been answered by then. NULL: nobody asks. */
    void (*ended)(void *context, bool lost);
};

/* Begins to attach; tries again until the time is over where the job has no room just now, or drops the connection.
 * process: a member's number. NULL: no memory, or an address that is none, with text. */
struct wire_link *wire_link_open(struct event_base *base, const char *uri, const char *token, enum wire_role role,
                                 int process, const struct wire_link_ops *ops, void *context, double seconds,
                                 struct error *error);

/* While `attached` says why not: by the last try not even the job's host answers. */
bool wire_link_unreached(const struct wire_link *link);

/* Asks as a tool: {"op":"status"}. The answer, an object with "ok", is the callee's to delete; NULL with why: it did
 * not come in time (ERROR_TIMEOUT; seconds <= 0: no limit), the link is over, or closed. Always called, and never
 * before this returns. -1: no memory, nothing is called. */
int wire_link_ask(struct wire_link *link, const cJSON *request, double seconds,
                  void (*answered)(void *context, cJSON *answer, const struct error *why), void *context);

/* Sends a member's message. Any thread; never blocks. -1: it is not attached. */
int wire_link_tell(struct wire_link *link, const cJSON *message);

/* A member: says goodbye. What it said before has been heard when it has ended, without being lost. -1: it is not
 * attached. */
int wire_link_leave(struct wire_link *link);

/* Do other members of its host come by this one? Then alone is called when none does any more. */
bool wire_link_carries(struct wire_link *link, void (*alone)(void *context));

/* Takes none any more, and has those that it has go to another one. */
void wire_link_step_aside(struct wire_link *link);

/* Says goodbye where it is attached, and frees it: what was sent goes out, for a second at most. Nothing is called any
 * more but for requests that wait. */
void wire_link_close(struct wire_link *link);

#endif
