/* A trace, sampled: what each process did, in so few figures that they can be drawn. */
#ifndef EPOP_REPORT_TIMELINE_H
#define EPOP_REPORT_TIMELINE_H

#include <cjson/cJSON.h>

#include "report/trace.h"

/* Moments at which a process is looked at, over the job's duration, and processes that are. */
#define TIMELINE_MOMENTS   600
#define TIMELINE_PROCESSES 48

/*
 * {"step": seconds, "note": TEXT, "spans": [{process, begin, end, kind: "phase" | "resize", name, mpi}],
 *  "shares": [{process, ratios: [TIMELINE_MOMENTS numbers or null]}]}, on the profile's clock. Elements are sampled,
 * adaptations are all there. `about` is the trace's otherData. NULL: no memory.
 */
cJSON *timeline_of(const struct trace *trace, const cJSON *about, const cJSON *profile);

#endif
