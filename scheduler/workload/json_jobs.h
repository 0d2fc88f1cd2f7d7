/* The applications and the listed jobs of a JSON workload. */
#ifndef SCHEDULER_WORKLOAD_JSON_JOBS_H
#define SCHEDULER_WORKLOAD_JSON_JOBS_H

#include "runtime/base/error.h"
#include "scheduler/workload/json_work.h"
#include "scheduler/workload/place.h"
#include "scheduler/workload/workload.h"

struct json_reader {
    struct workload *workload;
    struct place document, applications;
    struct error *error;
};

int json_applications(struct json_reader *reader);
int json_jobs(struct json_reader *reader);

/* Into a begun draft: what the place says, and the application that it names. */
int json_read_job(struct json_reader *reader, const struct place *place, struct draft *draft);

#endif
