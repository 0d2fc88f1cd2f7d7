/* Nodes over time, of the policy `gain`. */
#include "scheduler/policies/gain_line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int gain_line_begin(struct gain_line *line, int changes)
{
    line->points = malloc(((size_t)changes + 1) * sizeof *line->points);
    if (!line->points)
        return -1;
    line->points[0] = (struct gain_point){.changes = 1};
    line->count = 1;
    line->summed = false;
    return 0;
}

void gain_line_free(struct gain_line *line)
{
    free(line->points);
    line->points = NULL;
}

int gain_line_at(const struct gain_line *line, double time)
{
    int low = 0, high = line->count;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (line->points[middle].time <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void add_to(struct gain_point *point, const struct gain_point *more, int times)
{
    point->idle += times * more->idle;
    point->nodes += times * more->nodes;
    point->room += times * more->room;
}

/* ---- Up to the sum ------------------------------------------------------------------------------ */

static void note_change(struct gain_line *line, double time, const struct gain_point *more, int times)
{
    struct gain_point *point = line->points;
    if (time > 0) {
        point = &line->points[line->count++];
        *point = (struct gain_point){.time = time};
    }
    add_to(point, more, times);
    point->changes++;
}

/* Shell's sort, with gaps by Ciura: under qsort, which calls a function for each comparison, most of the time of a
 * decision went here. */
static void sort_points(struct gain_point *points, int count)
{
    static const int gaps[] = {1750, 701, 301, 132, 57, 23, 10, 4, 1};
    for (const int *gap = gaps; gap < gaps + sizeof gaps / sizeof *gaps; gap++)
        for (int i = *gap; i < count; i++) {
            struct gain_point moved = points[i];
            int at = i;
            for (; at >= *gap && points[at - *gap].time > moved.time; at -= *gap)
                points[at] = points[at - *gap];
            points[at] = moved;
        }
}

void gain_line_sum(struct gain_line *line)
{
    int last = 0;
    sort_points(line->points, line->count);
    for (int i = 1; i < line->count; i++) {
        struct gain_point *point = &line->points[i];
        if (point->time == line->points[last].time) {
            add_to(&line->points[last], point, 1);
            line->points[last].changes += point->changes;
            continue;
        }
        add_to(point, &line->points[last], 1);
        line->points[++last] = *point;
    }
    line->count = last + 1;
    line->summed = true;
}

/* ---- From then on ------------------------------------------------------------------------------- */

/* A change more at that time, or one less. */
static int mark_time(struct gain_line *line, double time, int times)
{
    int at = gain_line_at(line, time);
    if (line->points[at].time < time) {
        at++;
        memmove(&line->points[at + 1], &line->points[at], (size_t)(line->count++ - at) * sizeof *line->points);
        line->points[at] = line->points[at - 1];
        line->points[at].time = time;
        line->points[at].changes = 0;
    }
    line->points[at].changes += times;
    return at;
}

static void drop_unmarked(struct gain_line *line, int at)
{
    if (at < line->count && !line->points[at].changes)
        memmove(&line->points[at], &line->points[at + 1], (size_t)(--line->count - at) * sizeof *line->points);
}

static void move_between(struct gain_line *line, double begin, double end, const struct gain_point *more, int times)
{
    int from = mark_time(line, begin, times), to = isfinite(end) ? mark_time(line, end, times) : line->count;
    for (int i = from; i < to; i++)
        add_to(&line->points[i], more, times);
    drop_unmarked(line, to);
    drop_unmarked(line, from);
}

void gain_line_add(struct gain_line *line, double begin, double end, struct gain_point more, int times)
{
    if (!line->points)
        return;
    if (line->summed) {
        move_between(line, fmax(begin, 0), fmax(end, 0), &more, times);
        return;
    }
    note_change(line, begin, &more, times);
    if (isfinite(end))
        note_change(line, end, &more, -times);
}
