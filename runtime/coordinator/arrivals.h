/* What the job's processes say, in one table that hands each message to the module whose business it is. */
#ifndef EPOP_COORDINATOR_ARRIVALS_H
#define EPOP_COORDINATOR_ARRIVALS_H

#include <cjson/cJSON.h>
#include <stdbool.h>

struct coordinator;

/* Has it to wait for rank 0's position? */
bool arrivals_waits(const struct coordinator *c, const cJSON *message);

/* Has it taken, or refuses it by its name. */
void arrivals_message(struct coordinator *c, const int *processes, int count, const cJSON *message);

#endif
