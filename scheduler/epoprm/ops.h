/* What a client asks for, and the answer to it: the table of requests. */
#ifndef SCHEDULER_EPOPRM_OPS_H
#define SCHEDULER_EPOPRM_OPS_H

#include <cjson/cJSON.h>

#include "scheduler/epoprm/daemon.h"

/* The answer to a line, in any case: {"ok":true, ...} or {"ok":false, "code":..., "reason":...}. request: NULL if the
 * line was no JSON object. *watches: the client wants events from now on. NULL: no memory. */
cJSON *ops_answer(const struct daemon_table *table, void *context, const cJSON *request, bool *watches);

/* A refusal. `code`: "refused", "unknown" (no such job or node) or "usage" (no sense in the request). */
cJSON *ops_refusal(const char *code, const char *reason);

#endif
