/* Slurm's jobs and nodes, view by view, as rows of the journal: only what has changed since the view before. */
#include "scheduler/slurm/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/hash.h"
#include "scheduler/slurm/model.h"

#define KEPT_FOR (30 * 86400.0) /* seconds after a job's end */

/* What all of the steps below need. */
struct writing {
    struct slurm_record *record;
    struct journal *journal;
    const struct slurm_view *view;
    const struct advised_table *table;
    double now;
    bool begun; /* a transaction: something is new */
    struct error *error;
};

/* Before a change. */
static int begin_change(struct writing *w)
{
    if (w->begun)
        return 0;
    w->begun = !journal_begin(w->journal, w->error);
    return w->begun ? 0 : -1;
}

/* ---- Nodes -------------------------------------------------------------------------------------- */

static uint64_t hash_of_nodes(const struct slurm_view *view)
{
    uint64_t hash = HASH_BEGIN;
    for (size_t i = 0; i < view->node_count; i++) {
        const struct slurm_node *node = &view->nodes[i];
        hash = hash_bytes(hash, node->name, strlen(node->name) + 1);
        hash = hash_bytes(hash, (const unsigned char[]){node->drained, node->state == SLURM_NODE_DOWN}, 2);
    }
    return hash;
}

static int write_nodes(struct writing *w)
{
    uint64_t hash = hash_of_nodes(w->view);
    if (hash == w->record->nodes)
        return 0;
    if (begin_change(w) || journal_nodes_forget(w->journal, w->error))
        return -1;
    for (size_t i = 0; i < w->view->node_count; i++) {
        const struct slurm_node *node = &w->view->nodes[i];
        struct journal_node row = {.number = (int)i,
                                   .name = node->name,
                                   .host = node->name,
                                   .slots = node->cpus > 0 ? node->cpus : 1,
                                   .state = node->drained                    ? "drain"
                                            : node->state == SLURM_NODE_DOWN ? "down"
                                                                             : "up",
                                   .since = w->now};
        if (journal_node_put(w->journal, &row, w->error))
            return -1;
    }
    w->record->nodes = hash;
    return 0;
}

/* ---- Jobs --------------------------------------------------------------------------------------- */

