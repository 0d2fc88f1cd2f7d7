/* Requests of epopctl that wait for their answer (control_answer). */
#ifndef EPOP_CONTROL_REQUESTS_H
#define EPOP_CONTROL_REQUESTS_H

#include <pmix.h>

#include "runtime/control/control.h"

struct control_request *control_requests_add(const char *client, pmix_info_cbfunc_t done, void *cbdata);
/* Marks the requests of a client that has gone; calls `tell` for each. */
void control_requests_abandon(const char *client, void (*tell)(void *context, struct control_request *handle),
                              void *context);
/* Answers what is still open, when the job ends. */
void control_requests_end(void);

#endif
