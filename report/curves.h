/* Curves as JSON: waiting jobs and held nodes over time, and the distribution of slowdown. */
#ifndef EPOP_REPORT_CURVES_H
#define EPOP_REPORT_CURVES_H

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

#include "report/ranking.h"
#include "report/schedule.h"

/* Members of the object, of `most` points at most. false: no memory. */

/* "waiting" and "held": {"points": [[time, jobs, nodes]], "mean": seconds that each is the mean of, 0: it is exact,
 * "most_jobs", "most_nodes"} */
bool curves_add_waiting(cJSON *json, const struct schedule *schedule, const struct schedule_run *run, size_t most);
bool curves_add_held(cJSON *json, const struct schedule *schedule, const struct schedule_run *run, size_t most);
/* "slowdowns": [[slowdown, share of the jobs that have no larger one]], the smallest first; "median_slowdown" of all
 * jobs, if there is one: what half of them do not exceed */
bool curves_add_slowdowns(cJSON *json, const struct ranking *ranking, size_t most);

#endif
