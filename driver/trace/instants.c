/* What the collector adds of the job: instants of its adaptations and refusals, slices of its checkpoints, and how it
 * ended: see handover.h. */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/common/recoveries.h"
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

/* That this start goes on from the one that died; those before are in the list alone, as their time is far before it.
 */
static void add_recovery(const struct instants *instants, const epop_recovery_t *r)
{
    char name[80] = "recovered from the beginning";
    if (r->number)
        snprintf(name, sizeof name, "recovered from %.20s %d", r->from, r->number);
    cJSON *arguments = add_instant(instants, r->time + r->seconds, name);
    if (!arguments)
        return;
    cJSON_AddNumberToObject(arguments, "iterations", (double)r->iterations);
    cJSON_AddNumberToObject(arguments, "lost", r->lost);
    cJSON_AddNumberToObject(arguments, "seconds", r->seconds);
    cJSON_AddStringToObject(arguments, "reason", r->reason);
}

static void add_checkpoint(const struct instants *instants, const epop_checkpoint_t *checkpoint)
{
    char name[40];
    snprintf(name, sizeof name, "checkpoint %d", checkpoint->number);
    cJSON *arguments = add_instant(instants, checkpoint->time - checkpoint->seconds, name);
    if (!arguments)
        return;
    cJSON_AddNumberToObject(cJSON_GetArrayItem(instants->list, cJSON_GetArraySize(instants->list) - 1), "duration",
                            floor(checkpoint->seconds * 1e9));
    cJSON_AddStringToObject(arguments, "level", checkpoint->level);
    cJSON_AddNumberToObject(arguments, "iteration", (double)checkpoint->iteration);
    cJSON_AddNumberToObject(arguments, "bytes", (double)checkpoint->bytes);
    cJSON_AddNumberToObject(arguments, "stall", checkpoint->stall);
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
    if (job->recovery_count)
        add_recovery(&instants, &job->recoveries[job->recovery_count - 1]);
    recoveries_add(json, job);
    for (int i = 0; i < job->checkpoint_count; i++)
        add_checkpoint(&instants, &job->checkpoints[i]);
    char *text = cJSON_PrintUnformatted(json);
    if (text)
        handover_put(directory, TRACE_JOB_NAME, text, strlen(text));
    free(text);
    cJSON_Delete(json);
}
