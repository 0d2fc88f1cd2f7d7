/* What the charts of a schedule are made of: its jobs and decisions as tables, bounded, and sums over time. */
#ifndef EPOP_REPORT_VIEW_H
#define EPOP_REPORT_VIEW_H

#include <cjson/cJSON.h>
#include <stddef.h>

#include "report/schedule.h"

/* At most, of all runs together. */
struct view_limits {
    size_t stays, jobs, decisions, events;
    size_t points; /* of each curve */
    int rows;      /* of the picture of stays that are not drawn one by one */
};

/* What a page takes, which has to stay small; and all, for tables. */
extern const struct view_limits view_page, view_all;

/* {"schedule": ...}, as web/src/schedule/model.js reads it. NULL: no memory. */
cJSON *view_of(const struct schedule *schedule, const struct view_limits *limits);

#endif
