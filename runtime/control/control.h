/*
 * The control plane: how rank 0's process, the other processes of a job and epopctl talk.
 * Rank 0 hosts a PMIx server; every other process of the job, and epopctl, attach to it as PMIx tools.
 * Messages are JSON objects (schema/control.schema.json); the meaning of those between the coordinator and
 * its members is a matter of runtime/coordinator/ and runtime/member/, not of this layer.
 *
 * Every function is thread-safe. Callbacks run on PMIx's progress thread: they must not block, must not
 * call PMIx functions that block, and must not keep the cJSON objects that they are given.
 */
#ifndef EPOP_CONTROL_H
#define EPOP_CONTROL_H

#include <cjson/cJSON.h>
#include <stddef.h>

#include "runtime/base/error.h"

#define CONTROL_URI_MAX   512
#define CONTROL_TOKEN_MAX 65
#define CONTROL_ALL       (-1) /* as `process`: every attached process of the job */

/*
 * Makes the process's environment fit for PMIx: takes away what an outer PMIx launcher left there. Called by
 * control_serve and control_attach; a process that has other threads by then (getenv and setenv do not go together)
 * calls it before it starts them.
 */
void control_prepare(void);

/*
 * A directory for files of the job with that token, which all its processes on this host find by the same purpose; with
 * an empty token this process alone. Made if it is missing; whoever is the last to use it sees to it that it goes. A
 * descriptor, or -1 with text: as long as that, or a copy of it in another process, is open, it is in use.
 */
int control_directory(const char *purpose, const char *token, char *path, size_t size, struct error *error);

/* Removes all such directories on this host that nobody uses any more. */
void control_directories_sweep(void);

/* ---- The server, in rank 0's process ----------------------------------- */

/* A request of epopctl that waits for its answer. Freed by control_answer. */
struct control_request;

/* Any of them may be NULL, but for request: an epopctl waits for its answer. */
struct control_server_ops {
    /* process `process` of the job has attached / its connection is gone without control_detach */
    void (*attached)(void *context, int process);
    void (*lost)(void *context, int process);
    /* its connection is closed: after that, or after it has said goodbye */
    void (*closed)(void *context, int process);
    /* a message that process `process` sent with control_tell */
    void (*message)(void *context, int process, const cJSON *message);
    /* a request from epopctl; must be answered, now or later, exactly once, from any thread */
    void (*request)(void *context, struct control_request *handle, const cJSON *request);
    /* the epopctl that made it has gone; the handle must still be answered (which does nothing then) */
    void (*abandoned)(void *context, struct control_request *handle);
};

/* Called before control_serve when processes of the job are on other hosts: the server then listens at an address
 * that they can reach ($EPOP_CONTROL_ADDRESS, else what this host's name means) instead of on loopback. */
void control_reach_hosts(void);

/*
 * Starts the server and puts its address and the secret token into uri and token.
 * 0, or -1 with one line of text in error. May take some 50 ms. Once per process.
 */
int control_serve(const struct control_server_ops *ops, void *context, char uri[CONTROL_URI_MAX],
                  char token[CONTROL_TOKEN_MAX], struct error *error);

/* Sends to one attached process, or to all (CONTROL_ALL). Never blocks. 0, or -1 if it is not attached. */
int control_send(int process, const cJSON *message);

/* How many processes of the job are attached, and hear what is sent to all. */
int control_members(void);

/* Sends to all attached processes, and waits for them to go, at most timeout_ms. */
void control_dismiss(const cJSON *message, int timeout_ms);

/* Sends to every epopctl that watches. Never blocks. */
void control_publish(const cJSON *event);

/* Answers a request; frees the handle. Never blocks. */
void control_answer(struct control_request *handle, const cJSON *answer);

/* Publishes the job: writes its address file, readable by its owner alone, with `job` as content plus uri and
 * token. 0, or -1 with text. control_unserve removes it. */
int control_advertise(const char *job_id, const cJSON *job, struct error *error);

/* That file's path; "" before. */
const char *control_address_file(void);

/* Removes the address file, if there is one: other hosts could not tell that the job has ended. Any thread, and signal
 * handlers. */
void control_unadvertise(void);

/* Removes the address file, tells all tools that the server goes, waits at most timeout_ms for the members to
 * detach, and stops the server. */
void control_unserve(int timeout_ms);

/* ---- A member: any other process of the job ---------------------------- */

struct control_member_ops {
    void (*message)(void *context, const cJSON *message); /* from the server */
    void (*lost)(void *context);                          /* the connection is gone without control_detach */
};

/* Attaches to the server as process number `process` (> 0). Blocks up to timeout_ms. 0, or -1 with text. */
int control_attach(const char *uri, const char *token, int process, const struct control_member_ops *ops, void *context,
                   int timeout_ms, struct error *error);
int control_tell(const cJSON *message); /* to the server; never blocks; 0 or -1 */
void control_detach(void);

#endif
