/*
 * The control plane of a job, as its processes see it: rank 0's process has the server, all others attach to it
 * (runtime/wire/ carries what is said). Messages are JSON objects (schema/control.schema.json); the meaning of those
 * between the coordinator and its members is a matter of runtime/coordinator/ and runtime/member/, not of this layer.
 *
 * Every function is thread-safe. Callbacks run on the wire's thread: they must not block, and must not keep the cJSON
 * objects that they are given.
 */
#ifndef EPOP_CONTROL_H
#define EPOP_CONTROL_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/error.h"
#include "runtime/wire/server.h"

#define CONTROL_URI_MAX   WIRE_URI_MAX
#define CONTROL_TOKEN_MAX WIRE_TOKEN_MAX
#define CONTROL_ALL       WIRE_ALL /* as `process`: every attached process of the job */

/*
 * A directory for files of the job with that token, which all its processes on this host find by the same purpose; with
 * an empty token this process alone. Made if it is missing; whoever is the last to use it sees to it that it goes. A
 * descriptor, or -1 with text: as long as that, or a copy of it in another process, is open, it is in use.
 */
int control_directory(const char *purpose, const char *token, char *path, size_t size, struct error *error);

/* Removes all such directories on this host that nobody uses any more. */
void control_directories_sweep(void);

/* ---- The server, in rank 0's process ----------------------------------- */

/* Called before control_serve when processes of the job are on other hosts: the server then listens at an address
 * that they can reach ($EPOP_CONTROL_ADDRESS, else what this host's name means) besides its Unix socket. */
void control_reach_hosts(void);

/*
 * Starts the server and puts its address and the secret token into uri and token.
 * 0, or -1 with one line of text in error. Once per process.
 */
int control_serve(const struct wire_server_ops *ops, void *context, char uri[CONTROL_URI_MAX],
                  char token[CONTROL_TOKEN_MAX], struct error *error);

/* Sends to one attached process, or to all (CONTROL_ALL). Never blocks. 0, or -1 if it is not attached. */
int control_send(int process, const cJSON *message);

/* The same to several; those that are not attached are left out. */
void control_send_all(const int *processes, size_t count, const cJSON *message);

/* How many processes of the job are attached, and hear what is sent to all. */
int control_members(void);

/* Sends to all attached processes, and waits for them to go, at most timeout_ms. */
void control_dismiss(const cJSON *message, int timeout_ms);

/* Sends to every epopctl that watches. Never blocks. */
void control_publish(const cJSON *event);

/* Answers a request; frees the handle. Never blocks. */
void control_answer(struct wire_request *handle, const cJSON *answer);

/* Publishes the job: writes its address file, readable by its owner alone, with `job` as content plus uri and
 * token. 0, or -1 with text. control_unserve removes it. */
int control_advertise(const char *job_id, const cJSON *job, struct error *error);

/* That file's path; "" before. */
const char *control_address_file(void);

/* Removes the address file, if there is one: other hosts could not tell that the job has ended. Any thread, and signal
 * handlers. */
void control_unadvertise(void);

/* The program has ended everywhere: whoever awaits that (control_await_end) hears of it. */
void control_tell_end(void);

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
/* all: the others do so, too, as the job has come to its end. */
void control_detach(bool all);
/* Of a process that is in no world any more: what it hands on for others of its host another one of them does. Comes
 * back when it is so, after a second at most. */
void control_step_aside(void);

/* For a process that has left its job, and is no member any more: waits until the job of that address is over, which it
 * also is when it cannot be reached. */
void control_await_end(const char *uri, const char *token);

#endif
