/*
 * Requests of a tool that is attached (tool.h) travel by the PMIx call that means the same: a query for the status, an
 * allocation request for a resize, job control for the rest; each carries the request itself as JSON.
 */
#ifndef EPOP_CONTROL_CALL_H
#define EPOP_CONTROL_CALL_H

#include <cjson/cJSON.h>
#include <pmix.h>

/* `answered` is called on PMIx's thread, unless this fails, or the connection breaks before. `nspace`: this tool's. */
pmix_status_t control_call(const cJSON *request, const char *nspace, pmix_info_cbfunc_t answered, void *context);

#endif
