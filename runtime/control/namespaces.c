/*
 * Tools that have gone. PMIx keeps some 50 kB for each that ever attached, every epopctl too, until its namespace is
 * taken out. Not at once: one that says goodbye is still connected then.
 */
#include "runtime/control/namespaces.h"

#include <pmix_server.h>
#include <stdlib.h>

#include "runtime/base/clock.h"

#define KEEP_SECONDS 3

struct gone_tool {
    struct gone_tool *next;
    double when; /* it went */
    pmix_nspace_t nspace;
};

/* Of PMIx's progress thread. The oldest is first. */
static struct gone_tool *first, **end = &first;

void control_namespaces_gone(const char *nspace)
{
    struct gone_tool *tool = calloc(1, sizeof *tool);
    if (!tool)
        return;
    tool->when = monotonic_seconds();
    PMIX_LOAD_NSPACE(tool->nspace, nspace);
    *end = tool;
    end = &tool->next;
}

static void forgotten(pmix_status_t status, void *cbdata)
{
    (void)status;
    free(cbdata);
}

void control_namespaces_forget(void)
{
    double now = monotonic_seconds();
    while (first && now - first->when > KEEP_SECONDS) {
        struct gone_tool *tool = first;
        first = tool->next;
        if (!first)
            end = &first;
        PMIx_server_deregister_nspace(tool->nspace, forgotten, tool);
    }
}
