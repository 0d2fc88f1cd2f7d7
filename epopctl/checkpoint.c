/* epopctl checkpoint: has a job save its described data, and says where that is. */
#include <stdio.h>
#include <string.h>

#include "epopctl/client.h"
#include "epopctl/command.h"
#include "epopctl/jobs.h"
#include "epopctl/output.h"
#include "runtime/base/json.h"
#include "runtime/wire/messages.h"

/* "/scratch/heat-17-0003.h5  1.00 MiB in 0.251 s, at iterate, iteration 120; the ranks stood still for 0.253 s" */
static void print_for_people(const cJSON *made)
{
    char bytes[32];
    term_bytes(json_number(made, "bytes", 0), bytes);
    printf("%s  %s in %.3f s, at %s, iteration %.0f; the ranks stood still for %.3f s\n", term_text(made, "path", "?"),
           bytes, json_number(made, "seconds", 0), term_text(made, "element", "?"), json_number(made, "iteration", 0),
           json_number(made, "stall", 0));
}

/* path, bytes, seconds, stall, element, iteration */
static void print_for_programs(const cJSON *made)
{
    printf("%s\t%.0f\t%.6f\t%.6f\t%s\t%.0f\n", term_text(made, "path", "?"), json_number(made, "bytes", 0),
           json_number(made, "seconds", 0), json_number(made, "stall", 0), term_text(made, "element", "?"),
           json_number(made, "iteration", 0));
}

static void print(const cJSON *answer, const struct ctl_arguments *arguments)
{
    const cJSON *made = cJSON_GetObjectItem(answer, "checkpoint");
    if (arguments->json)
        term_print_json(answer);
    else if (!json_true(answer, "ok"))
        ctl_complain("%s", term_text(answer, "reason", "refused, without a reason"));
    else if (!made)
        puts("accepted");
    else if (term_for_people())
        print_for_people(made);
    else
        print_for_programs(made);
}

int ctl_checkpoint(const struct ctl_arguments *arguments)
{
    struct control_job job;
    int code = ctl_job_select(arguments->job, &job);
    if (code != CTL_DONE)
        return code;
    cJSON *request = json_message(REQUEST(checkpoint));
    if (arguments->wait)
        cJSON_AddTrueToObject(request, "wait");
    cJSON *answer = ctl_ask_job(&job, request, arguments->timeout_ms, &code);
    cJSON_Delete(request);
    if (answer) {
        print(answer, arguments);
        code = ctl_code_of(answer);
    } else if (code == CTL_TIMEOUT) {
        ctl_complain("the checkpoint may still be made: epopctl watch shows it");
    }
    cJSON_Delete(answer);
    return code;
}
