/*
 * A schedule: what policies did with the jobs of a workload, in a simulation or on real nodes. Read from JSON and
 * checked as far as the report relies on it; the strings are the JSON's, which has to live as long.
 */
#ifndef EPOP_REPORT_SCHEDULE_H
#define EPOP_REPORT_SCHEDULE_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* A job on the same nodes for a while. */
struct schedule_stay {
    double begin, end;
    const char *nodes;  /* as in "0-3,7" */
    const char *reason; /* of the decision that it follows from; NULL: not known */
    int size;           /* how many nodes */
    int pieces;         /* ranges in `nodes` */
};

struct schedule_job {
    double id;
    const char *name, *kind, *outcome;
    const cJSON *json;
    double submit, end; /* end: NAN if it did not start */
    double slowdown;    /* bounded; NAN: not known */
    int wanted;
    struct schedule_stay *stays; /* by time */
    size_t stay_count;
};

struct schedule_decision {
    double time, job;
    int to; /* nodes */
    const char *kind, *reason;
    const cJSON *json;
};

struct schedule_run {
    const char *policy, *options;
    const cJSON *json;
    struct schedule_job *jobs; /* by id */
    size_t job_count;
    struct schedule_decision *decisions; /* by time */
    size_t decision_count;
};

struct schedule {
    const cJSON *json;
    int nodes;
    double begin, end; /* of the time axis: the first submission or 0, the last moment of all */
    struct schedule_run *runs;
    size_t run_count;
};

/* Whether the JSON says of itself that it is one. */
bool schedule_is(const cJSON *json);
/* 0, or -1 with what is wrong and where in error. */
int schedule_read(struct schedule *schedule, const cJSON *json, char *error, size_t error_size);
void schedule_free(struct schedule *schedule);

/* Nodes as text, "0-3,7", are gone through from range to range: the next one, and where the text goes on; NULL: there
 * is none. */
const char *schedule_next_range(const char *text, int *first, int *last);
/* How many nodes and ranges; false unless there is one at least, they ascend, and all are below `limit`. */
bool schedule_count_ranges(const char *text, int limit, int *nodes, int *ranges);

/* NULL: there is no such job. */
const struct schedule_job *schedule_job(const struct schedule_run *run, double id);

#endif
