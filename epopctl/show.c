/* Commands that ask a job one thing: see show.h. */
#include "epopctl/show.h"

#include "epopctl/client.h"
#include "epopctl/jobs.h"
#include "epopctl/output.h"
#include "runtime/base/json.h"

int ctl_show(const struct ctl_arguments *arguments, const struct ctl_view *view)
{
    struct control_job job;
    int code = ctl_job_select(arguments->job, &job);
    if (code != CTL_DONE)
        return code;
    cJSON *request = json_message(view->op);
    code = view->complete ? view->complete(request, arguments) : CTL_DONE;
    if (code != CTL_DONE) {
        cJSON_Delete(request);
        return code;
    }
    cJSON *answer = ctl_ask_job(&job, request, arguments->timeout_ms, &code);
    const cJSON *what = cJSON_GetObjectItem(answer, view->member);
    cJSON_Delete(request);
    if (what && arguments->json) {
        term_print_json(what);
    } else if (what) {
        view->print(what);
    } else if (answer) {
        ctl_complain("%s", term_text(answer, "reason", view->none));
        code = CTL_REFUSED;
    }
    cJSON_Delete(answer);
    return code;
}