/* The first that has this number, or a higher one; they are ascending. */
static size_t place_of(const struct slurm_record *record, int64_t job)
{
    size_t low = 0, high = record->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (record->jobs[middle].job < job)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct recorded *find_job(struct slurm_record *record, int64_t job)
{
    size_t place = place_of(record, job);
    return place < record->count && record->jobs[place].job == job ? &record->jobs[place] : NULL;
}

/* NULL: no memory. */
static struct recorded *add_job(struct slurm_record *record, const struct recorded *job)
{
    size_t place = place_of(record, job->job);
    if (array_reserve(&record->jobs, &record->room, record->count + 1, sizeof *record->jobs))
        return NULL;
    memmove(&record->jobs[place + 1], &record->jobs[place], (record->count - place) * sizeof *record->jobs);
    record->jobs[place] = *job;
    record->count++;
    return &record->jobs[place];
}

static int end_job(struct writing *w, const struct recorded *job)
{
    return begin_change(w) || journal_stay_end(w->journal, job->job, w->now, w->error) ||
           journal_job_ended(w->journal, job->job, job->started ? "done" : "cancelled", "", -1, w->now, w->error);
}

/* A job of this number that ended before is no more. */
static int write_new_job(struct writing *w, const struct slurm_job *job, const struct holding *holding)
{
    static const char *const none[] = {NULL};
    int min = holding->max ? holding->min : job->nodes, max = holding->max ? holding->max : job->nodes;
    struct journal_job row = {.number = job->id,
                              .name = job->name,
                              .kind = holding->max ? "malleable" : "rigid",
                              .argv = none,
                              .cwd = "",
                              .environment = none,
                              .ranks_min = min,
                              .ranks_max = max,
                              .nodes_min = min,
                              .nodes_max = max,
                              .wanted = job->nodes > 0 ? job->nodes : 1,
                              .limit = isfinite(job->limit) ? job->limit : MODEL_LONG,
                              .submitted = job->submitted};
    return begin_change(w) || journal_job_forget(w->journal, job->id, w->error) ||
           journal_job_put(w->journal, &row, w->error);
}

static int write_start(struct writing *w, struct recorded *known, const struct slurm_job *job)
{
    if (begin_change(w) || journal_job_set_started(w->journal, job->id, job->started, w->error) ||
        journal_job_set_state(w->journal, job->id, "running", "", w->error))
        return -1;
    known->started = true;
    return 0;
}

/* The first of its stays begins with the job itself, which is some moments before its view. */
static int write_stay(struct writing *w, struct recorded *known, const struct slurm_job *job, char *nodes)
{
    const struct advised *advised = advised_find(w->table, job->id);
    double from = known->nodes ? w->now : job->started;
    if (begin_change(w) ||
        journal_stay(w->journal, job->id, from, nodes, advised ? advised->told.ranks : 0, w->error)) {
        free(nodes);
        return -1;
    }
    free(known->nodes);
    known->nodes = nodes;
    return 0;
}

static int write_requeued(struct writing *w, struct recorded *known)
{
    if (begin_change(w) || journal_stay_end(w->journal, known->job, w->now, w->error))
        return -1;
    free(known->nodes);
    known->nodes = NULL;
    return 0;
}

static int write_job(struct writing *w, const struct slurm_job *job, const struct holding *holding)
{
    struct recorded *known = find_job(w->record, job->id);
    if (known && known->submitted != job->submitted) {
        if (end_job(w, known))
            return -1;
        *known = (struct recorded){.job = job->id, .submitted = job->submitted};
        if (write_new_job(w, job, holding))
            return -1;
    } else if (!known) {
        known = add_job(w->record, &(struct recorded){.job = job->id, .submitted = job->submitted});
        if (!known || write_new_job(w, job, holding))
            return known ? -1 : error_memory(w->error);
    }
    known->there = true;
    if (job->state == SLURM_JOB_WAITS)
        return known->nodes ? write_requeued(w, known) : 0;
    if (!known->started && write_start(w, known, job))
        return -1;
    char *nodes = holding_names(holding, w->view, holding->count - holding->wanted);
    if (!nodes)
        return error_memory(w->error);
    if (*nodes && (!known->nodes || strcmp(nodes, known->nodes)))
        return write_stay(w, known, job, nodes);
    free(nodes);
    return 0;
}

static int write_jobs(struct writing *w)
{
    int failed = 0;
    for (size_t i = 0; i < w->view->job_count && !failed; i++) {
        const struct slurm_job *job = &w->view->jobs[i];
        struct holding holding;
        if (holding_is_companion(w->view, job))
            continue;
        if (holding_of(&holding, w->view, job, w->table))
            return error_memory(w->error);
        failed = write_job(w, job, &holding);
        holding_free(&holding);
    }
    return failed;
}

static int write_ends(struct writing *w)
{
    struct slurm_record *record = w->record;
    for (size_t i = 0; i < record->count; i++)
        if (!record->jobs[i].there && end_job(w, &record->jobs[i]))
            return -1;
    return 0;
}

/* ---- A view ------------------------------------------------------------------------------------- */

static void forget_all(struct slurm_record *record)
{
    for (size_t i = 0; i < record->count; i++)
        free(record->jobs[i].nodes);
    record->count = 0;
    record->nodes = 0;
    record->begun = false;
}

static void take_open_job(void *to, const struct journal_job *job)
{
    struct slurm_record *record = to;
    struct recorded known = {.job = job->number, .submitted = job->submitted, .started = job->started >= 0};
    record->failed |= !add_job(record, &known);
}

static void take_open_stay(void *to, const struct journal_stay *stay)
{
    struct slurm_record *record = to;
    struct recorded *known = stay->end < 0 ? find_job(record, stay->job) : NULL;
    if (known)
        known->nodes = strdup(stay->nodes);
}

/* What an adviser before has written. */
static int read_open(struct writing *w)
{
    struct slurm_record *record = w->record;
    if (begin_change(w) || journal_jobs_forget(w->journal, w->now - KEPT_FOR, w->error) ||
        journal_jobs(w->journal, false, take_open_job, record, w->error) ||
        journal_stays(w->journal, take_open_stay, record, w->error))
        return -1;
    record->begun = true;
    return 0;
}

static void keep_those_there(struct slurm_record *record)
{
    size_t kept = 0;
    for (size_t i = 0; i < record->count; i++)
        if (record->jobs[i].there)
            record->jobs[kept++] = record->jobs[i];
        else
            free(record->jobs[i].nodes);
    record->count = kept;
}

int record_view(struct slurm_record *record, struct journal *journal, const struct slurm_view *view,
                const struct advised_table *table, double now, struct error *error)
{
    struct error why;
    struct writing w = {.record = record, .journal = journal, .view = view, .table = table, .now = now, .error = &why};
    for (size_t i = 0; i < record->count; i++)
        record->jobs[i].there = false;
    int failed = (!record->begun && read_open(&w)) || write_nodes(&w) || write_jobs(&w) || write_ends(&w) ||
                 (w.begun && journal_commit(journal, &why));
    bool said = record->failed;
    record->failed = failed;
    if (!failed) {
        keep_those_there(record);
        return 0;
    }
    journal_rollback(journal);
    forget_all(record); /* what is in the journal is read again */
    return said ? 0 : error_set(error, why.code, "%s", why.text);
}

void record_resize(struct journal *journal, const struct advised *job, double asked, double now, const char *why)
{
    struct error error;
    int64_t id;
    char *nodes = hostlist_text(&job->ask.nodes, 0);
    if (nodes && !journal_begin(journal, &error) &&
        !journal_resize_decided(journal, job->id, job->ask.from, job->ask.to, nodes, job->reason, asked, &id, &error) &&
        (why || !journal_resize_step(journal, id, JOURNAL_COMMITTED, now, &error)) &&
        !journal_resize_over(journal, id, why ? "refused" : "done", why, &error))
        journal_commit(journal, &error);
    journal_rollback(journal);
    free(nodes);
}

void record_free(struct slurm_record *record)
{
    forget_all(record);
    free(record->jobs);
    *record = (struct slurm_record){0};
}
