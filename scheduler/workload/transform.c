/* The options that change a workload, each in a function of its own. */
#include "scheduler/workload/transform.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/workload/workload.h"

/* ---- Jobs and load ------------------------------------------------------------------------------ */

/* The others make a workload of their own, which is freed. */
static int keep_first(struct workload *workload, size_t count)
{
    struct workload rest = {0};
    for (size_t i = count; i < workload->count; i++) {
        struct work *work = workload_add(&rest);
        if (!work)
            return -1;
        *work = workload->works[i];
        workload->works[i] = (struct work){0};
    }
    workload->count = workload->count < count ? workload->count : count;
    workload_free(&rest);
    return 0;
}

static int scale_load(struct workload *workload, double load, struct error *error)
{
    double now = workload_load(workload), first = workload->works[0].submit;
    if (!isfinite(now))
        return error_set(error, ERROR_REFUSED,
                         "--load %g: all jobs are submitted at once, so that there are no times to scale", load);
    for (size_t i = 0; i < workload->count; i++)
        workload->works[i].submit = first + (workload->works[i].submit - first) * (now / load);
    return 0;
}

/* ---- Kinds -------------------------------------------------------------------------------------- */

struct ticket {
    double number;
    struct work *work;
};

static int by_number(const void *left, const void *right)
{
    const struct ticket *a = left, *b = right;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return (a->work->id > b->work->id) - (a->work->id < b->work->id);
}

static int bounded(double value, int least, int most)
{
    return value < least ? least : value > most ? most : (int)value;
}

static void give_range(struct work *work, const struct workload *workload, const struct transform *how)
{
    int min = bounded(ceil(work->wanted * how->min_share), 1, work->wanted);
    int max = bounded(floor(work->wanted * how->max_share), work->wanted, workload->nodes);
    work_set_range(work, min, max);
}

static void make_kind(struct work *work, epop_policy_kind_t kind, const struct workload *workload,
                      const struct transform *how)
{
    if (kind == EPOP_RIGID)
        work_set_range(work, work->wanted, work->wanted);
    else if (work->kind == EPOP_RIGID)
        give_range(work, workload, how);
    work->progress |= kind != EPOP_RIGID;
    work->kind = kind;
}

static size_t share_of(double share, size_t count)
{
    return share > 0 ? (size_t)(share * (double)count + 0.5) : 0;
}

static epop_policy_kind_t kind_at(size_t place, size_t malleable, size_t moldable)
{
    if (place < malleable)
        return EPOP_MALLEABLE;
    return place < malleable + moldable ? EPOP_MOLDABLE : EPOP_RIGID;
}

/* The jobs stand in an order that the seed draws: malleable is who comes first. */
static int choose_kinds(struct workload *workload, const struct transform *how)
{
    struct ticket *tickets = calloc(workload->count + 1, sizeof *tickets);
    size_t count = 0;
    if (!tickets)
        return -1;
    for (size_t i = 0; i < workload->count; i++)
        if (workload->works[i].kind != EPOP_EVOLVING)
            tickets[count++] =
                (struct ticket){workload_drawn(how->seed, workload->works[i].id, "kind"), &workload->works[i]};
    qsort(tickets, count, sizeof *tickets, by_number);
    size_t malleable = share_of(how->malleable, count), moldable = share_of(how->moldable, count);
    for (size_t i = 0; i < count; i++)
        make_kind(tickets[i].work, kind_at(i, malleable, moldable), workload, how);
    free(tickets);
    return 0;
}

/* ---- Speedup, bytes, limits --------------------------------------------------------------------- */

static int replace_speedup(struct work *work, const struct speedup_rule *rule)
{
    for (struct phase *phase = work->phases; phase < work->phases + work->phase_count; phase++) {
        double there = phase_iteration(phase, work->wanted);
        free(phase->speedup.points);
        if (speedup_copy(&phase->speedup, &rule->speedup))
            return -1;
        if (rule->relative)
            phase->speedup.parallelism = fmax(1, rule->speedup.parallelism * work->wanted);
        phase->seconds = there * speedup_at(&phase->speedup, phase_nodes(phase, work->wanted));
        phase->seconds /= phase_work(phase, work->wanted);
    }
    return 0;
}

static void replace_limit(struct work *work, const struct transform *how)
{
    double wrong = 1 + (how->limit_factor - 1) * workload_drawn(how->seed, work->id, "limit");
    work->limit = work_seconds(work, work->wanted) * wrong;
}

static int change_work(struct work *work, const struct transform *how)
{
    if (how->speedup.set && replace_speedup(work, &how->speedup))
        return -1;
    if (how->bytes_per_node >= 0)
        work->bytes = how->bytes_per_node * work->wanted;
    if (how->limit_factor >= 1)
        replace_limit(work, how);
    return 0;
}

int transform(struct workload *workload, const struct transform *how, struct error *error)
{
    int failed = 0;
    if (how->jobs > 0)
        failed = keep_first(workload, (size_t)how->jobs);
    if (!failed && how->load > 0 && scale_load(workload, how->load, error))
        return -1;
    if (!failed && (how->malleable >= 0 || how->moldable >= 0))
        failed = choose_kinds(workload, how);
    for (size_t i = 0; i < workload->count && !failed; i++)
        failed = change_work(&workload->works[i], how);
    return failed ? error_memory(error) : 0;
}

bool limits_are_exact(const struct workload *workload)
{
    for (size_t i = 0; i < workload->count; i++) {
        const struct work *work = &workload->works[i];
        double true_one = work_seconds(work, work->wanted);
        if (fabs(work->limit - true_one) > 1e-9 * true_one)
            return false;
    }
    return true;
}
