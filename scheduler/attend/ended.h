/* ended.json: how a job ended (schema/attend.schema.json). When it is there, nothing of the job runs on this host. */
#ifndef SCHEDULER_ATTEND_ENDED_H
#define SCHEDULER_ATTEND_ENDED_H

#include <cjson/cJSON.h>

#include "scheduler/attend/guard.h"
#include "scheduler/attend/launch.h"

/* What the guard's last word means. */
cJSON *ended_of(const struct guard_message *message, const struct launch *launch);
/* It could not be begun. */
cJSON *ended_failed(const char *reason);
/* Its attendant died, and so it was ended. */
cJSON *ended_lost(void);

/* NULL: there is none. */
cJSON *ended_read(const char *directory);
int ended_write(const char *directory, const cJSON *ended, struct error *error);
/* Unless there is one. */
void ended_write_lost(const char *directory);

#endif
