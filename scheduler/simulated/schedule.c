/* What happened in a run: how it is written down, and summed up to figures. */
#include "scheduler/simulated/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"

static void free_job(struct job_record *job)
{
    for (int i = 0; i < job->stay_count; i++)
        free(job->stays[i].nodes);
    free(job->stays);
}

void schedule_free(struct schedule *schedule)
{
    for (size_t i = 0; schedule->jobs && i < schedule->job_count; i++)
        free_job(&schedule->jobs[i]);
    for (size_t i = 0; i < schedule->decision_count; i++)
        free((int *)schedule->decisions[i].decision.nodes);
    for (size_t i = 0; i < schedule->event_count; i++)
        free(schedule->events[i].text);
    for (size_t i = 0; i < schedule->account_count; i++)
        free(schedule->accounts[i].name);
    free(schedule->accounts);
    free(schedule->jobs);
    free(schedule->decisions);
    free(schedule->events);
    free(schedule->policy);
    free(schedule->options);
    *schedule = (struct schedule){0};
}

/* ---- Writing down what happens ------------------------------------------------------------------ */

static int copy_nodes(int **copy, const int *nodes, int count)
{
    *copy = NULL;
    if (!count)
        return 0;
    if (!(*copy = malloc((size_t)count * sizeof **copy)))
        return -1;
    memcpy(*copy, nodes, (size_t)count * sizeof **copy);
    return 0;
}

int record_decision(struct schedule *schedule, double time, const struct decision *decision)
{
    struct decision_record record = {.time = time, .decision = *decision};
    int *nodes;
    if (schedule->brief)
        return 0;
    if (array_reserve(&schedule->decisions, &schedule->decision_room, schedule->decision_count + 1,
                      sizeof *schedule->decisions) ||
        copy_nodes(&nodes, decision->nodes, decision->count))
        return -1;
    record.decision.nodes = nodes;
    schedule->decisions[schedule->decision_count++] = record;
    return 0;
}

int record_event(struct schedule *schedule, double time, char *text)
{
    if (text && schedule->brief) {
        free(text);
        return 0;
    }
    if (!text ||
        array_reserve(&schedule->events, &schedule->event_room, schedule->event_count + 1, sizeof *schedule->events)) {
        free(text);
        return -1;
    }
    schedule->events[schedule->event_count++] = (struct event_record){.time = time, .text = text};
    return 0;
}

static struct stay *last_stay(const struct job_record *job)
{
    return job->stay_count && isinf(job->stays[job->stay_count - 1].end) ? &job->stays[job->stay_count - 1] : NULL;
}

const struct stay *record_held(const struct job_record *job)
{
    static const struct stay nothing;
    const struct stay *stay = last_stay(job);
    return stay ? stay : &nothing;
}

/* A stay of no length did not take place, and a brief record keeps none. */
void record_none(struct job_record *job, double time)
{
    struct stay *stay = last_stay(job);
    if (!stay)
        return;
    stay->end = time;
    if (stay->begin < time && !job->brief)
        return;
    free(stay->nodes);
    job->stay_count--;
}

/* `nodes` is the record's from now on, also on failure. */
static int begin_stay(struct job_record *job, double time, int *nodes, int count)
{
    size_t room = (size_t)job->stay_room;
    record_none(job, time);
    if (!nodes || array_reserve(&job->stays, &room, (size_t)job->stay_count + 1, sizeof *job->stays)) {
        free(nodes);
        return -1;
    }
    job->stay_room = (int)room;
    job->stays[job->stay_count++] = (struct stay){.begin = time, .end = INFINITY, .nodes = nodes, .count = count};
    return 0;
}

int record_more(struct job_record *job, double time, const int *nodes, int count)
{
    const struct stay *held = record_held(job);
    int all = held->count + count, *merged = malloc((size_t)all * sizeof *merged);
    for (int i = 0, a = 0, b = 0; merged && i < all; i++)
        if (b == count || (a < held->count && held->nodes[a] < nodes[b]))
            merged[i] = held->nodes[a++];
        else
            merged[i] = nodes[b++];
    return begin_stay(job, time, merged, all);
}

int record_fewer(struct job_record *job, double time, const int *nodes, int count)
{
    const struct stay *held = record_held(job);
    int *rest = malloc((size_t)held->count * sizeof *rest), kept = 0;
    for (int i = 0, b = 0; rest && i < held->count; i++)
        if (b < count && held->nodes[i] == nodes[b])
            b++;
        else
            rest[kept++] = held->nodes[i];
    return begin_stay(job, time, rest, kept);
}

/* ---- Figures ------------------------------------------------------------------------------------ */

static const double tau = 10; /* seconds: a job is not slowed down for having been short */

double job_wait(const struct job_record *job)
{
    return job->start - job->work->submit;
}

double job_slowdown(const struct job_record *job)
{
    double slowdown = (job->end - job->work->submit) / fmax(work_seconds(job->work, job->work->wanted), tau);
    return slowdown > 1 ? slowdown : 1;
}

double job_spread(const struct job_record *job)
{
    return job->least_seconds > 0 ? job->leaf_seconds / job->least_seconds : 0;
}

double job_lateness(const struct job_record *job)
{
    return job->end - (job->work->submit + job->work->deadline);
}

/* Sums, for now. What ends within the rounding of times is in time. */
static void add_deadline(struct metrics *metrics, const struct job_record *job)
{
    bool done = job->outcome == OUTCOME_DONE;
    bool late = !done || job_lateness(job) > 1e-6 + 1e-9 * fabs(job->end);
    if (job->work->deadline <= 0 || job->outcome == OUTCOME_RUNNING || job->outcome == OUTCOME_WAITING)
        return;
    metrics->deadlines++;
    metrics->missed += late;
    metrics->mean_lateness += done && late ? job_lateness(job) : 0;
    metrics->missed_done += done && late;
}

