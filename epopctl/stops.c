/* epopctl break, step and continue: stopping a job that runs under the debug driver. */
#include <stdio.h>
#include <string.h>

#include "epopctl/client.h"
#include "epopctl/command.h"
#include "epopctl/jobs.h"
#include "epopctl/output.h"
#include "runtime/base/json.h"
#include "runtime/wire/messages.h"

/* "stopped before work, iteration 5", and for each rank how to get at it. */
static void print_stop(const cJSON *answer)
{
    const cJSON *rank;
    printf("stopped before %s, iteration %.0f\n", term_text(answer, "element", "?"),
           json_number(answer, "iteration", 0));
    cJSON_ArrayForEach(rank, cJSON_GetObjectItem(answer, "ranks"))
    {
        const char *block = term_text(rank, "block", "");
        printf("rank %.0f on %s: gdb -p %.0f%s%s%s\n", json_number(rank, "rank", 0), term_text(rank, "host", "?"),
               json_number(rank, "pid", 0), !block[0] ? "" : " -ex 'tbreak *", block, !block[0] ? "" : "'");
    }
}

static void print_done(const cJSON *answer, const char *done)
{
    const char *note = term_text(answer, "note", "");
    if (cJSON_HasObjectItem(answer, "ranks"))
        print_stop(answer);
    else
        printf("%s%s%s\n", done, !note[0] ? "" : "; ", note);
}

/* Takes the request. */
static int ask(const struct ctl_arguments *arguments, cJSON *request, const char *done)
{
    struct control_job job;
    int code = ctl_job_select(arguments->job, &job);
    cJSON *answer = code == CTL_DONE ? ctl_ask_job(&job, request, arguments->timeout_ms, &code) : NULL;
    if (answer && (code = ctl_code_of(answer)) == CTL_DONE && !arguments->json)
        print_done(answer, done);
    else if (answer && !arguments->json)
        ctl_complain("%s", term_text(answer, "reason", "refused, without a reason"));
    else if (answer)
        term_print_json(answer);
    cJSON_Delete(answer);
    cJSON_Delete(request);
    return code;
}

int ctl_break(const struct ctl_arguments *arguments)
{
    cJSON *request = json_message(REQUEST(break));
    cJSON_AddStringToObject(request, "at", arguments->breakpoint);
    if (arguments->remove)
        cJSON_AddTrueToObject(request, "remove");
    if (arguments->wait)
        cJSON_AddTrueToObject(request, "wait");
    return ask(arguments, request, arguments->remove ? "removed" : "set");
}

int ctl_step(const struct ctl_arguments *arguments)
{
    return ask(arguments, json_message(REQUEST(step)), "going on");
}

int ctl_continue(const struct ctl_arguments *arguments)
{
    return ask(arguments, json_message(REQUEST(continue)), "going on");
}
