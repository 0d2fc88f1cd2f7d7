/* The history of adaptations: see history.h. Texts are kept to the end of the process: a line per failed request. */
#include "runtime/records/history.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/control/supervisor.h"

static struct {
    epop_adaptation_t *adaptations;
    size_t adaptation_count, adaptation_room;
    epop_refusal_t *refusals;
    size_t refusal_count, refusal_room;
    epop_checkpoint_t *checkpoints;
    size_t checkpoint_count, checkpoint_room;
} history;

static epop_adaptation_t *find(int id)
{
    for (size_t i = history.adaptation_count; i > 0; i--)
        if (history.adaptations[i - 1].id == id)
            return &history.adaptations[i - 1];
    if (array_reserve(&history.adaptations, &history.adaptation_room, history.adaptation_count + 1,
                      sizeof *history.adaptations))
        return NULL;
    history.adaptations[history.adaptation_count] = (epop_adaptation_t){.id = id, .reason = ""};
    return &history.adaptations[history.adaptation_count++];
}

static void note_refusal(const char *reason)
{
    char *copy = strdup(reason);
    if (!copy ||
        array_reserve(&history.refusals, &history.refusal_room, history.refusal_count + 1, sizeof *history.refusals)) {
        free(copy);
        return;
    }
    history.refusals[history.refusal_count++] = (epop_refusal_t){wall_seconds(), copy};
}

void history_note(const epop_adaptation_t *adaptation, const char *reason)
{
    if (!adaptation) {
        note_refusal(reason);
        return;
    }
    epop_adaptation_t *entry = find(adaptation->id);
    if (!entry)
        return;
    const char *known = entry->reason;
    *entry = *adaptation;
    entry->reason = known;
    if (!known[0] && adaptation->reason[0]) {
        const char *copy = strdup(adaptation->reason);
        entry->reason = copy ? copy : "";
    }
}

void history_note_checkpoint(const epop_checkpoint_t *checkpoint)
{
    char *path = strdup(checkpoint->path);
    if (!path || array_reserve(&history.checkpoints, &history.checkpoint_room, history.checkpoint_count + 1,
                               sizeof *history.checkpoints)) {
        free(path);
        return;
    }
    history.checkpoints[history.checkpoint_count] = *checkpoint;
    history.checkpoints[history.checkpoint_count++].path = path;
}

static void *copy(const void *array, int *count, size_t size)
{
    void *same = malloc((size_t)*count * size + 1);
    if (same && *count)
        memcpy(same, array, (size_t)*count * size);
    if (!same)
        *count = 0;
    return same;
}

/* The texts are those of the supervisor's list, which stays. */
static epop_recovery_t recovery_of(const cJSON *json)
{
    return (epop_recovery_t){.time = json_number(json, "time", 0),
                             .reason = json_text(json, "reason"),
                             .from = json_text(json, "from"),
                             .number = json_int(json, "number", 0),
                             .size = json_int(json, "size", 0),
                             .iterations = json_int64(json, "iterations", 0),
                             .lost = json_number(json, "lost", 0),
                             .seconds = json_number(json, "seconds", 0)};
}

static void fill_recoveries(epop_job_t *job)
{
    const cJSON *list = supervisor_list(), *one;
    epop_recovery_t *recovery = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *recovery);
    job->recoveries = recovery;
    job->recovery_count = 0;
    if (!recovery)
        return;
    cJSON_ArrayForEach(one, list)
    {
        recovery[job->recovery_count] = recovery_of(one);
        if (recovery[job->recovery_count].reason && recovery[job->recovery_count].from)
            job->recovery_count++;
    }
}

void history_fill(epop_job_t *job)
{
    job->adaptation_count = (int)history.adaptation_count;
    job->adaptations = copy(history.adaptations, &job->adaptation_count, sizeof *job->adaptations);
    job->refusal_count = (int)history.refusal_count;
    job->refusals = copy(history.refusals, &job->refusal_count, sizeof *job->refusals);
    fill_recoveries(job);
    job->checkpoint_count = (int)history.checkpoint_count;
    job->checkpoints = copy(history.checkpoints, &job->checkpoint_count, sizeof *job->checkpoints);
}

void history_release(epop_job_t *job)
{
    free((epop_adaptation_t *)job->adaptations);
    free((epop_refusal_t *)job->refusals);
    free((epop_recovery_t *)job->recoveries);
    free((epop_checkpoint_t *)job->checkpoints);
}
