/* What things are called where people read them: elements of the program, states, who asked. */
#ifndef EPOP_COORDINATOR_NAMES_H
#define EPOP_COORDINATOR_NAMES_H

#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/record.h"

/* Empty where there is no such element. */
const char *names_element(const struct coordinator *c, int pc);
/* null, or an object by schema/control.schema.json. */
cJSON *names_element_json(const struct coordinator *c, const struct position *at);
const char *names_process_state(enum process_state state);
const char *names_adaptation_state(enum adaptation_state state);
const char *names_requester(enum requester by);

#endif
