/* What the report takes from a trace: which element a process was in, its adaptations, its ranks, its MPI share. */
#ifndef EPOP_REPORT_TRACE_H
#define EPOP_REPORT_TRACE_H

#include <stddef.h>

#include <cjson/cJSON.h>

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
int trace_read(struct trace *trace, const cJSON *json, const cJSON *profile, char *error, size_t error_size);
void trace_free(struct trace *trace);

#endif
