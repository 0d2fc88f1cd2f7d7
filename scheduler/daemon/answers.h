/*
 * What a daemon of epoprm answers to a line of a client, and what it says of jobs and events, as JSON of
 * schema/epoprm.schema.json. NULL: no memory.
 */
#ifndef SCHEDULER_DAEMON_ANSWERS_H
#define SCHEDULER_DAEMON_ANSWERS_H

#include <cjson/cJSON.h>

#include "scheduler/daemon/daemon.h"

cJSON *answers_job(const struct daemon_job *job);
cJSON *answers_event(const struct journal_event *event);

/* There is an answer to anything: {"ok":true, ...} or {"ok":false, "code":..., "reason":...}. request: NULL if the line
 * was no JSON object. *watches: the client wants events from now on. */
cJSON *answers_to(const struct daemon_table *table, void *context, const cJSON *request, bool *watches);

/* A refusal. `code`: "refused", "unknown" (no such job or node) or "usage" (no sense in the request). */
cJSON *answers_refusal(const char *code, const char *reason);

#endif
