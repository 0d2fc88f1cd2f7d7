/* A member: a process of the job other than the one that hosts the server. */
#include <stdio.h>

#include "runtime/control/control_internal.h"

int control_attach(const char *uri, const char *token, int process, const control_member_ops_t *ops, void *context,
                   int timeout_ms, char *error, size_t error_size)
{
    static control_tool_ops_t tool_ops;
    char nspace[CONTROL_NSPACE_MAX];

    tool_ops = (control_tool_ops_t){.message = ops->message, .lost = ops->lost};
    control_nspace_member(nspace, token, process);
    if (control_tool_attach(uri, nspace, &tool_ops, context, timeout_ms, error, error_size) != 0)
        return -1;
    if (control_tool_tell(CONTROL_KEY_HELLO, NULL, timeout_ms) != 0) {
        snprintf(error, error_size, "cannot attach to the job as process %d: the server refuses it", process);
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
