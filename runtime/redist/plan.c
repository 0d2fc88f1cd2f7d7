/* The parts of the ranks in a redistribution, and the map of it that programs can ask for. */
#include "runtime/redist/plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/hash.h"
#include "runtime/redist/wait.h"

/* ---- Lists of single elements ------------------------------------------------------------------- */

/* Elements are grouped by rank in two passes over a rank per element: counted, then put in their places. */

/* starts[rank + 1] has the count of `rank`; it becomes where the next group starts. */
static void starts_of_groups(int64_t *starts, int ranks)
{
    for (int rank = 0; rank < ranks; rank++)
        starts[rank + 1] += starts[rank];
}

/* Are the elements grouped as they lie? */
static bool is_grouped(const int *peers, int64_t count)
{
    for (int64_t i = 1; i < count; i++)
        if (peers[i - 1] > peers[i])
            return false;
    return true;
}

/* Each start is moved on while its group fills, which makes it the next one's: all are put back by one place. */
static void place_in_groups(int64_t *at, int64_t *starts, int ranks, const int *peers, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        at[starts[peers[i]]++] = i;
    memmove(starts + 1, starts, (size_t)ranks * sizeof *starts);
    starts[0] = 0;
}

/* Of both sides, so that only a fault of MPI can come between them. */
static redist_fault allocate_starts(redist_lists *lists, int ranks)
{
    for (redist_side side = REDIST_BEFORE; side <= REDIST_AFTER; side++)
        if (!lists->starts[side] && !(lists->starts[side] = calloc((size_t)ranks + 1, sizeof(int64_t))))
            return REDIST_NO_MEMORY;
    return REDIST_FINE;
}

redist_fault redist_lists_group(redist_lists *lists, redist_side side, int ranks, const int *peers, int64_t count)
{
    if (allocate_starts(lists, ranks) != REDIST_FINE)
        return REDIST_NO_MEMORY;
    int64_t *starts = lists->starts[side];
    for (int64_t i = 0; i < count; i++)
        starts[peers[i] + 1]++;
    starts_of_groups(starts, ranks);
    if (is_grouped(peers, count))
        return REDIST_FINE;
    if (!(lists->at[side] = malloc((size_t)count * sizeof *lists->at[side])))
        return REDIST_NO_MEMORY;
    place_in_groups(lists->at[side], starts, ranks, peers, count);
    return REDIST_FINE;
}

redist_fault redist_lists_hear(redist_lists *lists, const epop_window_t *window)
{
    MPI_Request request;
    int ranks = redist_all_size(window);
    int64_t *heard = lists->starts[REDIST_AFTER];
    for (int rank = 0; rank < ranks; rank++)
        heard[rank + 1] = lists->starts[REDIST_BEFORE][rank + 1] - lists->starts[REDIST_BEFORE][rank];
    if (MPI_Ialltoall(MPI_IN_PLACE, 1, MPI_INT64_T, heard + 1, 1, MPI_INT64_T, window->all, &request) != MPI_SUCCESS ||
        redist_wait(&request) != MPI_SUCCESS)
        return REDIST_MPI_FAILED;
    starts_of_groups(heard, ranks);
    return REDIST_FINE;
}

void redist_lists_free(redist_lists *lists)
{
    for (redist_side side = REDIST_BEFORE; side <= REDIST_AFTER; side++) {
        free(lists->starts[side]);
        free(lists->at[side]);
    }
    *lists = (redist_lists){.starts = {NULL, NULL}};
}

/* ---- The plan ----------------------------------------------------------------------------------- */

/* The joining ranks come after the old ones in window->all. */
static int joiner_rank(const epop_window_t *window)
{
    int rank = window->old_size;
    while (rank < redist_all_size(window) - 1 && window->new_ranks[rank] != window->new_rank)
        rank++;
    return rank;
}

static epop_dist2d_t one_row(epop_dist_t dist, int size)
{
    return (epop_dist2d_t){.rows = epop_dist_block(1), .cols = dist, .grid_rows = 1, .grid_cols = size};
}

void redist_plan_matrix(redist_plan *plan, const epop_window_t *window, const epop_dist2d_t *before,
                        const epop_dist2d_t *after)
{
    *plan = (redist_plan){.window = window, .before = *before, .after = *after, .size = redist_all_size(window)};
    plan->me = window->old_rank >= 0 ? window->old_rank : joiner_rank(window);
}

