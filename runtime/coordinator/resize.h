/* Requests for another size, from epopctl and from the program: checked, rounded or refused with the reason. */
#ifndef EPOP_COORDINATOR_RESIZE_H
#define EPOP_COORDINATOR_RESIZE_H

#include <cjson/cJSON.h>

struct coordinator;

struct resize_requests {
    cJSON *deferred; /* the program's, out of a world that is being made; owned; NULL: none */
};

void resize_request(struct coordinator *c, void *handle, const cJSON *request);
void resize_program(struct coordinator *c, int process, const cJSON *request);
/* What the program asked for out of the world that is there now. */
void resize_deferred(struct coordinator *c);

#endif
