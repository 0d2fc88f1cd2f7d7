/* Sums up intervals over time: they are kept as changes at their ends, which are sorted, summed up and thinned. */
#include "report/steps.h"

#include <math.h>
#include <stdlib.h>

static void append_step(struct steps *steps, double time, double jobs, double nodes)
{
    if (steps->count == steps->room) {
        size_t room = 2 * steps->room + 64;
        struct step *items = realloc(steps->items, room * sizeof *items);
        if (!items) {
            steps->failed = true;
            return;
        }
        steps->items = items;
        steps->room = room;
    }
    steps->items[steps->count++] = (struct step){time, jobs, nodes};
}

void steps_add(struct steps *steps, double begin, double end, double nodes)
{
    if (end > begin) {
        append_step(steps, begin, 1, nodes);
        append_step(steps, end, -1, -nodes);
    }
}

static int step_by_time(const void *a, const void *b)
{
    double left = ((const struct step *)a)->time, right = ((const struct step *)b)->time;
    return (left > right) - (left < right);
}

static bool is_same_step(const struct step *a, const struct step *b)
{
    return a->jobs == b->jobs && a->nodes == b->nodes;
}

void steps_sum(struct steps *steps)
{
    struct step now = {0};
    size_t kept = 0;
    if (steps->count)
        qsort(steps->items, steps->count, sizeof *steps->items, step_by_time);
    for (size_t i = 0; i < steps->count; i++) {
        now.time = steps->items[i].time;
        now.jobs += steps->items[i].jobs;
        now.nodes += steps->items[i].nodes;
        bool is_last = i + 1 == steps->count || steps->items[i + 1].time > now.time;
        if (!is_last)
            continue;
        steps->most_jobs = fmax(steps->most_jobs, now.jobs);
        steps->most_nodes = fmax(steps->most_nodes, now.nodes);
        if (!kept || !is_same_step(&steps->items[kept - 1], &now))
            steps->items[kept++] = now;
    }
    steps->count = kept;
}

/* Adds to the spans that it covers what lasts from `begin` to `end`. */
static void spread(struct step *spans, size_t count, double width, double begin, double end, const struct step *step)
{
    size_t first = (size_t)fmax(0, floor(begin / width));
    for (size_t i = first; i < count && (double)i * width < end; i++) {
        double covered = fmin(end, (double)(i + 1) * width) - fmax(begin, (double)i * width);
        spans[i].jobs += step->jobs * fmax(0, covered) / width;
        spans[i].nodes += step->nodes * fmax(0, covered) / width;
    }
}

void steps_thin(struct steps *steps, double begin, double end, size_t most)
{
    double width = (end - begin) / (double)most;
    struct step *spans = steps->count > most ? calloc(most, sizeof *spans) : NULL;
    if (steps->count <= most)
        return;
    if (!spans) {
        steps->failed = true;
        return;
    }
    for (size_t i = 0; i < steps->count; i++) {
        double until = i + 1 < steps->count ? steps->items[i + 1].time : end;
        spread(spans, most, width, steps->items[i].time - begin, until - begin, &steps->items[i]);
    }
    for (size_t i = 0; i < most; i++)
        spans[i].time = begin + (double)i * width;
    free(steps->items);
    steps->items = spans;
    steps->count = steps->room = most;
    steps->thinned = width;
}

void steps_free(struct steps *steps)
{
    free(steps->items);
    *steps = (struct steps){0};
}
