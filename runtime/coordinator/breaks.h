/* The requests break, step and continue. */
#ifndef EPOP_COORDINATOR_BREAKS_H
#define EPOP_COORDINATOR_BREAKS_H

#include <cjson/cJSON.h>

struct coordinator;

void breaks_set(struct coordinator *c, void *handle, const cJSON *request);
void breaks_step(struct coordinator *c, void *handle, const cJSON *request);
void breaks_continue(struct coordinator *c, void *handle, const cJSON *request);

#endif
