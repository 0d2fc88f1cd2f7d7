/* Requests of tools: see call.h. */
#include "runtime/control/call.h"

#include <pmix_tool.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "runtime/base/json.h"
#include "runtime/control/codec.h"
#include "runtime/wire/messages.h"

static pmix_status_t send_query(const pmix_info_t *request, const char *nspace, pmix_info_cbfunc_t answered,
                                void *context)
{
    pmix_query_t query;
    pmix_status_t status;
    bool yes = true;
    PMIX_QUERY_CONSTRUCT(&query);
    PMIX_ARGV_APPEND(status, query.keys, "epop.status");
    if (status != PMIX_SUCCESS)
        return status;
    PMIX_QUERY_QUALIFIERS_CREATE(&query, 3);
    PMIX_INFO_XFER(&query.qualifiers[0], request);
    PMIX_INFO_LOAD(&query.qualifiers[1], CONTROL_KEY_CLIENT, nspace, PMIX_STRING);
    PMIX_INFO_LOAD(&query.qualifiers[2], PMIX_QUERY_REFRESH_CACHE, &yes, PMIX_BOOL);
    status = PMIx_Query_info_nb(&query, 1, answered, context);
    PMIX_QUERY_DESTRUCT(&query);
    return status;
}

static pmix_status_t send_allocation(const pmix_info_t *request, const cJSON *json, pmix_info_cbfunc_t answered,
                                     void *context)
{
    double delta = json_number(json, "delta", 0), size = json_number(json, "size", 0);
    pmix_info_t info[2];
    uint64_t ranks = (uint64_t)(size > 0 ? size : delta < 0 ? -delta : delta);
    PMIX_INFO_CONSTRUCT(&info[0]);
    PMIX_INFO_XFER(&info[0], request);
    PMIX_INFO_LOAD(&info[1], PMIX_ALLOC_NUM_CPUS, &ranks, PMIX_UINT64);
    pmix_status_t status =
        PMIx_Allocation_request_nb(delta < 0 ? PMIX_ALLOC_RELEASE : PMIX_ALLOC_EXTEND, info, 2, answered, context);
    PMIX_INFO_DESTRUCT(&info[0]);
    PMIX_INFO_DESTRUCT(&info[1]);
    return status;
}

/* The standard's attribute for an operation, or NULL where it has none. */
static const char *control_attribute(const char *op)
{
    static const struct {
        const char *op, *attribute;
    } table[] = {{REQUEST_PAUSE, PMIX_JOB_CTRL_PAUSE},
                 {REQUEST_RESUME, PMIX_JOB_CTRL_RESUME},
                 {REQUEST_STOP, PMIX_JOB_CTRL_TERMINATE}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(table[i].op, op))
            return table[i].attribute;
    return NULL;
}

static pmix_status_t send_control(const pmix_info_t *request, const char *op, pmix_info_cbfunc_t answered,
                                  void *context)
{
    const char *attribute = control_attribute(op);
    pmix_info_t info[2];
    bool yes = true;
    PMIX_INFO_CONSTRUCT(&info[0]);
    PMIX_INFO_XFER(&info[0], request);
    PMIX_INFO_LOAD(&info[1], !attribute ? "epop.control" : attribute, &yes, PMIX_BOOL);
    pmix_status_t status = PMIx_Job_control_nb(NULL, 0, info, 2, answered, context);
    PMIX_INFO_DESTRUCT(&info[0]);
    PMIX_INFO_DESTRUCT(&info[1]);
    return status;
}

pmix_status_t control_call(const cJSON *request, const char *nspace, pmix_info_cbfunc_t answered, void *context)
{
    const char *op = json_text(request, "op");
    pmix_info_t info;
    pmix_status_t status;
    if (!op)
        return PMIX_ERR_BAD_PARAM;
    if (control_info_load(&info, CONTROL_KEY_REQUEST, request))
        return PMIX_ERR_NOMEM;
    if (!strcmp(op, REQUEST_STATUS))
        status = send_query(&info, nspace, answered, context);
    else if (!strcmp(op, REQUEST_RESIZE))
        status = send_allocation(&info, request, answered, context);
    else
        status = send_control(&info, op, answered, context);
    PMIX_INFO_DESTRUCT(&info);
    return status;
}
