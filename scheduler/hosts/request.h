/* What is asked of a job's control plane (docs/reference/control.md). */
#ifndef SCHEDULER_HOSTS_REQUEST_H
#define SCHEDULER_HOSTS_REQUEST_H

#include "scheduler/hosts/state.h"

/* The resize that the job is to make, with hosts or ranks named. The caller's. */
cJSON *hosts_request_resize(const struct hosts_job *job);

cJSON *hosts_request_status(void);
/* What was measured since this daemon asked last. */
cJSON *hosts_request_measure(void);

#endif
