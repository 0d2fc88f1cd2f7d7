/* Asking a job: a connection to one job at a time. */
#ifndef EPOP_CTL_CLIENT_H
#define EPOP_CTL_CLIENT_H

#include <cjson/cJSON.h>

#include "runtime/control/jobs.h"

typedef void (*ctl_event_fn)(void *context, const cJSON *event);

/* Attaches. COMMAND_DONE, or another exit code after one line on stderr. `event` may be NULL; it is called while
 * something is waited for. */
int ctl_connect(const struct control_job *job, ctl_event_fn event, void *context, int timeout_ms);
/* The same without events, and without a line where it fails. */
int ctl_connect_quietly(const struct control_job *job, int timeout_ms);
/* Sends a request and waits for the answer, which the caller deletes. NULL after one line on stderr, with the exit
 * code in *code. */
cJSON *ctl_ask(const cJSON *request, int timeout_ms, int *code);
/* The same without a line where it fails. */
cJSON *ctl_ask_quietly(const cJSON *request, int timeout_ms, int *code);
/* Waits until the job says goodbye or the connection is gone. 0, or -1 after timeout_ms (< 0: forever). */
int ctl_wait_end(int timeout_ms);
/* Those who wait for the end go on as if it had come. */
void ctl_end(void);
/* Detaches, or just forgets the connection when the job does not answer. */
void ctl_disconnect(void);
/* Connects, asks, disconnects. */
cJSON *ctl_ask_job(const struct control_job *job, const cJSON *request, int timeout_ms, int *code);

/* The exit code that an answer means. */
int ctl_code_of(const cJSON *answer);

#endif
