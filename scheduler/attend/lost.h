/* A job whose attendant was killed: the next attendant of its directory ends what is left of it. */
#ifndef SCHEDULER_ATTEND_LOST_H
#define SCHEDULER_ATTEND_LOST_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <sys/types.h>

#include "runtime/base/error.h"

/* The file `started` of the job's directory. */
int lost_write_started(const char *directory, pid_t guard, struct error *error);
bool lost_is_started(const char *directory);
/* Waits for the guard, which ends it; ends it where that has died, too. How it ended. */
cJSON *lost_end(const char *directory, const char *mark);

#endif
