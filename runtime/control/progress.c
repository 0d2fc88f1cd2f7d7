/* Calls in PMIx's progress thread, by an event that nobody hears: see progress.h. */
#include "runtime/control/progress.h"

#include <pmix_server.h>
#include <stdbool.h>

#include "runtime/control/codec.h"

void control_progress_call(pmix_op_cbfunc_t run, void *context)
{
    pmix_info_t quiet;
    bool yes = true;
    PMIX_INFO_LOAD(&quiet, PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL);
    pmix_status_t status = PMIx_Notify_event(CONTROL_EVENT, NULL, PMIX_RANGE_PROC_LOCAL, &quiet, 1, run, context);
    PMIX_INFO_DESTRUCT(&quiet);
    if (status != PMIX_SUCCESS)
        run(status, context);
}
