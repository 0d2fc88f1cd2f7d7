/* Checksums of what the ranks have before and after a redistribution, for the debug driver. */
#include "runtime/redist/audit.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>

#include "runtime/base/hash.h"
#include "runtime/redist/wait.h"
#include "runtime/world/world.h"

#define EDGE 48 /* bytes: who allocates one element more than it describes has less */

static const struct redist_watch *watch;

void epop__watch_redist(const struct redist_watch *watcher)
{
    watch = watcher;
    redist_edge = watcher ? EDGE : 0;
}

/* With a last mix, so that sums of many do not cancel. */
static uint64_t hash_element(uint64_t seed, const unsigned char *bytes, int64_t size)
{
    uint64_t value = hash_bytes(HASH_BEGIN ^ seed * 0x9e3779b97f4a7c15u, bytes, (size_t)size);
    value ^= value >> 31;
    return value * 0xbf58476d1ce4e5b9u;
}

/* ---- Sums ------------------------------------------------------------------------------- */

/* How many elements, and a sum that does not depend on their order, over each with its place in the whole. */
typedef redist_totals totals;

static void sum_element(totals *t, uint64_t place, const redist_element *element, const unsigned char *block,
                        int64_t at)
{
    t->elements++;
    t->sum += hash_element(place, block + at * element->extent, element->size);
}

static void sum_row(totals *t, const redist_exchange *exchange, redist_side side, int64_t local, int64_t global)
{
    const redist_rows *rows = exchange->rows;
    const unsigned char *block = side == REDIST_BEFORE ? exchange->before : exchange->after;
    const int64_t *starts = rows->starts[side];
    int64_t end = local + 1 < rows->count[side] ? starts[local + 1] : rows->total[side];
    for (int64_t at = starts[local]; at < end; at++)
        sum_element(t, (uint64_t)global * 1000003u + (uint64_t)(at - starts[local]), &exchange->element, block, at);
}

/* Blocks: over the row-major number of each cell. */
static totals sum_cells(const redist_exchange *exchange, redist_side side)
{
    totals t = {0, 0};
    const redist_plan *plan = exchange->plan;
    const struct redist_layout *layout = &plan->layouts[side];
    int rank =
        side == REDIST_BEFORE ? redist_old_rank(plan->window, plan->me) : redist_new_rank(plan->window, plan->me);
    const unsigned char *block = side == REDIST_BEFORE ? exchange->before : exchange->after;
    struct redist_boxes cells = redist_layout_numbered(layout, rank);
    redist_piece piece;
    while (redist_boxes_take(&cells, cells.left, &piece))
        for (int64_t i = 0; i < piece.times; i++)
            for (int64_t j = 0; j < piece.length; j++)
                sum_element(&t, (uint64_t)redist_place_of(&piece, REDIST_AFTER, i, j), &exchange->element, block,
                            redist_place_of(&piece, REDIST_BEFORE, i, j));
    return t;
}

/* What this rank has on one side of an exchange. */
static totals sum_block(const redist_exchange *exchange, redist_side side)
{
    if (exchange->plan->layouts)
        return sum_cells(exchange, side);
    totals t = {0, 0};
    const redist_plan *plan = exchange->plan;
    const epop_dist2d_t *dist = side == REDIST_BEFORE ? &plan->before : &plan->after;
    const unsigned char *block = side == REDIST_BEFORE ? exchange->before : exchange->after;
    int rank =
        side == REDIST_BEFORE ? redist_old_rank(plan->window, plan->me) : redist_new_rank(plan->window, plan->me);
    int64_t rows, cols;
    epop_dist2d_local(dist, rank, &rows, &cols);
    for (int64_t i = 0; i < rows; i++) {
        int64_t row = epop_dist_global(dist->rows, rank / dist->grid_cols, dist->grid_rows, i);
        for (int64_t j = 0; j < cols; j++) {
            int64_t col = epop_dist_global(dist->cols, rank % dist->grid_cols, dist->grid_cols, j);
            if (exchange->rows)
                sum_row(&t, exchange, side, j, col);
            else
                sum_element(&t, (uint64_t)(row * dist->cols.count + col), &exchange->element, block,
                            dist->column_major ? j * rows + i : i * cols + j);
        }
    }
    return t;
}

static int reduce_over_all(const epop_window_t *window, const uint64_t *mine, uint64_t *all, int count, MPI_Op op)
{
    MPI_Request request;
    return MPI_Iallreduce(mine, all, count, MPI_UINT64_T, op, window->all, &request) != MPI_SUCCESS ||
           redist_wait(&request) != MPI_SUCCESS;
}