struct slowdown {
    int user;
    double value;
};

static int by_value(const void *a, const void *b)
{
    double x = ((const struct slowdown *)a)->value, y = ((const struct slowdown *)b)->value;
    return (x > y) - (x < y);
}

static int by_user(const void *a, const void *b)
{
    int x = ((const struct slowdown *)a)->user, y = ((const struct slowdown *)b)->user;
    return x != y ? (x > y) - (x < y) : by_value(a, b);
}

/* Largest mean of a user over the mean of these means. */
static double spread_of_users(struct slowdown *slowdowns, size_t count)
{
    double largest = 0, sum = 0;
    size_t users = 0;
    qsort(slowdowns, count, sizeof *slowdowns, by_user);
    for (size_t i = 0, end; i < count; i = end) {
        double total = 0;
        for (end = i; end < count && slowdowns[end].user == slowdowns[i].user; end++)
            total += slowdowns[end].value;
        largest = fmax(largest, total / (double)(end - i));
        sum += total / (double)(end - i);
        users++;
    }
    return users ? largest * (double)users / sum : 0;
}

static void sum_slowdowns(struct metrics *metrics, struct slowdown *values, size_t count)
{
    if (!count)
        return;
    qsort(values, count, sizeof *values, by_value);
    metrics->p95_slowdown = values[(count * 95 + 99) / 100 - 1].value;
    metrics->max_slowdown = values[count - 1].value;
    for (size_t i = 0; i < count; i++)
        metrics->mean_slowdown += values[i].value / (double)count;
    metrics->user_slowdown_spread = spread_of_users(values, count);
}

/* Of all jobs that are done: sums, for now. The makespan lasts until the others have ended, too. */
static size_t add_up(struct metrics *metrics, const struct schedule *schedule, struct slowdown *values, double *work)
{
    size_t count = 0;
    for (const struct job_record *job = schedule->jobs; job < schedule->jobs + schedule->job_count; job++) {
        metrics->resizes += job->resizes;
        add_deadline(metrics, job);
        if (job->outcome == OUTCOME_DONE || job->outcome == OUTCOME_FAILED)
            metrics->makespan = fmax(metrics->makespan, job->end - schedule->jobs[0].work->submit);
        if (job->outcome != OUTCOME_DONE)
            continue;
        metrics->mean_wait += job_wait(job);
        metrics->max_wait = fmax(metrics->max_wait, job_wait(job));
        metrics->mean_response += job->end - job->work->submit;
        metrics->spread += job_spread(job);
        *work += work_seconds(job->work, 1) + job->more;
        values[count++] = (struct slowdown){job->work->user, job_slowdown(job)};
    }
    return count;
}

int metrics_sum(struct schedule *schedule, const struct workload *workload, double node_seconds, struct error *error)
{
    struct metrics *metrics = &schedule->metrics;
    struct slowdown *values = malloc((schedule->job_count + 1) * sizeof *values);
    double work = 0;
    if (!values)
        return error_memory(error);
    size_t done = add_up(metrics, schedule, values, &work);
    sum_slowdowns(metrics, values, done);
    free(values);
    metrics->jobs = (int)schedule->job_count;
    metrics->done = (int)done;
    metrics->mean_wait /= done ? (double)done : 1;
    metrics->mean_response /= done ? (double)done : 1;
    metrics->spread /= done ? (double)done : 1;
    metrics->mean_lateness /= metrics->missed_done ? metrics->missed_done : 1;
    metrics->utilisation = metrics->makespan > 0 ? node_seconds / (workload->nodes * metrics->makespan) : 0;
    metrics->efficiency = node_seconds > 0 ? work / node_seconds : 0;
    return 0;
}

static int by_name(const void *one, const void *other)
{
    return strcmp(((const struct account_record *)one)->name, ((const struct account_record *)other)->name);
}

/* Each account that there was, or that has a share. */
static int begin_accounts(struct schedule *schedule, const struct shares *shares)
{
    schedule->accounts = calloc(shares->count + 1, sizeof *schedule->accounts);
    for (size_t i = 0; schedule->accounts && i < shares->count; i++) {
        struct account_record *account = &schedule->accounts[schedule->account_count];
        const struct account *from = shares->items[i];
        *account = (struct account_record){.name = strdup(from->name), .share = from->share, .usage = from->usage};
        if (!account->name)
            return -1;
        schedule->account_count++;
    }
    if (!schedule->accounts)
        return -1;
    qsort(schedule->accounts, schedule->account_count, sizeof *schedule->accounts, by_name);
    return 0;
}

static void count_job(struct schedule *schedule, const struct job_record *job)
{
    char user[WORK_ACCOUNT_MAX];
    const struct account_record key = {.name = (char *)work_account(job->work, user)};
    struct account_record *account = bsearch(&key, schedule->accounts, schedule->account_count, sizeof key, by_name);
    if (!account || job->outcome != OUTCOME_DONE)
        return;
    int done = ++account->done;
    account->mean_wait += (job_wait(job) - account->mean_wait) / done;
    account->mean_slowdown += (job_slowdown(job) - account->mean_slowdown) / done;
}

int accounts_sum(struct schedule *schedule, const struct shares *shares, struct error *error)
{
    if (begin_accounts(schedule, shares))
        return error_memory(error);
    for (size_t i = 0; i < schedule->job_count; i++)
        count_job(schedule, &schedule->jobs[i]);
    return 0;
}
