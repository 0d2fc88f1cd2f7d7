/* Where the ranks are stopped for a debugger: breaks, steps, and going on. */
#ifndef EPOP_COORDINATOR_STOPS_H
#define EPOP_COORDINATOR_STOPS_H

#include "runtime/coordinator/state.h"

/* Does one of the first claims meet a break? Then the ranks are stopped. */
void stops_look(struct coordinator *c);
/* All ranks have come to the same place: are they stopped there, so that none passes? */
bool stops_hold_all(struct coordinator *c);
/* Is this rank kept where it is, while the others pass? */
bool stops_keep(const struct coordinator *c, int rank);
/* The ranks go on, as for `continue`; nothing happens if they are not stopped. */
void stops_release(struct coordinator *c);
/* The requests break, step and continue. False if op is another one. */
bool stops_request(struct coordinator *c, void *handle, const char *op, const cJSON *request);
void stops_abandoned(struct coordinator *c, void *handle);
/* No stop will be reached any more: whoever waits hears why. */
void stops_refuse_waiting(struct coordinator *c, const char *reason);
/* The breaks that are set, for the status. */
cJSON *stops_json(const struct coordinator *c);

#endif