static void compare_totals(const redist_exchange *exchange, const char *function, totals before)
{
    const epop_window_t *window = exchange->plan->window;
    char text[600];
    totals after = sum_block(exchange, REDIST_AFTER);
    uint64_t mine[] = {before.elements, before.sum, after.elements, after.sum}, all[4];
    if (reduce_over_all(window, mine, all, 4, MPI_SUM) || (all[0] == all[2] && all[1] == all[3]) ||
        window->old_rank != 0)
        return;
    snprintf(text, sizeof text,
             "%s%s%s%s lost, doubled or changed elements: %" PRIu64 " before it with the checksum %016" PRIx64
             ", %" PRIu64 " after it with %016" PRIx64,
             redist_subject ? "described '" : "", redist_subject ? redist_subject : "", redist_subject ? "': " : "",
             function, all[0], all[1], all[2], all[3]);
    watch->wrong(text);
}

void redist_audit_room(const void *block, int64_t bytes, const char *function)
{
    char text[200];
    if (!watch || !block)
        return;
    int64_t room = (int64_t)malloc_usable_size((void *)block);
    if (bytes <= room)
        return;
    snprintf(text, sizeof text,
             "%s: this rank's block has room for %" PRId64 " bytes, but by the distribution it has %" PRId64, function,
             room, bytes);
    watch->wrong(text);
}

static void check_room(const redist_exchange *exchange, const char *function)
{
    if (exchange->plan->layouts) /* it has ghosts besides: redist_audit_room */
        return;
    int64_t elements =
        exchange->rows ? exchange->rows->total[REDIST_BEFORE] : redist_plan_local(exchange->plan, REDIST_BEFORE);
    redist_audit_room(exchange->before, redist_block_bytes(&exchange->element, elements), function);
}

/* Elements with gaps are not summed: what is in the gaps does not travel. Nor is what goes by lists, whose places in
 * the whole are not known here. */
static bool can_be_summed(const redist_exchange *exchange)
{
    return watch && exchange->element.dense && !exchange->plan->lists;
}

redist_fault redist_audit_exchange(const redist_exchange *exchange, const char *function, redist_totals *before)
{
    check_room(exchange, function);
    if (can_be_summed(exchange))
        *before = sum_block(exchange, REDIST_BEFORE);
    return redist_exchange_run(exchange) == MPI_SUCCESS ? REDIST_FINE : REDIST_MPI_FAILED;
}

void redist_audit_arrived(const redist_exchange *exchange, const char *function, redist_totals before)
{
    if (can_be_summed(exchange))
        compare_totals(exchange, function, before);
}

redist_fault redist_audit_run(const redist_exchange *exchange, const char *function)
{
    totals before = {0, 0};
    redist_fault fault = redist_audit_exchange(exchange, function, &before);
    if (fault == REDIST_FINE)
        redist_audit_arrived(exchange, function, before);
    return fault;
}

void redist_audit_replicated(const epop_window_t *window, const redist_element *element, const void *data,
                             int64_t count)
{
    bool holds = window->new_rank >= 0;
    char text[200];
    if (!watch || !element->dense)
        return;
    /* The largest, and the smallest turned over. 62 bits: MPICH compares MPI_UINT64_T as if it had a sign. */
    const uint64_t most = UINT64_MAX >> 2;
    uint64_t value = hash_element(0, data, holds ? count * element->size : 0) & most;
    uint64_t mine[] = {holds ? value : 0, holds ? most - value : 0}, all[2];
    if (reduce_over_all(window, mine, all, 2, MPI_MAX) || all[0] == most - all[1] || window->old_rank != 0)
        return;
    snprintf(
        text, sizeof text,
        "epop_redist_replicated: the ranks that stay do not all have the same data, so neither have those that join");
    watch->wrong(text);
}

/* ---- Arguments --------------------------------------------------------------------------- */

void redist_audit_called(const redist_terms *terms)
{
    char words[1000];
    int length = snprintf(words, sizeof words, "it calls %s (", terms->function);
    if (!watch || world.state != WINDOW_OPEN) /* in the loop, or for a checkpoint, nobody calls the roll */
        return;
    for (int i = 0; i < terms->count && (size_t)length < sizeof words; i++)
        length += snprintf(words + length, sizeof words - (size_t)length, "%s%s %" PRId64, i ? ", " : "",
                           terms->name[i], terms->value[i]);
    if ((size_t)length < sizeof words)
        snprintf(words + length, sizeof words - (size_t)length, ")");
    watch->called(words);
}
