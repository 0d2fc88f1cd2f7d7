/* The requests of epopctl, in one table; what each does to the job. */
#ifndef EPOP_COORDINATOR_REQUESTS_H
#define EPOP_COORDINATOR_REQUESTS_H

#include <cjson/cJSON.h>
#include <stdbool.h>

struct coordinator;

/* What a request needs to know, which takes a moment. */
enum request_wait { WAITS_NOT, WAITS_FOR_POSITION, WAITS_FOR_PROGRESS };

enum request_wait requests_waits(const struct coordinator *c, const cJSON *request);
/* Carries it out, or refuses it by its name. */
void requests_take(struct coordinator *c, void *handle, const cJSON *request);
/* Asks the job to stop, as the request does. by: who, for messages; it must stay valid. */
void requests_stop(struct coordinator *c, const char *by);

#endif
