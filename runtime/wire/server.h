/*
 * A job's end of the wire, in process 0: its members, the tools that ask and watch, and those that left and only want
 * to hear of the end. It has a thread of its own, on which the functions of wire_server_ops are called: they must not
 * block, and keep nothing of what they are given. All functions here may be called from any thread.
 *
 * Who may talk: on the Unix socket processes of the same user, as the kernel knows them; over TCP who shows that he
 * knows the token (proof.h). Those who have not shown it yet are few, are listened to for a few bytes and seconds, and
 * never take the place of a member: the oldest of the same address goes first.
 */
#ifndef EPOP_WIRE_SERVER_H
#define EPOP_WIRE_SERVER_H

#include <cjson/cJSON.h>
#include <netinet/in.h>

#include "runtime/base/error.h"
#include "runtime/wire/link.h"

#define WIRE_ALL (-1) /* as `process`: every attached member */

struct wire_server;
struct wire_request; /* of a tool, that waits for its answer */

/* Any of them may be NULL, but for request. */
struct wire_server_ops {
    /* member `process` has attached / its connection is gone without goodbye / it is closed, in either way */
    void (*attached)(void *context, int process);
    void (*lost)(void *context, int process);
    void (*closed)(void *context, int process);
    /* all of them have said it */
    void (*message)(void *context, const int *processes, int count, const cJSON *message);
    /* must be answered, now or later, exactly once */
    void (*request)(void *context, struct wire_request *request, const cJSON *json);
    /* the tool that made it has gone; the request must still be answered (which does nothing then) */
    void (*abandoned)(void *context, struct wire_request *request);
};

struct wire_place {
    const char *path;                  /* of the Unix socket */
    const struct sockaddr_in *address; /* for processes of other hosts; NULL: there are none */
    const char *token;
};

/* NULL with text. */
struct wire_server *wire_server_open(const struct wire_place *place, const struct wire_server_ops *ops, void *context,
                                     struct error *error);

/* How many members can be attached at most: each takes a descriptor, of which an open server takes what the hard limit
 * lets it have, once there are many. */
int wire_server_room(void);

/* Where it is reached: see link.h. */
const char *wire_server_uri(const struct wire_server *server);

/* To one attached member, or to all. Never blocks. -1: it is not attached. */
int wire_server_send(struct wire_server *server, int process, const cJSON *message);
/* To several; what is not attached, or no member, is left out. */
void wire_server_send_all(struct wire_server *server, const int *processes, size_t count, const cJSON *message);
/* To every tool that watches. Never blocks. */
void wire_server_publish(struct wire_server *server, const cJSON *event);
/* Frees the request. Never blocks. */
void wire_server_answer(struct wire_server *server, struct wire_request *request, const cJSON *answer);

int wire_server_members(struct wire_server *server);

/* Whoever wanted to hear of the end hears of it, and so does at once whoever will. */
void wire_server_tell_end(struct wire_server *server);

/* Waits until no member is attached (with_tools: nor any tool), for so many milliseconds at most. */
void wire_server_drain(struct wire_server *server, bool with_tools, int timeout_ms);

/* Answers what waits, says goodbye, and waits for all to go, for so many milliseconds at most. */
void wire_server_farewell(struct wire_server *server, int timeout_ms);
/* Then: closes, and frees it. Nobody else may be in a call. */
void wire_server_close(struct wire_server *server);

#endif
