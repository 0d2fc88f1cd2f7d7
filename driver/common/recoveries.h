/* The recoveries of a job by epop --recover, as profile and trace list them. */
#ifndef DRIVER_RECOVERIES_H
#define DRIVER_RECOVERIES_H

#include <cjson/cJSON.h>

#include "epop/driver.h"

/* Adds the array "recoveries", if there were any. */
void recoveries_add(cJSON *object, const epop_job_t *job);

#endif
