/* The requests break, step and continue. */
#ifndef EPOP_COORDINATOR_BREAKS_H
#define EPOP_COORDINATOR_BREAKS_H

#include "runtime/wire/messages.h"

struct coordinator;

void breaks_set(struct coordinator *c, void *handle, const struct request_break *request);
void breaks_step(struct coordinator *c, void *handle);
void breaks_continue(struct coordinator *c, void *handle);

#endif
