/* What is said of a job that has not answered in time: how it is, as far as it still tells. */
#include "epopctl/late.h"

#include <stdio.h>
#include <string.h>

#include "epopctl/client.h"
#include "epopctl/output.h"
#include "runtime/base/json.h"
#include "runtime/wire/messages.h"

#define STATUS_LIMIT_MS 3000

/* "; its resize 2 -> 4 is preparing", of the last one, whatever has become of it; or nothing. */
static void describe_last_resize(const cJSON *status, char text[200])
{
    const cJSON *all = cJSON_GetObjectItem(status, "adaptations");
    const cJSON *last = cJSON_GetArrayItem(all, cJSON_GetArraySize(all) - 1);
    text[0] = 0;
    if (last)
        snprintf(text, 200, "; its last resize, %d -> %d, is %.40s", json_int(last, "from", 0), json_int(last, "to", 0),
                 term_text(last, "state", "unknown"));
}

void ctl_complain_late(const cJSON *request, int timeout_ms)
{
    cJSON *question = json_message(REQUEST(status)), *answer = NULL;
    char resize[200];
    int code;
    if (strcmp(term_text(request, "op", ""), REQUEST(status)))
        answer = ctl_ask_quietly(question, STATUS_LIMIT_MS, &code);
    const cJSON *status = cJSON_GetObjectItem(answer, "job");
    describe_last_resize(status, resize);
    if (status)
        ctl_complain("no answer within %g s; the job is %s, with %d ranks%s", timeout_ms / 1e3,
                     term_text(status, "state", "?"), json_int(status, "size", 0), resize);
    else
        ctl_complain("no answer within %g s; nor does the job say how it is", timeout_ms / 1e3);
    cJSON_Delete(answer);
    cJSON_Delete(question);
}
