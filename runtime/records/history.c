/* The history of adaptations: see history.h. Texts are kept to the end of the process: a line per failed request. */
#include "runtime/records/history.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/clock.h"

static struct {
    epop_adaptation_t *adaptations;
    size_t adaptation_count, adaptation_room;
    epop_refusal_t *refusals;
    size_t refusal_count, refusal_room;
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

static void *copy(const void *array, int *count, size_t size)
{
    void *same = malloc((size_t)*count * size + 1);
    if (same && *count)
        memcpy(same, array, (size_t)*count * size);
    if (!same)
        *count = 0;
    return same;
}

void history_fill(epop_job_t *job)
{
    job->adaptation_count = (int)history.adaptation_count;
    job->adaptations = copy(history.adaptations, &job->adaptation_count, sizeof *job->adaptations);
    job->refusal_count = (int)history.refusal_count;
    job->refusals = copy(history.refusals, &job->refusal_count, sizeof *job->refusals);
}

void history_release(epop_job_t *job)
{
    free((epop_adaptation_t *)job->adaptations);
    free((epop_refusal_t *)job->refusals);
}
