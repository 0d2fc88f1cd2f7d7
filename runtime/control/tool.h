/* An attached PMIx tool: what a member and epopctl have in common. One per process. */
#ifndef EPOP_CONTROL_TOOL_H
#define EPOP_CONTROL_TOOL_H

#include <cjson/cJSON.h>

#include "runtime/base/error.h"

/* Called on PMIx's progress thread; each may be NULL. */
struct control_tool_ops {
    void (*message)(void *context, const cJSON *message);
    void (*ending)(void *context); /* the server says goodbye: the connection is about to go */
    void (*lost)(void *context);
};
int control_tool_attach(const char *uri, const char *nspace, const struct control_tool_ops *ops, void *context,
                        int timeout_ms, struct error *error);
/* Sends one key; `wait` until the server took it. 0 or -1. */
int control_tool_tell(const char *key, const cJSON *json, int wait_ms);
void control_tool_detach(void);

#endif
