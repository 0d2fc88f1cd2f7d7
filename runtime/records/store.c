/* What process 0 keeps of the records: the history of the job, and the texts of all processes. */
#include "runtime/records/store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/control/supervisor.h"

/* ---- The history -------------------------------------------------------------------------------- */

/* Its texts are kept to the end of the process: a line per failed request. Under the lock of the texts. */
static struct {
    epop_adaptation_t *adaptations;
    size_t adaptation_count, adaptation_room;
    epop_refusal_t *refusals;
    size_t refusal_count, refusal_room;
    epop_checkpoint_t *checkpoints;
    size_t checkpoint_count, checkpoint_room;
} history;

static epop_adaptation_t *find_adaptation(int id)
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

/* An adaptation has come further; or (NULL) a request was refused. */
static void history_note(const epop_adaptation_t *adaptation, const char *reason)
{
    if (!adaptation) {
        note_refusal(reason);
        return;
    }
    epop_adaptation_t *entry = find_adaptation(adaptation->id);
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

/* One is complete. */
static void history_note_checkpoint(const epop_checkpoint_t *checkpoint)
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

static void *copy_array(const void *array, int *count, size_t size)
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

/* Copies; history_release frees them. */
static void history_fill(epop_job_t *job)
{
    job->adaptation_count = (int)history.adaptation_count;
    job->adaptations = copy_array(history.adaptations, &job->adaptation_count, sizeof *job->adaptations);
    job->refusal_count = (int)history.refusal_count;
    job->refusals = copy_array(history.refusals, &job->refusal_count, sizeof *job->refusals);
    fill_recoveries(job);
    job->checkpoint_count = (int)history.checkpoint_count;
    job->checkpoints = copy_array(history.checkpoints, &job->checkpoint_count, sizeof *job->checkpoints);
}

static void history_release(epop_job_t *job)
{
    free((epop_adaptation_t *)job->adaptations);
    free((epop_refusal_t *)job->refusals);
    free((epop_recovery_t *)job->recoveries);
    free((epop_checkpoint_t *)job->checkpoints);
}

/* ---- Texts -------------------------------------------------------------------------------------- */

struct text {
    int which, process;
    bool last, complete, replaced;
    char *text;
    size_t length;
    struct text *next;
};

static struct {
    pthread_mutex_t lock;
    struct text *first, **end;
    bool in_use; /* a driver is reading: nothing is freed */
} store = {.lock = PTHREAD_MUTEX_INITIALIZER, .end = &store.first};

static bool is_same_source(const struct text *a, const struct text *b)
{
    return a->which == b->which && a->process == b->process;
}

/* Under the lock: frees what was replaced by a later text. */
static void sweep_texts(void)
{
    struct text **at = &store.first;
    while (*at) {
        struct text *text = *at;
        if (!text->replaced || store.in_use) {
            at = &text->next;
            continue;
        }
        *at = text->next;
        free(text->text);
        free(text);
    }
    store.end = at;
}

/* Under the lock: the text is complete. A text that is not the last is out of date with any later one. */
static void complete_text(struct text *text)
{
    for (struct text *other = store.first; other; other = other->next)
        if (other != text && other->complete && !other->last && is_same_source(other, text))
            other->replaced = true;
    text->complete = true;
    sweep_texts();
}

/* Under the lock. NULL when out of memory. */
static struct text *append_text(int which, int process, bool last)
{
    struct text *text = calloc(1, sizeof *text);
    if (!text)
        return NULL;
    *text = (struct text){.which = which, .process = process, .last = last};
    *store.end = text;
    store.end = &text->next;
    return text;
}

void store_put(int which, int process, bool last, char *text)
{
    pthread_mutex_lock(&store.lock);
    struct text *entry = append_text(which, process, last);
    if (entry) {
        entry->text = text;
        complete_text(entry);
    } else {
        free(text);
    }
    pthread_mutex_unlock(&store.lock);
}

/* Under the lock: the one whose parts are coming in. */
static struct text *incoming_text(int which, int process)
{
    const struct text key = {.which = which, .process = process};
    for (struct text *text = store.first; text; text = text->next)
        if (!text->complete && !text->replaced && is_same_source(text, &key))
            return text;
    return NULL;
}

static bool extend_text(struct text *entry, const char *text)
{
    size_t length = strlen(text);
    char *longer = realloc(entry->text, entry->length + length + 1);
    if (!longer)
        return false;
    memcpy(longer + entry->length, text, length + 1);
    entry->text = longer;
    entry->length += length;
    return true;
}

void store_part(int which, int process, bool last, int part, int parts, const char *text)
{
    pthread_mutex_lock(&store.lock);
    struct text *entry = incoming_text(which, process);
    if (part == 0 && entry) { /* its sender was cut off in the middle */
        entry->replaced = true;
        entry = NULL;
    }
    if (part == 0)
        entry = append_text(which, process, last);
    if (entry && !extend_text(entry, text))
        entry->replaced = true;
    else if (entry && part == parts - 1)
        complete_text(entry);
    pthread_mutex_unlock(&store.lock);
}

void store_note(const epop_adaptation_t *adaptation, const char *reason)
{
    pthread_mutex_lock(&store.lock);
    history_note(adaptation, reason);
    pthread_mutex_unlock(&store.lock);
}

void store_note_checkpoint(const epop_checkpoint_t *checkpoint)
{
    pthread_mutex_lock(&store.lock);
    history_note_checkpoint(checkpoint);
    pthread_mutex_unlock(&store.lock);
}

/* By process; of one process in the order of the list. */
static void sort_by_process(epop_record_t *records, int count)
{
    for (int i = 1; i < count; i++) {
        epop_record_t record = records[i];
        int j = i;
        for (; j > 0 && records[j - 1].process > record.process; j--)
            records[j] = records[j - 1];
        records[j] = record;
    }
}

static bool is_text_wanted(const struct text *text, int which, const epop_job_t *job)
{
    bool over = job->end == EPOP_JOB_ENDED || job->end == EPOP_JOB_STOPPED;
    return text->complete && !text->replaced && text->which == which && (text->last || !over);
}

void store_fill(int which, epop_job_t *job)
{
    int room = 0;
    pthread_mutex_lock(&store.lock);
    for (const struct text *text = store.first; text; text = text->next)
        room++;
    epop_record_t *records = calloc((size_t)room + 1, sizeof *records);
    job->record_count = 0;
    for (const struct text *text = store.first; records && text; text = text->next)
        if (is_text_wanted(text, which, job))
            records[job->record_count++] = (epop_record_t){text->process, text->text};
    history_fill(job);
    store.in_use = true;
    pthread_mutex_unlock(&store.lock);
    if (records)
        sort_by_process(records, job->record_count);
    job->records = records;
}

void store_release(epop_job_t *job)
{
    free((epop_record_t *)job->records);
    history_release(job);
    pthread_mutex_lock(&store.lock);
    store.in_use = false;
    sweep_texts();
    pthread_mutex_unlock(&store.lock);
}
