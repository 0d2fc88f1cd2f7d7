/* Workloads: how long jobs take, and how a workload is filled, sorted and measured. */
#include "scheduler/workload/workload.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"

/* ---- Jobs and their times ----------------------------------------------------------------------- */

int phase_nodes(const struct phase *phase, int nodes)
{
    int fits = phase->range.max ? epop_policy_fit(&phase->range, nodes) : nodes;
    return fits ? fits : nodes;
}

bool phase_accepts(const struct phase *phase, int nodes)
{
    return !phase->range.max || epop_policy_accepts(&phase->range, nodes);
}

double phase_work(const struct phase *phase, int nodes)
{
    return phase->weak ? phase_nodes(phase, nodes) : 1;
}

double phase_iteration(const struct phase *phase, int nodes)
{
    return phase->seconds * phase_work(phase, nodes) / speedup_at(&phase->speedup, phase_nodes(phase, nodes));
}

/* Nobody else moves anything. */
static double moving_alone(const struct phase *phase, const struct rates *rates, int nodes)
{
    double seconds = 0, link = rates->link * phase_nodes(phase, nodes);
    for (int i = 0; i < SHARED; i++) {
        double bytes =
            phase->moves[i].bytes > 0 ? phase->moves[i].bytes * phase->iterations / phase->moves[i].every : 0;
        seconds += fmax(rates->all[i] > 0 ? bytes / rates->all[i] : 0, link > 0 ? bytes / link : 0);
    }
    return seconds;
}

double work_seconds(const struct work *work, int nodes)
{
    double seconds = 0;
    for (const struct phase *phase = work->phases; phase < work->phases + work->phase_count; phase++) {
        seconds += phase->iterations * phase_iteration(phase, nodes);
        seconds += work->rates ? moving_alone(phase, work->rates, nodes) : 0;
    }
    return seconds;
}

const char *work_account(const struct work *work, char user[WORK_ACCOUNT_MAX])
{
    snprintf(user, WORK_ACCOUNT_MAX, "%d", work->user);
    return work->account ? work->account : user;
}

static void free_phase(struct phase *phase)
{
    free(phase->name);
    free((int *)phase->range.sizes);
    free(phase->speedup.points);
}

static void free_work(struct work *work)
{
    for (int i = 0; i < work->phase_count; i++)
        free_phase(&work->phases[i]);
    free(work->phases);
    free(work->name);
    free(work->account);
    free((int *)work->range.sizes);
}

void workload_free(struct workload *workload)
{
    for (size_t i = 0; i < workload->count; i++)
        free_work(&workload->works[i]);
    free(workload->works);
    free(workload->name);
    free(workload->notes);
    *workload = (struct workload){0};
}

/* ---- Filling ------------------------------------------------------------------------------------ */

struct work *workload_add(struct workload *workload)
{
    if (array_reserve(&workload->works, &workload->room, workload->count + 1, sizeof *workload->works))
        return NULL;
    struct work *work = &workload->works[workload->count++];
    *work = (struct work){.rates = &workload->rates};
    return work;
}

int workload_note(struct workload *workload, const char *format, ...)
{
    char *line, *all;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&line, format, arguments);
    va_end(arguments);
    if (length < 0)
        return -1;
    int failed = asprintf(&all, "%s%s\n", workload->notes ? workload->notes : "", line) < 0;
    free(line);
    if (failed)
        return -1;
    free(workload->notes);
    workload->notes = all;
    return 0;
}

static int by_submission(const void *left, const void *right)
{
    const struct work *a = left, *b = right;
    if (a->submit != b->submit)
        return a->submit < b->submit ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

void workload_sort(struct workload *workload)
{
    if (workload->count > 0)
        qsort(workload->works, workload->count, sizeof *workload->works, by_submission);
}

static int by_number(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

bool workload_has_twins(const struct workload *workload, int64_t *id)
{
    int64_t *ids = malloc((workload->count + 1) * sizeof *ids);
    bool same = false;
    for (size_t i = 0; ids && i < workload->count; i++)
        ids[i] = workload->works[i].id;
    if (ids)
        qsort(ids, workload->count, sizeof *ids, by_number);
    for (size_t i = 1; ids && i < workload->count && !same; i++)
        if (ids[i] == ids[i - 1]) {
            *id = ids[i];
            same = true;
        }
    free(ids);
    return same;
}

void work_set_range(struct work *work, int min, int max)
{
    free((int *)work->range.sizes);
    work->range = (epop_policy_range_t){.min = min, .max = max};
}

/* Cuts the job into iterations of a second or less at the wanted size, so that it is measured soon. */
int work_one_phase(struct work *work, const char *name, double seconds, const struct speedup *speedup)
{
    struct phase *phase = calloc(1, sizeof *phase);
    if (!phase)
        return -1;
    work->phases = phase;
    work->phase_count = 1;
    phase->name = strdup(name);
    if (!phase->name || speedup_copy(&phase->speedup, speedup))
        return -1;
    phase->elastic = true;
    phase->iterations = seconds < 1 ? 1 : (double)(int64_t)(seconds + 0.5);
    phase->seconds = seconds / phase->iterations * speedup_at(speedup, work->wanted);
    return 0;
}

double workload_load(const struct workload *workload)
{
    double needed = 0;
    for (size_t i = 0; i < workload->count; i++)
        needed += workload->works[i].wanted * work_seconds(&workload->works[i], workload->works[i].wanted);
    double span = workload->count > 0 ? workload->works[workload->count - 1].submit - workload->works[0].submit : 0;
    return needed / (workload->nodes * span);
}

/* splitmix64 (G. Steele and others, OOPSLA 2014). */
static uint64_t splitmix(uint64_t value)
{
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

double workload_drawn(uint64_t seed, int64_t id, const char *what)
{
    uint64_t value = splitmix(seed);
    for (; *what; what++)
        value = splitmix(value ^ (unsigned char)*what);
    return (double)(splitmix(value ^ (uint64_t)id) >> 11) / 9007199254740992.0;
}
