/* epoprm stop: comes back when the daemon has ended. */
#include "runtime/base/json.h"
#include "scheduler/epoprm/client.h"
#include "scheduler/epoprm/command.h"
#include "scheduler/epoprm/say.h"

static const double patience = 120; /* seconds for jobs to end */

int rm_stop(const struct rm_arguments *arguments)
{
    int code;
    if (arguments->jobs && arguments->leave) {
        rm_complain("stop: --jobs or --leave, not both");
        return RM_USAGE;
    }
    struct client *daemon = client_connect(patience, false, &code);
    bool ended = false;
    if (!daemon)
        return code;
    cJSON *request = json_message("stop");
    cJSON_AddStringToObject(request, "how", arguments->jobs ? "jobs" : arguments->leave ? "leave" : "idle");
    cJSON *answer = client_ask(daemon, request, &code);
    if (answer)
        cJSON_Delete(client_next(daemon, &ended));
    if (answer && !ended) {
        rm_complain("stop: the daemon has not ended after %.0f s", patience);
        code = RM_TIMEOUT;
    }
    cJSON_Delete(answer);
    cJSON_Delete(request);
    client_close(daemon);
    return code;
}
