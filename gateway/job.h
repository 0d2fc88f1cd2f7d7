/* The gateway's connection to the job: what tools ask goes there, what happens there goes to tools. */
#ifndef EPOP_GATEWAY_JOB_H
#define EPOP_GATEWAY_JOB_H

#include <event2/event.h>
#include <stdbool.h>

#include "gateway/server.h"
#include "runtime/control/jobs.h"

/* Attaches, and begins to listen; *over is set, and the base woken, when the job has ended or does not take it in. 0,
 * or -1 with text. Once. */
int job_open(struct event_base *base, const struct control_job *job, bool *over, struct error *error);

/* The job has taken it in. */
bool job_attached(void);

/* Sees to it that it is answered. */
void job_take(struct asked *asked);

#endif
