/* A member: a process of the job other than the one that hosts the server. */
#include <stdio.h>

#include "runtime/base/error.h"
#include "runtime/control/codec.h"
#include "runtime/control/control.h"
#include "runtime/control/token.h"
#include "runtime/control/tool.h"

int control_attach(const char *uri, const char *token, int process, const struct control_member_ops *ops, void *context,
                   int timeout_ms, struct error *error)
{
    static struct control_tool_ops tool_ops;
    char nspace[CONTROL_NSPACE_MAX];
    tool_ops = (struct control_tool_ops){.message = ops->message, .lost = ops->lost};
    control_nspace_member(nspace, token, process);
    if (control_tool_attach(uri, nspace, &tool_ops, context, timeout_ms, error))
        return -1;
    if (control_tool_tell(CONTROL_KEY_HELLO, NULL, timeout_ms)) {
        error_set(error, ERROR_FAILED, "cannot attach to the job as process %d: the server refuses it", process);
        control_detach();
        return -1;
    }
    return 0;
}

int control_tell(const cJSON *message)
{
    return control_tool_tell(CONTROL_KEY_MESSAGE, message, 0);
}

void control_detach(void)
{
    control_tool_detach();
}
