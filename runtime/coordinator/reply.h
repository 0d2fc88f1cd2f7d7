/* Answers to requests. */
#ifndef EPOP_COORDINATOR_REPLY_H
#define EPOP_COORDINATOR_REPLY_H

#include <cjson/cJSON.h>

struct coordinator;

cJSON *reply_accepted(const char *code);
cJSON *reply_refusal(const char *code, const char *reason);

/* Takes the reply; *handle becomes NULL. A handle that is NULL: nobody waits. */
void reply_send(struct coordinator *c, void **handle, cJSON *reply);

#endif
