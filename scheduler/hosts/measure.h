/* Running jobs are asked what they are and how fast, about once a second, and the core is told. */
#ifndef SCHEDULER_HOSTS_MEASURE_H
#define SCHEDULER_HOSTS_MEASURE_H

#include "scheduler/hosts/state.h"

/* From now on, on this connection. */
void hosts_measure_begin(struct hosts_job *job);
/* The connection is gone, or the job ends. */
void hosts_measure_stop(struct hosts_job *job);

/* True: the answer was to one of its requests. */
bool hosts_measure_answer(struct hosts_job *job, int64_t id, const cJSON *answer);

#endif
