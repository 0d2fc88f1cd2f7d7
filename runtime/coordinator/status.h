/* The job's status, by schema/control.schema.json. */
#ifndef EPOP_COORDINATOR_STATUS_H
#define EPOP_COORDINATOR_STATUS_H

#include <cjson/cJSON.h>

struct coordinator;

cJSON *status_json(struct coordinator *c);

#endif
