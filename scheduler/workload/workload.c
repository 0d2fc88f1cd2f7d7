/* Workloads: see workload.h. */
#include "scheduler/workload/workload.h"

#include <stdlib.h>

int phase_nodes(const struct phase *phase, int nodes)
{
    int fits = phase->range.max ? epop_policy_fit(&phase->range, nodes) : nodes;
    return fits ? fits : nodes;
}

bool phase_accepts(const struct phase *phase, int nodes)
{
    return !phase->range.max || epop_policy_accepts(&phase->range, nodes);
}

double phase_iteration(const struct phase *phase, int nodes)
{
    return phase->seconds / speedup_at(&phase->speedup, phase_nodes(phase, nodes));
}

double work_seconds(const struct work *work, int nodes)
{
    double seconds = 0;
    for (const struct phase *phase = work->phases; phase < work->phases + work->phase_count; phase++)
        seconds += phase->iterations * phase_iteration(phase, nodes);
    return seconds;
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
