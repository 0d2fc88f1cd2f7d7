/* Answers to requests: see reply.h. */
#include "runtime/coordinator/reply.h"

#include "runtime/coordinator/state.h"

cJSON *reply_accepted(const char *code)
{
    cJSON *reply = cJSON_CreateObject();
    cJSON_AddBoolToObject(reply, "ok", 1);
    cJSON_AddStringToObject(reply, "code", code);
    return reply;
}

cJSON *reply_refusal(const char *code, const char *reason)
{
    cJSON *reply = cJSON_CreateObject();
    cJSON_AddBoolToObject(reply, "ok", 0);
    cJSON_AddStringToObject(reply, "code", code);
    cJSON_AddStringToObject(reply, "reason", reason);
    return reply;
}

void reply_send(struct coordinator *c, void **handle, cJSON *reply)
{
    if (*handle)
        c->config.ops->answer(c->config.context, *handle, reply);
    *handle = NULL;
    cJSON_Delete(reply);
}
