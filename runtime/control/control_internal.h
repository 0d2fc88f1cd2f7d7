/*
 * What the files of the control plane share: names on the wire, and the small modules beneath
 * server.c and tool.c. Nothing here is seen by the rest of the runtime.
 */
#ifndef EPOP_CONTROL_INTERNAL_H
#define EPOP_CONTROL_INTERNAL_H

#include <netinet/in.h>
#include <pmix.h>
#include <pmix_server.h>
#include <signal.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "runtime/control/control.h"

/* ---- On the wire --------------------------------------------------------- */

/* Keys of ours in PMIx messages; the values are JSON text. */
#define CONTROL_KEY_MESSAGE "epop.message" /* between the server and a member */
#define CONTROL_KEY_REQUEST "epop.request" /* from epopctl */
#define CONTROL_KEY_ANSWER  "epop.answer"  /* to epopctl */
#define CONTROL_KEY_CLIENT  "epop.client"  /* the namespace of the epopctl that asks */
#define CONTROL_KEY_HELLO   "epop.hello"   /* a member has its event handler in place */
#define CONTROL_KEY_BYE     "epop.bye"     /* a member or epopctl is about to detach */

/* The one event code that the server uses towards its tools. */
#define CONTROL_EVENT (PMIX_EXTERNAL_ERR_BASE - 71)

/*
 * A tool's namespace is its ticket: "epop-TOKEN-mPROCESS.SALT" for a member, "epop-TOKEN-cPID.SALT" for an epopctl.
 * Only who read the token from the address file (or got it from the job) can make one up. The salt tells a process
 * that attaches anew from its earlier self, whose loss may still be on its way.
 */
#define CONTROL_NSPACE_MAX 128
void control_nspace_member(char nspace[CONTROL_NSPACE_MAX], const char *token, int process);
void control_nspace_client(char nspace[CONTROL_NSPACE_MAX], const char *token);
/* 0 if the ticket carries the token; *process is the member's number, or -1 for an epopctl. */
int control_nspace_check(const char *nspace, const char *token, int *process);

/* ---- token.c ------------------------------------------------------------- */

/* 256 random bits as hex. 0, or -1 when the kernel has none to give. */
int control_token_make(char token[CONTROL_TOKEN_MAX]);
/* Non-zero if `token` stands somewhere in the bytes; takes the same time wherever it stands. */
int control_token_within(const char *token, const void *bytes, size_t size);

/* ---- codec.c ------------------------------------------------------------- */

/* Loads JSON text into a PMIx info under `key`. 0, or -1 when out of memory. */
int control_info_load(pmix_info_t *info, const char *key, const cJSON *json);
/* The text of `key` among the infos, or NULL. Owned by the array. */
const char *control_info_text(const pmix_info_t *info, size_t count, const char *key);
/* The same parsed; the caller deletes it. NULL if there is none or it is no JSON object. */
cJSON *control_info_json(const pmix_info_t *info, size_t count, const char *key);

/* ---- sockets.c ----------------------------------------------------------- */

/* The socket of this process that is connected to the server of `uri`: Nagle's algorithm off, close-on-exec on. */
void control_socket_tune(const char *uri);
/* The socket that listens at the address of `uri`, or -1. */
int control_socket_listening(const char *uri);
/* The other end of a connection inside this process, known by the address of this end, or -1. */
int control_socket_of_peer(const struct sockaddr_un *address, socklen_t size);
/* Is there still a connection that was accepted at `uri`? Its listener must be closed by now. */
int control_sockets_open(const char *uri);
/* Shuts down every connection that was accepted at `uri`. */
void control_sockets_shut(const char *uri);

/* ---- address.c ----------------------------------------------------------- */

/* Where to listen, with port 0. 0, or -1 when $EPOP_CONTROL_ADDRESS is no IPv4 address. */
int control_address(struct sockaddr_in *address);

/* ---- environment.c ------------------------------------------------------- */

/* Around the start of PMIx: the threads that it starts take no signal. A write to a dead process's connection must
 * not end the job by SIGPIPE, and the program's handlers are to run in the program's threads. */
void control_threads_begin(sigset_t *before);
void control_threads_end(const sigset_t *before);
/* Closes what control_prepare opened. */
void control_leave_nothing(void);

/* ---- gate.c: the door in front of PMIx ------------------------------------- */

/* Takes the place of PMIx's listener, at an address that is put into uri; `directory` is private. 0, or -1 with
 * errno. */
int control_gate_open(char uri[CONTROL_URI_MAX], const char *directory);
void control_gate_close(void);
/* Called by tool_connected: gives PMIx the newcomer's own connection. Its descriptor, or -1. */
int control_gate_swap(void);
/* PMIx has answered the newcomer: the answer may go out. */
void control_gate_uncork(int fd);

/* ---- waiter.c: one thread waits for what PMIx's progress thread reports --- */

