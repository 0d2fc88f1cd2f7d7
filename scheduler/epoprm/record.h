/* What the journal knows as a record of schema/schedule.schema.json, as epopsim writes one. */
#ifndef SCHEDULER_EPOPRM_RECORD_H
#define SCHEDULER_EPOPRM_RECORD_H

#include <cjson/cJSON.h>

#include "runtime/base/error.h"
#include "scheduler/journal/journal.h"

/* NULL: the line says why. Times are seconds from the first submission. */
cJSON *record_make(struct journal *journal, struct error *error);

#endif
