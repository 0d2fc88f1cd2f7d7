/*
 * Chooses the stays with the most node seconds, which are most of what the eye sees, and paints the rest into a coarse
 * picture.
 */
#include "report/gantt.h"

#include <math.h>
#include <stdlib.h>

#include "report/schedule.h"

/* Half a pixel of a drawing this wide. */
#define PIXELS 1000.0

static double stay_area(const struct schedule_stay *stay)
{
    return (stay->end - stay->begin) * stay->size;
}

static int stay_by_area(const void *a, const void *b)
{
    const struct gantt_stay *left = a, *right = b;
    double difference = stay_area(right->stay) - stay_area(left->stay);
    if (difference != 0)
        return difference > 0 ? 1 : -1;
    return (left->stay > right->stay) - (left->stay < right->stay);
}

static int stay_by_begin(const void *a, const void *b)
{
    const struct gantt_stay *left = a, *right = b;
    if (left->stay->begin != right->stay->begin)
        return left->stay->begin > right->stay->begin ? 1 : -1;
    return (left->job->id > right->job->id) - (left->job->id < right->job->id);
}

/* All stays; the number of their ranges. */
static size_t collect_stays(struct gantt_stay *all, const struct schedule_run *run, size_t *count)
{
    size_t pieces = 0;
    *count = 0;
    for (size_t i = 0; i < run->job_count; i++)
        for (size_t j = 0; j < run->jobs[i].stay_count; j++) {
            pieces += (size_t)run->jobs[i].stays[j].pieces;
            if (all)
                all[*count] = (struct gantt_stay){&run->jobs[i], &run->jobs[i].stays[j]};
            ++*count;
        }
    return pieces;
}

/* Adds what it holds of the cells of a row: a part of the row's height, from one place to another in columns. */
static void paint_row(double *row, double part, double begin, double end)
{
    for (int column = (int)fmax(0, floor(begin)); column < GANTT_COLUMNS && column < end; column++)
        row[column] += part * fmax(0, fmin(end, column + 1) - fmax(begin, column));
}

static void paint(struct gantt *gantt, const struct schedule *schedule, const struct schedule_stay *stay)
{
    double width = (schedule->end - schedule->begin) / GANTT_COLUMNS, high = (double)schedule->nodes / gantt->rows;
    int first, last;
    for (const char *text = stay->nodes; text && *text;) {
        text = schedule_next_range(text, &first, &last);
        double top = first / high, bottom = (last + 1) / high;
        for (int row = (int)floor(top); row < gantt->rows && row < bottom; row++)
            paint_row(gantt->shares + (size_t)row * GANTT_COLUMNS, fmin(bottom, row + 1) - fmax(top, row),
                      (stay->begin - schedule->begin) / width, (stay->end - schedule->begin) / width);
    }
}

/* Room for what is shown: their text is as long as they have ranges. */
struct room {
    size_t stays, pieces;
};

static bool take_room(struct room *room, const struct schedule_stay *stay, double narrow)
{
    size_t pieces = (size_t)stay->pieces;
    if (!room->stays || pieces > room->pieces || stay->end - stay->begin < narrow)
        return false;
    room->stays--;
    room->pieces -= pieces;
    return true;
}

/* Leaves those in `shown` that fit, and paints the others. */
static int reduce_to_room(struct gantt *gantt, const struct schedule *schedule, size_t most, int most_rows)
{
    double narrow = (schedule->end - schedule->begin) / PIXELS / 2;
    size_t all = gantt->count;
    struct room room = {most, most * GANTT_PIECES};
    gantt->rows = schedule->nodes < most_rows ? schedule->nodes : most_rows;
    gantt->shares = calloc((size_t)gantt->rows * GANTT_COLUMNS, sizeof *gantt->shares);
    if (!gantt->shares)
        return -1;
    qsort(gantt->shown, all, sizeof *gantt->shown, stay_by_area);
    gantt->count = 0;
    for (size_t i = 0; i < all; i++) {
        const struct gantt_stay it = gantt->shown[i];
        if (take_room(&room, it.stay, narrow))
            gantt->shown[gantt->count++] = it;
        else
            paint(gantt, schedule, it.stay);
    }
    gantt->left_out = all - gantt->count;
    return 0;
}

int gantt_choose(struct gantt *gantt, const struct schedule *schedule, const struct schedule_run *run, size_t most,
                 int most_rows)
{
    size_t pieces = collect_stays(NULL, run, &gantt->count);
    *gantt = (struct gantt){.shown = calloc(gantt->count + 1, sizeof *gantt->shown)};
    if (!gantt->shown)
        return -1;
    collect_stays(gantt->shown, run, &gantt->count);
    bool fits = gantt->count <= most && pieces / GANTT_PIECES < most;
    if (!fits && reduce_to_room(gantt, schedule, most, most_rows) != 0) {
        gantt_free(gantt);
        return -1;
    }
    qsort(gantt->shown, gantt->count, sizeof *gantt->shown, stay_by_begin);
    return 0;
}

void gantt_free(struct gantt *gantt)
{
    free(gantt->shown);
    free(gantt->shares);
    *gantt = (struct gantt){0};
}

int gantt_level(const struct gantt *gantt, int row, int column)
{
    double share = gantt->shares[(size_t)row * GANTT_COLUMNS + (size_t)column];
    return (int)fmin(GANTT_LEVELS, ceil(share * GANTT_LEVELS - 1e-9));
}
