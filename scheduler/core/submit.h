/* What a job says of itself, when it comes and when more of it is known. */
#ifndef SCHEDULER_CORE_SUBMIT_H
#define SCHEDULER_CORE_SUBMIT_H

#include "scheduler/core/state.h"

/* -1: it makes no sense, or does not fit the machine. */
int submit_check(const struct core *core, const struct core_job *job, struct error *error);

#endif
