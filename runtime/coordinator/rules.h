/* Size rules as a scheduler needs them: with the sizes that they come to, as it cannot call a program's function. */
#ifndef EPOP_COORDINATOR_RULES_H
#define EPOP_COORDINATOR_RULES_H

#include <cjson/cJSON.h>

#include "epop/program.h"

#define RULES_LARGEST 1024 /* sizes above are not listed */

/* By schema/control.schema.json; most: ranks that there can be. */
cJSON *rules_json(const epop_sizes_t *sizes, int most);

#endif