typedef struct control_waiter control_waiter_t;
control_waiter_t *control_waiter_new(void);
/* Called once by the reporting side; text is copied and may be NULL. */
void control_waiter_report(control_waiter_t *waiter, pmix_status_t status, const char *text);
/* 0 once reported, -1 after timeout_ms. *text (may be NULL) is the caller's to free. */
int control_waiter_wait(control_waiter_t *waiter, int timeout_ms, pmix_status_t *status, char **text);
/* Ends the wait with PMIX_ERR_LOST_CONNECTION; the report may come all the same, or never. */
void control_waiter_interrupt(control_waiter_t *waiter);
/* The waiting side is through; called once, before or after the report. */
void control_waiter_drop(control_waiter_t *waiter);
/* A pmix_info_cbfunc_t: reports the text of CONTROL_KEY_ANSWER to the waiter in cbdata. */
void control_waiter_answered(pmix_status_t status, pmix_info_t *info, size_t count, void *cbdata,
                             pmix_release_cbfunc_t release, void *release_cbdata);

/* ---- peers.c: who is attached to the server ------------------------------- */

void control_peers_add(const char *nspace, int process);
/* Marks the member as ready for messages. Its number, or -1 if it is unknown or that number is taken. */
int control_peers_ready(const char *nspace);
/* Takes it out of the table. 0 with its number (-1: an epopctl) and whether it was ready, -1 if unknown. */
int control_peers_remove(const char *nspace, int *process, int *ready);
/* Called for whoever speaks. 0 with its number (-1: an epopctl), -1 if it is unknown. */
int control_peers_find(const char *nspace, int *process);
int control_peers_watch(const char *nspace);
/* The ready member of that number, or all of them (CONTROL_ALL); the watching epopctls; everybody.
 * *procs is the caller's to free. How many. */
typedef enum control_audience { CONTROL_MEMBERS, CONTROL_WATCHERS, CONTROL_EVERYBODY } control_audience_t;
size_t control_peers_list(control_audience_t audience, int process, pmix_proc_t **procs);
/* Waits until nobody who ever spoke is attached, at most timeout_ms. */
void control_peers_drain(int timeout_ms);
void control_peers_forget(void);

/* ---- departed.c: PMIx's memory of those that have gone; in its progress thread ---- */

void control_departed_add(const char *nspace);
/* Frees what it keeps of those that have been gone for some seconds. */
void control_departed_forget(void);

/* ---- requests.c: requests of epopctl that wait for their answer ------------ */

control_request_t *control_requests_add(const char *client, pmix_info_cbfunc_t done, void *cbdata);
/* Marks the requests of a client that has gone; calls `tell` for each. */
void control_requests_abandon(const char *client, void (*tell)(void *context, control_request_t *handle),
                              void *context);
/* Answers what is still open, when the job ends. */
void control_requests_end(void);

/* ---- server.c --------------------------------------------------------------- */

/* PMIx may be called between enter and leave only: PMIx_server_finalize would wait for a callback that waits
 * for it. -1 when there is no server, or it is going. */
int control_server_enter(void);
void control_server_leave(void);
const control_server_ops_t *control_server_ops(void **context);
const char *control_server_token(void);
/* control_unserve has begun: whoever goes now is no loss. */
int control_server_ending(void);

/* ---- rundir.c: the directory of address files -------------------------------- */

/* The user's directory for EPOP, made if missing. 0, or -1 with text when it is not ours alone. */
int control_rundir(char *path, size_t size, char *error, size_t error_size);
/* Makes the directory if it is missing and checks that it is ours alone. 0, or -1 with text. */
int control_rundir_make(const char *path, char *error, size_t error_size);
/* A directory below it for what PMIx leaves lying about; NULL-terminated into path. */
int control_rundir_private(char *path, size_t size, char *error, size_t error_size);
/* Removes such a directory with its files. */
void control_rundir_remove(const char *path);
/* When the process started, in clock ticks since boot; 0 if there is no such process, or nothing of it but
 * its exit status. */
unsigned long long control_process_start(long pid);

/* ---- workdir.c: directories for files of a job (control.h) ---------------------- */

/* Removes this entry of the user's directory, if it is one of those, of this host, and nobody uses it. */
void control_directory_sweep(const char *base, const char *name);

/* ---- jobfile.c: the address files --------------------------------------------- */

/* The directories in which address files may be: the environment of a job may differ from epopctl's. Only those that
 * are ours alone. How many of paths were filled. */
#define CONTROL_RUNDIRS_MAX 3
int control_rundirs(char paths[CONTROL_RUNDIRS_MAX][256]);

/* Writes ID.json; its path for the removal into path. 0, or -1 with text. */
int control_jobfile_write(const char *id, const cJSON *job, const char *uri, const char *token, char *path,
                          size_t path_size, char *error, size_t error_size);

/* ---- upcalls.c: what PMIx asks its host ------------------------------------- */

pmix_server_module_t *control_upcalls(void);
void control_upcalls_lost(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[], size_t count,
                          pmix_info_t *results, size_t result_count, pmix_event_notification_cbfunc_fn_t done,
                          void *cbdata);

/* ---- tool.c: an attached PMIx tool, member or epopctl --------------------- */

/* Called on PMIx's progress thread; each may be NULL. */
typedef struct control_tool_ops {
    void (*message)(void *context, const cJSON *message);
    void (*ending)(void *context); /* the server says goodbye: the connection is about to go */
    void (*lost)(void *context);
} control_tool_ops_t;
int control_tool_attach(const char *uri, const char *nspace, const control_tool_ops_t *ops, void *context,
                        int timeout_ms, char *error, size_t error_size);
/* Sends one key; `wait` until the server took it. 0 or -1. */
int control_tool_tell(const char *key, const cJSON *json, int wait_ms);
void control_tool_detach(void);

#endif
