/* The map of a redistribution, from the same cursors as the exchange, so that the two cannot disagree. */
#include <inttypes.h>
#include <stdlib.h>

#include "runtime/base/array.h"
#include "runtime/redist/check.h"

typedef struct map {
    epop_redist_move_t *moves;
    size_t room;
    int count;
} map;

static int add(map *m, int from, int to, int64_t count)
{
    if (array_reserve(&m->moves, &m->room, (size_t)m->count + 1, sizeof *m->moves))
        return EPOP_ERR_MEMORY;
    m->moves[m->count++] = (epop_redist_move_t){.from = from, .to = to, .count = count};
    return EPOP_OK;
}

static int make_map(const redist_plan *plan, epop_redist_move_t **moves, int *count)
{
    map m = {.moves = NULL};
    if (!plan->layouts && redist_check_plan(plan) != REDIST_FINE)
        return EPOP_ERR_ARGUMENT;
    for (int from = 0; from < plan->size; from++) {
        for (int to = 0; to < plan->size; to++) {
            int64_t elements =
                plan->layouts ? redist_plan_boxes(plan, from, to).left : redist_plan_cursor(plan, from, to).total;
            if (elements > 0 && add(&m, from, to, elements) != EPOP_OK) {
                free(m.moves);
                return EPOP_ERR_MEMORY;
            }
        }
    }
    *moves = m.moves;
    *count = m.count;
    return EPOP_OK;
}

int epop_redist_map(const epop_window_t *window, epop_dist_t before, epop_dist_t after, epop_redist_move_t **moves,
                    int *count)
{
    redist_plan plan;
    if (!redist_window_valid(window) || !moves || !count)
        return EPOP_ERR_ARGUMENT;
    redist_plan_one_row(&plan, window, before, after);
    return make_map(&plan, moves, count);
}

int epop_redist2d_map(const epop_window_t *window, const epop_dist2d_t *before, const epop_dist2d_t *after,
                      epop_redist_move_t **moves, int *count)
{
    redist_plan plan;
    if (!redist_window_valid(window) || !before || !after || !moves || !count)
        return EPOP_ERR_ARGUMENT;
    redist_plan_matrix(&plan, window, before, after);
    return make_map(&plan, moves, count);
}

int epop_redist_blocks_map(const epop_window_t *window, const epop_blocks_t *before, const epop_blocks_t *after,
                           epop_redist_move_t **moves, int *count)
{
    redist_plan plan;
    struct redist_layout layouts[2];
    if (!redist_window_valid(window) || !moves || !count ||
        redist_layouts_of(layouts, window, before, after) != REDIST_FINE)
        return EPOP_ERR_ARGUMENT;
    redist_plan_blocks(&plan, window, layouts);
    return make_map(&plan, moves, count);
}

void epop_redist_map_print(FILE *stream, const epop_redist_move_t *moves, int count)
{
    fprintf(stream, "from\tto\telements\n");
    for (int i = 0; i < count; i++)
        fprintf(stream, "%d\t%d\t%" PRId64 "\n", moves[i].from, moves[i].to, moves[i].count);
}
