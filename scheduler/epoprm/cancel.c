/* epoprm cancel and drain. */
#include "runtime/base/json.h"
#include "scheduler/epoprm/client.h"
#include "scheduler/epoprm/command.h"
#include "scheduler/epoprm/say.h"

static int cancel(const char *word)
{
    int64_t job;
    int code;
    if (rm_job_number(word, &job))
        return RM_USAGE;
    cJSON *request = json_message("cancel");
    cJSON_AddNumberToObject(request, "job", (double)job);
    cJSON_Delete(client_request(request, &code));
    return code;
}

/* The others are cancelled, too, when one cannot be. */
int rm_cancel(const struct rm_arguments *arguments)
{
    int code = RM_DONE;
    for (int i = 0; i < arguments->count; i++) {
        int one = cancel(arguments->words[i]);
        code = code ? code : one;
    }
    return code;
}

int rm_drain(const struct rm_arguments *arguments)
{
    int code;
    cJSON *request = json_message("drain");
    cJSON_AddStringToObject(request, "node", arguments->words[0]);
    cJSON_AddBoolToObject(request, "undo", arguments->undo);
    cJSON_Delete(client_request(request, &code));
    return code;
}
