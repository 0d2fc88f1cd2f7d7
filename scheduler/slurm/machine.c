/* Machines: see machine.h. */
#include "scheduler/slurm/machine.h"

#include <stdlib.h>

static void join(int *of, size_t count, int one, int other)
{
    for (size_t i = 0; i < count && one != other; i++)
        if (of[i] == other)
            of[i] = one;
}

/* Numbers without gaps, in the order of the nodes. */
static int number(int *of, size_t count)
{
    int numbers = 0;
    for (size_t i = 0; i < count; i++) {
        if (of[i] < 0)
            continue;
        int old = of[i];
        numbers++;
        for (size_t k = i; k < count; k++)
            if (of[k] == old)
                of[k] = -numbers;
    }
    for (size_t i = 0; i < count; i++)
        of[i] = -of[i] - 1;
    return numbers;
}

int machines_find(const struct slurm_view *view, struct machines *machines)
{
    int *of = calloc(view->node_count + 1, sizeof *of);
    if (!of)
        return -1;
    for (size_t i = 0; i < view->node_count; i++)
        of[i] = (int)i;
    for (size_t i = 0; i < view->partition_count; i++)
        for (int k = 1; k < view->partitions[i].count; k++)
            join(of, view->node_count, of[view->partitions[i].nodes[0]], of[view->partitions[i].nodes[k]]);
    *machines = (struct machines){of, number(of, view->node_count)};
    return 0;
}

void machines_free(struct machines *machines)
{
    free(machines->of);
    *machines = (struct machines){0};
}

int machines_of_partition(const struct machines *machines, const struct slurm_view *view, const char *partition)
{
    const struct slurm_partition *found = view_partition(view, partition);
    return found && found->count ? machines->of[found->nodes[0]] : -1;
}