void redist_plan_one_row(redist_plan *plan, const epop_window_t *window, epop_dist_t before, epop_dist_t after)
{
    epop_dist2d_t old = one_row(before, window->old_size), new = one_row(after, window->new_size);
    redist_plan_matrix(plan, window, &old, &new);
}

void redist_plan_blocks(redist_plan *plan, const epop_window_t *window, const struct redist_layout layouts[2])
{
    const epop_dist2d_t none = {.grid_rows = 1, .grid_cols = 1};
    redist_plan_matrix(plan, window, &none, &none);
    plan->layouts = layouts;
}

int redist_all_size(const epop_window_t *window)
{
    return window->old_size + window->joining;
}

int redist_old_rank(const epop_window_t *window, int rank)
{
    return rank < window->old_size ? rank : -1;
}

int redist_new_rank(const epop_window_t *window, int rank)
{
    return window->new_ranks[rank];
}

redist_cursor redist_plan_cursor(const redist_plan *plan, int from, int to)
{
    return redist_cursor_start(&plan->before, redist_old_rank(plan->window, from), &plan->after,
                               redist_new_rank(plan->window, to));
}

static int my_rank(const redist_plan *plan, redist_side side)
{
    return side == REDIST_BEFORE ? redist_old_rank(plan->window, plan->me) : redist_new_rank(plan->window, plan->me);
}

struct redist_boxes redist_plan_boxes(const redist_plan *plan, int from, int to)
{
    const struct redist_layout *layouts = plan->layouts;
    struct redist_part old = redist_layout_part(&layouts[REDIST_BEFORE], redist_old_rank(plan->window, from));
    struct redist_part new = redist_layout_part(&layouts[REDIST_AFTER], redist_new_rank(plan->window, to));
    return redist_boxes_start(layouts->blocks.dims, layouts->extent, &old, &new);
}

int64_t redist_plan_local(const redist_plan *plan, redist_side side)
{
    if (plan->layouts)
        return redist_layout_cells(&plan->layouts[side], my_rank(plan, side));
    if (plan->lists)
        return plan->lists->starts[side][plan->size];
    int64_t rows, cols;
    if (side == REDIST_BEFORE)
        epop_dist2d_local(&plan->before, redist_old_rank(plan->window, plan->me), &rows, &cols);
    else
        epop_dist2d_local(&plan->after, redist_new_rank(plan->window, plan->me), &rows, &cols);
    return rows * cols;
}

/* The same cells of the same places. */
static int blocks_in_place(const redist_plan *plan)
{
    struct redist_part parts[2];
    for (redist_side side = REDIST_BEFORE; side <= REDIST_AFTER; side++)
        parts[side] = redist_layout_part(&plan->layouts[side], my_rank(plan, side));
    return !memcmp(&parts[REDIST_BEFORE], &parts[REDIST_AFTER], sizeof parts[REDIST_BEFORE]);
}

/* By lists all that stays is in one group, of the same order on both sides: it is in place if it is all there is. */
static int lists_in_place(const redist_plan *plan)
{
    const int64_t *before = plan->lists->starts[REDIST_BEFORE], *after = plan->lists->starts[REDIST_AFTER];
    int64_t own = before[plan->me + 1] - before[plan->me];
    return own == before[plan->size] && own == after[plan->size];
}

int redist_plan_in_place(const redist_plan *plan)
{
    if (plan->layouts)
        return blocks_in_place(plan);
    if (plan->lists)
        return lists_in_place(plan);
    redist_cursor own = redist_plan_cursor(plan, plan->me, plan->me);
    if (own.total != redist_plan_local(plan, REDIST_BEFORE) || own.total != redist_plan_local(plan, REDIST_AFTER))
        return 0;
    if (own.total == 0)
        return 1;
    /* The same elements in rising order on both sides: only the storage order could still differ. */
    return own.strides[REDIST_BEFORE].slow == own.strides[REDIST_AFTER].slow &&
           own.strides[REDIST_BEFORE].fast == own.strides[REDIST_AFTER].fast;
}

