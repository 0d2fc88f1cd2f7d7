/* What commands read of the journal, also where no daemon runs: jobs and events as JSON (schema/epoprm.schema.json). */
#ifndef SCHEDULER_EPOPRM_PAST_H
#define SCHEDULER_EPOPRM_PAST_H

#include <cjson/cJSON.h>

#include "runtime/base/error.h"
#include "scheduler/journal/journal.h"

/* The journal of this user's daemon. ERROR_REFUSED: there is none. */
int past_open(struct journal **journal, struct error *error);

/* An array of the jobs that have ended, or of all. NULL: the line says why. */
cJSON *past_jobs(struct journal *journal, bool all, struct error *error);
/* An array of a job's last events, oldest first. */
cJSON *past_events(struct journal *journal, int64_t job, int most, struct error *error);
/* The step of the resize that goes on in each job: an object, by number. */
cJSON *past_steps(struct journal *journal, struct error *error);

#endif
