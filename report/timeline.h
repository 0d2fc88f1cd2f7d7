/* A trace, sampled: what each process did, in so few figures that they can be drawn. */
#ifndef EPOP_REPORT_TIMELINE_H
#define EPOP_REPORT_TIMELINE_H

#include <cjson/cJSON.h>
#include <stddef.h>

/* What matters in a trace: which element a process was in, its adaptations, its ranks, its MPI share. */
enum slice_kind { SLICE_ELEMENT, SLICE_ADAPTATION, SLICE_RANK };

struct trace_slice {
    enum slice_kind kind;
    int process;
    double begin, end; /* seconds, on the trace's clock */
    const char *name;  /* the JSON's */
};

/* From this time to that of the process's next one. */
struct trace_share {
    int process;
    double time;  /* seconds */
    double share; /* time in MPI / time */
};

struct trace {
    struct trace_slice *slices; /* by process, then begin */
    struct trace_share *shares; /* by process, then time */
    size_t slice_count, share_count;
};

/* 0, or the reason in error: the value is no trace, is not of the profile's run, or has events that are not whole. */
int timeline_read_trace(struct trace *trace, const cJSON *json, const cJSON *profile, char *error, size_t error_size);
void timeline_free_trace(struct trace *trace);

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
