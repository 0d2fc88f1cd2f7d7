/* The history of adaptations: see history.h. Texts are kept to the end of the process: a line per failed request. */
#include "runtime/records/history.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct {
    epop_adaptation_t *adaptations;
    int adaptation_count, adaptation_room;
    epop_refusal_t *refusals;
    int refusal_count, refusal_room;
} history;

/* Room for one more; NULL when out of memory, and nothing has changed. */
static void *grow(void *array, int count, int *room, size_t size)
{
    if (count < *room)
        return array;
    void *larger = realloc(array, 2 * (size_t)(*room + 8) * size);
    if (larger)
        *room = 2 * (*room + 8);
    return larger;
}

static epop_adaptation_t *find(int id)
{
    for (int i = history.adaptation_count - 1; i >= 0; i--)
        if (history.adaptations[i].id == id)
            return &history.adaptations[i];
    epop_adaptation_t *larger =
        grow(history.adaptations, history.adaptation_count, &history.adaptation_room, sizeof *larger);
    if (!larger)
        return NULL;
    history.adaptations = larger;
    larger[history.adaptation_count] = (epop_adaptation_t){.id = id, .reason = ""};
    return &larger[history.adaptation_count++];
}

static void note_refusal(const char *reason)
{
    struct timespec now;
    epop_refusal_t *larger = grow(history.refusals, history.refusal_count, &history.refusal_room, sizeof *larger);
    char *copy = strdup(reason);
    if (larger)
        history.refusals = larger;
    if (!larger || !copy) {
        free(copy);
        return;
    }
    clock_gettime(CLOCK_REALTIME, &now);
    double time = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
    history.refusals[history.refusal_count++] = (epop_refusal_t){time, copy};
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
    job->adaptation_count = history.adaptation_count;
    job->adaptations = copy(history.adaptations, &job->adaptation_count, sizeof *job->adaptations);
    job->refusal_count = history.refusal_count;
    job->refusals = copy(history.refusals, &job->refusal_count, sizeof *job->refusals);
}

void history_release(epop_job_t *job)
{
    free((epop_adaptation_t *)job->adaptations);
    free((epop_refusal_t *)job->refusals);
}
