/*
 * The job's status, by schema/control.schema.json: with the program's structure and size rules, as a scheduler
 * cannot call a program's function.
 */
#ifndef EPOP_COORDINATOR_STATUS_H
#define EPOP_COORDINATOR_STATUS_H

#include <cjson/cJSON.h>

#include "epop/program.h"

struct coordinator;

/* ---- Size rules ---------------------------------------------------------------------------------- */

/* Size rules as a scheduler needs them: with the sizes that they come to, as it cannot call a program's function. */

#define RULES_LARGEST 1024 /* sizes above are not listed */

/* By schema/control.schema.json; most: ranks that there can be. */
cJSON *rules_json(const epop_sizes_t *sizes, int most);

cJSON *status_json(struct coordinator *c);

#endif
