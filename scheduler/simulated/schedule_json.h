/* A schedule as JSON, written and read: the runs of schema/schedule.schema.json. */
#ifndef SCHEDULER_SIMULATED_SCHEDULE_JSON_H
#define SCHEDULER_SIMULATED_SCHEDULE_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "runtime/base/error.h"
#include "scheduler/simulated/schedule.h"

/* NULL: no memory. The same run gives the same text: the CPU times of
 * the metrics are not in it. */
cJSON *schedule_json(const struct schedule *schedule);

/* Its metrics alone. */
cJSON *metrics_json(const struct metrics *metrics);
/* Adds "accounts" to a run that has some; false: no memory. */
bool accounts_add(cJSON *run, const struct schedule *schedule);

/* The policy, its options and the decisions of such a run, for struct simulation's `replay`; no jobs. -1: the line says
 * which member is missing or makes no sense. */
int schedule_read(struct schedule *schedule, const cJSON *run, struct error *error);

/* ---- Node numbers as text ----------------------------------------------------------------------- */

/* "0-3,7". nodes: ascending. The caller's to free; NULL: no memory. */
char *node_text(const int *nodes, int count);

/* The other way round. nodes: the caller's to free. How many there are; -1: that is no such text; -2: no memory. */
int node_numbers(const char *text, int **nodes);

#endif
