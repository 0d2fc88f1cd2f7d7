/* The texts of all processes: see store.h. */
#include "runtime/records/store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/records/history.h"

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

static bool is_same(const struct text *a, const struct text *b)
{
    return a->which == b->which && a->process == b->process;
}

/* Under the lock: frees what was replaced by a later text. */
static void sweep(void)
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
static void complete(struct text *text)
{
    for (struct text *other = store.first; other; other = other->next)
        if (other != text && other->complete && !other->last && is_same(other, text))
            other->replaced = true;
    text->complete = true;
    sweep();
}

/* Under the lock. NULL when out of memory. */
static struct text *append(int which, int process, bool last)
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
    struct text *entry = append(which, process, last);
    if (entry) {
        entry->text = text;
        complete(entry);
    } else {
        free(text);
    }
    pthread_mutex_unlock(&store.lock);
}

/* Under the lock: the one whose parts are coming in. */
static struct text *incoming(int which, int process)
{
    const struct text key = {.which = which, .process = process};
    for (struct text *text = store.first; text; text = text->next)
        if (!text->complete && !text->replaced && is_same(text, &key))
            return text;
    return NULL;
}

static bool extend(struct text *entry, const char *text)
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
    struct text *entry = incoming(which, process);
    if (part == 0 && entry) { /* its sender was cut off in the middle */
        entry->replaced = true;
        entry = NULL;
    }
    if (part == 0)
        entry = append(which, process, last);
    if (entry && !extend(entry, text))
        entry->replaced = true;
    else if (entry && part == parts - 1)
        complete(entry);
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
static void sort(epop_record_t *records, int count)
{
    for (int i = 1; i < count; i++) {
        epop_record_t record = records[i];
        int j = i;
        for (; j > 0 && records[j - 1].process > record.process; j--)
            records[j] = records[j - 1];
        records[j] = record;
    }
}

static bool is_wanted(const struct text *text, int which, const epop_job_t *job)
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
        if (is_wanted(text, which, job))
            records[job->record_count++] = (epop_record_t){text->process, text->text};
    history_fill(job);
    store.in_use = true;
    pthread_mutex_unlock(&store.lock);
    if (records)
        sort(records, job->record_count);
    job->records = records;
}

void store_release(epop_job_t *job)
{
    free((epop_record_t *)job->records);
    history_release(job);
    pthread_mutex_lock(&store.lock);
    store.in_use = false;
    sweep();
    pthread_mutex_unlock(&store.lock);
}