bool redist_plan_shrinks(const redist_plan *plan)
{
    redist_cursor own = redist_plan_cursor(plan, plan->me, plan->me);
    return own.total > 0 && own.total == redist_plan_local(plan, REDIST_AFTER) && own.strides[REDIST_AFTER].fast == 1;
}

bool redist_plan_extends(const redist_plan *plan)
{
    redist_cursor own = redist_plan_cursor(plan, plan->me, plan->me);
    redist_piece piece;
    if (own.total == 0 || own.total != redist_plan_local(plan, REDIST_BEFORE) || !redist_cursor_is_one_run(&own))
        return false;
    return redist_cursor_take(&own, own.total, &piece) && piece.on[REDIST_AFTER].at == 0;
}

/* ---- Arguments ---------------------------------------------------------------------------------- */

/* Also a row and a column count that overflow together. */
static redist_fault check_matrix(const epop_dist2d_t *dist, int size)
{
    int64_t elements;
    if (!redist_dist_valid(dist->rows) || !redist_dist_valid(dist->cols))
        return REDIST_BAD_DIST;
    if (dist->grid_rows < 1 || dist->grid_cols < 1 || dist->grid_rows > size / dist->grid_cols)
        return REDIST_BAD_GRID;
    if (!redist_dist_fits(dist->rows, dist->grid_rows) || !redist_dist_fits(dist->cols, dist->grid_cols))
        return REDIST_BAD_CUTS;
    return __builtin_mul_overflow(dist->rows.count, dist->cols.count, &elements) ? REDIST_TOO_LARGE : REDIST_FINE;
}

redist_fault redist_check_plan(const redist_plan *plan)
{
    redist_fault fault = check_matrix(&plan->before, plan->window->old_size);
    if (fault == REDIST_FINE)
        fault = check_matrix(&plan->after, plan->window->new_size);
    if (fault == REDIST_FINE &&
        (plan->before.rows.count != plan->after.rows.count || plan->before.cols.count != plan->after.cols.count))
        fault = REDIST_COUNTS_DIFFER;
    return fault;
}

/* Callers may leave the block unset where the kind does not need it. */
static void term_of_block(redist_terms *terms, const char *name, epop_dist_t dist)
{
    if (dist.kind != EPOP_DIST_CUTS) {
        redist_term(terms, name, dist.kind == EPOP_DIST_BLOCK_CYCLIC ? dist.block : 0);
        return;
    }
    size_t entries = redist_dist_fits(dist, dist.ranks) ? (size_t)dist.ranks + 1 : 0;
    uint64_t sum = hash_bytes(HASH_BEGIN, (const unsigned char *)dist.starts, entries * sizeof *dist.starts);
    redist_term(terms, "the checksum of the cuts", (int64_t)(sum >> 1));
}

void redist_terms_of_dist(redist_terms *terms, epop_dist_t dist)
{
    redist_term(terms, "the kind of distribution", (int64_t)dist.kind);
    redist_term(terms, "the count", dist.count);
    term_of_block(terms, "the block", dist);
}

void redist_terms_of_matrix(redist_terms *terms, const epop_dist2d_t *dist)
{
    redist_term(terms, "the kind of row distribution", (int64_t)dist->rows.kind);
    redist_term(terms, "the number of rows", dist->rows.count);
    term_of_block(terms, "the row block", dist->rows);
    redist_term(terms, "the kind of column distribution", (int64_t)dist->cols.kind);
    redist_term(terms, "the number of columns", dist->cols.count);
    term_of_block(terms, "the column block", dist->cols);
    redist_term(terms, "the number of grid rows", dist->grid_rows);
    redist_term(terms, "the number of grid columns", dist->grid_cols);
    redist_term(terms, "the storage order", dist->column_major != 0);
}

void redist_terms_of_element(redist_terms *terms, const redist_element *element)
{
    redist_term(terms, "the size of the datatype", element->size);
    redist_term(terms, "the extent of the datatype", element->extent);
}

/* ---- The map ------------------------------------------------------------------------------------ */

/* It comes from the same cursors as the exchange, so that the two cannot disagree. */
typedef struct map {
    epop_redist_move_t *moves;
    size_t room;
    int count;
} map;

static int add_move(map *m, int from, int to, int64_t count)
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
            if (elements > 0 && add_move(&m, from, to, elements) != EPOP_OK) {
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
