/* Tables of a run as JSON: stays, jobs, decisions, events. */
#ifndef EPOP_REPORT_TABLES_H
#define EPOP_REPORT_TABLES_H

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

#include "report/ranking.h"
#include "report/schedule.h"

/* Each becomes a member of the object, with `most` rows at most; how many were left out, the member NAME_left says.
 * false: no memory. */

/* "stays", by begin: [job, name, kind, begin, end, size, outcome, reason, nodes]; `most` counts ranges of nodes. And
 * "picture", of those that are left out: a text for each row, a digit for each column, see gantt.h. */
bool tables_add_stays(cJSON *json, const struct schedule *schedule, const struct schedule_run *run, size_t most,
                      int rows);
/* "jobs", as they are ranked: [job, name, user, kind, submit, wait, slowdown, share, resizes, outcome] */
bool tables_add_jobs(cJSON *json, const struct ranking *ranking, size_t most);
/* "decisions", by time: [time, kind, job, name, from, to, at, reason, nodes]; of the jobs that fared worst. */
bool tables_add_decisions(cJSON *json, const struct schedule_run *run, const struct ranking *ranking, size_t most);
/* "events": [time, text] */
bool tables_add_events(cJSON *json, const struct schedule_run *run, size_t most);

#endif
