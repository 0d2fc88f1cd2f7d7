/* All jobs at a time, for list and top. */
#ifndef EPOP_CTL_LIST_H
#define EPOP_CTL_LIST_H

#include <cjson/cJSON.h>

#include "epopctl/jobs.h"

/* Asks all jobs at a time. With `keep` > 0 each measures for so many seconds more, and what it has measured since this
 * terminal's top asked last is under "measure" in its status. *jobs and *statuses, of the same order, are the caller's
 * to free; one that does not answer has the state "unreachable". How many; -1 when out of memory. */
int ctl_ask_all(struct control_job **jobs, cJSON ***statuses, double keep);

#endif
