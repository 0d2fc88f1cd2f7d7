/* What a scheduler needs to know about the program ahead: its structure, and what comes next. */
#ifndef EPOP_COORDINATOR_OUTLOOK_H
#define EPOP_COORDINATOR_OUTLOOK_H

#include <cjson/cJSON.h>

struct coordinator;

/* By schema/control.schema.json: the elements with their rules and speeds. */
cJSON *outlook_elements_json(const struct coordinator *c);

/* What follows the present element, as far as the structure tells; null: nothing can be said. */
cJSON *outlook_next_json(const struct coordinator *c);

#endif
