/* Jobs, nodes and events of the daemon as JSON: schema/epoprm.schema.json. NULL: no memory. */
#ifndef SCHEDULER_EPOPRM_ROWS_H
#define SCHEDULER_EPOPRM_ROWS_H

#include <cjson/cJSON.h>

#include "scheduler/epoprm/daemon.h"

cJSON *row_job(const struct daemon_job *job);
cJSON *row_node(const struct daemon_node *node);
cJSON *row_event(const struct journal_event *event);

#endif
