/* Is a file a profile? */
#ifndef EPOP_REPORT_PROFILE_H
#define EPOP_REPORT_PROFILE_H

#include <stddef.h>

#include <cjson/cJSON.h>

#include "report/engine.h"

/* 0 when the value is a profile that this version understands; else what is wrong stands in error. */
int profile_check(const cJSON *json, struct engine *engine, char *error, size_t error_size);

#endif
