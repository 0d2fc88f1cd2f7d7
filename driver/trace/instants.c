/* The instants of the job that the collector adds: its adaptations and refusals, and how it ended: see handover.h. */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/trace/handover.h"
#include "driver/trace/merge.h"
#include "runtime/base/clock.h"

struct instants {
    cJSON *list;
    double wall, now; /* the same moment: seconds since 1970, and ns on the monotonic clock */
};

static cJSON *add_instant(const struct instants *instants, double time, const char *name)
{
    if (time <= 0)
        return NULL;
    cJSON *instant = cJSON_CreateObject();
    cJSON_AddStringToObject(instant, "name", name);
    cJSON_AddNumberToObject(instant, "at", floor(instants->now - (instants->wall - time) * 1e9));
    cJSON_AddItemToArray(instants->list, instant);
    return cJSON_AddObjectToObject(instant, "args");
}

static void add_change(const struct instants *instants, double time, const char *what, const epop_adaptation_t *a)
{
    char name[80];
    snprintf(name, sizeof name, "%s %d -> %d", what, a->from, a->to);
    cJSON *arguments = add_instant(instants, time, name);
    if (!arguments)
        return;
    cJSON_AddNumberToObject(arguments, "adaptation", a->id);
    cJSON_AddStringToObject(arguments, "by", a->by);
    if (a->reason[0])
        cJSON_AddStringToObject(arguments, "reason", a->reason);
}

static void add_adaptation(const struct instants *instants, const epop_adaptation_t *a)
{
    add_change(instants, a->requested, "requested", a);
    add_change(instants, a->prepared, "prepared", a);
    add_change(instants, a->agreed, "agreed", a);
    add_change(instants, a->committed, "committed", a);
}

static const char *end_text(epop_job_end_t end)
{
    static const char *const texts[] = {
        [EPOP_JOB_ENDED] = "ended", [EPOP_JOB_STOPPED] = "stopped", [EPOP_JOB_FAILED] = "failed"};
    return end == EPOP_JOB_RUNNING ? "running" : texts[end];
}

void handover_job(const char *directory, const epop_job_t *job)
{
    cJSON *json = cJSON_CreateObject();
    struct instants instants = {
        .list = cJSON_AddArrayToObject(json, "instants"), .wall = wall_seconds(), .now = (double)monotonic_ns()};
    cJSON_AddStringToObject(json, "end", end_text(job->end));
    if (job->reason)
        cJSON_AddStringToObject(json, "reason", job->reason);
    for (int i = 0; i < job->adaptation_count; i++)
        add_adaptation(&instants, &job->adaptations[i]);
    for (int i = 0; i < job->refusal_count; i++)
        cJSON_AddStringToObject(add_instant(&instants, job->refusals[i].time, "refused"), "reason",
                                job->refusals[i].reason);
    char *text = cJSON_PrintUnformatted(json);
    if (text)
        handover_put(directory, TRACE_JOB_NAME, text, strlen(text));
    free(text);
    cJSON_Delete(json);
}
