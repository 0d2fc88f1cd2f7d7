/*
 * Rows of different lengths: first the lengths travel, as 64-bit numbers whatever the program has, then the elements of
 * each array. In between, the lengths become where the rows start, in place. What the program has is not touched
 * before all has arrived everywhere.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

#include "interpose/interpose.h"
#include "runtime/redist/agree.h"
#include "runtime/redist/audit.h"
#include "runtime/redist/element.h"
#include "runtime/redist/exchange.h"
#include "runtime/redist/plan.h"

/* One array of elements. */
struct column {
    redist_element element;
    void *blocks[2]; /* by redist_side */
};

struct job {
    redist_plan plan;
    redist_terms terms;
    bool by_starts; /* the program has row starts, one more than rows; else lengths */
    int width;      /* of one of them */
    void **index;   /* the program's */
    void *new_index;
    const epop_row_array_t *arrays;
    int count;
    struct column *columns;
    redist_element length;
    int64_t rows[2], total[2], *lengths[2]; /* by redist_side; later they are the rows' starts */
    bool in_place;                          /* the new blocks are the old ones */
    char *staging;
};

/* ---- What the program has ------------------------------------------------------------ */

/* Lengths of the old rows, as numbers. Their sum; -1 where one is negative, or the sum beyond 2^63 - 1. */
static int64_t read_lengths(const struct job *j, int64_t *lengths)
{
    const void *index = *j->index;
    int64_t total = 0, rows = j->rows[REDIST_BEFORE];
    if (j->by_starts && rows > 0 && redist_index_get(index, j->width, 0))
        return -1;
    for (int64_t i = 0; i < rows; i++) {
        int64_t next = redist_index_get(index, j->width, j->by_starts ? i + 1 : i);
        lengths[i] = j->by_starts ? next - redist_index_get(index, j->width, i) : next;
        if (next < 0 || lengths[i] < 0 || __builtin_add_overflow(total, lengths[i], &total))
            return -1;
    }
    return total;
}

/* The new lengths or starts. */
static void write_index(const struct job *j)
{
    int64_t start = 0;
    const int64_t *lengths = j->lengths[REDIST_AFTER];
    for (int64_t i = 0; i < j->rows[REDIST_AFTER]; i++) {
        redist_index_set(j->new_index, j->width, i, j->by_starts ? start : lengths[i]);
        start += lengths[i];
    }
    if (j->by_starts && j->new_index)
        redist_index_set(j->new_index, j->width, j->rows[REDIST_AFTER], start);
}

/* Entries of the program's array on one side. One that leaves has none, one without rows a single start. */
static int64_t index_entries(const struct job *j, redist_side side)
{
    bool there = side == REDIST_BEFORE ? j->rows[side] > 0 : j->plan.window->new_rank >= 0;
    return j->rows[side] + (j->by_starts && there);
}

/* ---- Before anything moves -------------------------------------------------------------- */

/* What must be the same on every rank, whether or not it could be looked at here. */
static void terms_of_arrays(struct job *j)
{
    int64_t size = 0, extent = 0, order = 0;
    for (int i = 0; j->arrays && i < j->count; i++) {
        redist_element element = {.size = 0};
        redist_element_of(j->arrays[i].type, &element);
        size += element.size;
        extent += element.extent;
        order += (i + 1) * element.size;
    }
    redist_term(&j->terms, "the size of a length or start", j->width);
    redist_term(&j->terms, "the number of arrays", j->count);
    redist_term(&j->terms, "the size of the datatypes, added up,", size);
    redist_term(&j->terms, "the extent of the datatypes, added up,", extent);
    redist_term(&j->terms, "the checksum of the order of the arrays", order);
}

static redist_fault check_arrays(struct job *j)
{
    if (j->count < 0 || (j->count > 0 && !j->arrays))
        return REDIST_BAD_ARRAYS;
    if (!(j->columns = calloc((size_t)j->count + 1, sizeof *j->columns)))
        return REDIST_NO_MEMORY;
    for (int i = 0; i < j->count; i++) {
        if (redist_element_of(j->arrays[i].type, &j->columns[i].element))
            return REDIST_BAD_TYPE;
        if (!j->arrays[i].local)
            return REDIST_NULL;
        j->columns[i].blocks[REDIST_BEFORE] = *(void **)j->arrays[i].local;
    }
    return REDIST_FINE;
}

static redist_fault check_rows(struct job *j)
{
    redist_fault fault = j->width ? redist_check_plan(&j->plan) : REDIST_BAD_INDEX;
    if (fault == REDIST_FINE)
        fault = check_arrays(j);
    if (fault != REDIST_FINE)
        return fault;
    for (redist_side side = REDIST_BEFORE; side <= REDIST_AFTER; side++)
        j->rows[side] = redist_plan_local(&j->plan, side);
    if (!j->index)
        return REDIST_NULL;
    return j->rows[REDIST_BEFORE] > 0 && !*j->index ? REDIST_NO_BLOCK : REDIST_FINE;
}

/* For the largest of all exchanges. */
static int64_t staging_bytes(const struct job *j)
{
    int64_t most = redist_staging_bytes(&j->length);
    for (int i = 0; i < j->count; i++) {
        int64_t bytes = redist_staging_bytes(&j->columns[i].element);
        most = bytes > most ? bytes : most;
    }
    return most;
}

static redist_fault new_index(struct job *j)
{
    const redist_element entry = {.extent = j->width, .true_extent = j->width};
    return redist_new_block(&entry, index_entries(j, REDIST_AFTER), &j->new_index);
}

static redist_fault allocate_rows(struct job *j)
{
    void *lengths[2] = {NULL, NULL};
    redist_fault fault = redist_new_block(&j->length, j->rows[REDIST_BEFORE], &lengths[REDIST_BEFORE]);
    j->in_place = j->rows[REDIST_BEFORE] > 0 && redist_plan_in_place(&j->plan);
    if (j->in_place)
        lengths[REDIST_AFTER] = lengths[REDIST_BEFORE];
    else if (fault == REDIST_FINE)
        fault = redist_new_block(&j->length, j->rows[REDIST_AFTER], &lengths[REDIST_AFTER]);
    j->lengths[REDIST_BEFORE] = lengths[REDIST_BEFORE];
    j->lengths[REDIST_AFTER] = lengths[REDIST_AFTER];
    if (fault == REDIST_FINE && !j->in_place)
        fault = new_index(j);
    if (fault == REDIST_FINE && !(j->staging = malloc((size_t)staging_bytes(j))))
        fault = REDIST_NO_MEMORY;
    return fault;
}

static redist_fault prepare_rows(struct job *j)
{
    redist_fault fault = check_rows(j);
    if (fault == REDIST_FINE)
        fault = allocate_rows(j);
    if (fault != REDIST_FINE)
        return fault;
    redist_audit_room(*j->index, index_entries(j, REDIST_BEFORE) * j->width, j->terms.function);
    j->total[REDIST_BEFORE] = read_lengths(j, j->lengths[REDIST_BEFORE]);
    if (j->total[REDIST_BEFORE] < 0)
        return j->by_starts ? REDIST_BAD_STARTS : REDIST_BAD_LENGTHS;
    for (int i = 0; i < j->count && j->total[REDIST_BEFORE] > 0; i++)
        if (!j->columns[i].blocks[REDIST_BEFORE])
            return REDIST_NO_BLOCK;
    return REDIST_FINE;
}

/* ---- Moving ------------------------------------------------------------------------------ */

static redist_fault move_lengths(const struct job *j)
{
    redist_exchange exchange = {.plan = &j->plan,
                                .element = j->length,
                                .before = j->lengths[REDIST_BEFORE],
                                .after = j->lengths[REDIST_AFTER],
                                .staging = j->staging};
    return redist_audit_run(&exchange, j->terms.function);
}

static int64_t sum_lengths(const int64_t *lengths, int64_t count)
{
    int64_t total = 0;
    for (int64_t i = 0; i < count; i++)
        if (__builtin_add_overflow(total, lengths[i], &total))
            return -1;
    return total;
}

/* Memory for the elements, once the new lengths are known. */
static redist_fault allocate_columns(struct job *j)
{
    int64_t total = sum_lengths(j->lengths[REDIST_AFTER], j->rows[REDIST_AFTER]);
    redist_fault fault = total < 0 ? REDIST_TOO_LARGE : REDIST_FINE;
    if (j->by_starts && j->width == 4 && total > INT32_MAX)
        fault = REDIST_TOO_MANY;
    j->total[REDIST_AFTER] = total;
    for (int i = 0; i < j->count && fault == REDIST_FINE; i++) {
        struct column *c = &j->columns[i];
        if (j->in_place)
            c->blocks[REDIST_AFTER] = c->blocks[REDIST_BEFORE];
        else
            fault = redist_new_block(&c->element, total, &c->blocks[REDIST_AFTER]);
    }
    return fault;
}

static void lengths_to_starts(int64_t *lengths, int64_t count)
{
    int64_t start = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t length = lengths[i];
        lengths[i] = start;
        start += length;
    }
}

static redist_fault move_columns(const struct job *j)
{
    redist_rows rows = {.starts = {j->lengths[REDIST_BEFORE], j->lengths[REDIST_AFTER]},
                        .count = {j->rows[REDIST_BEFORE], j->rows[REDIST_AFTER]},
                        .total = {j->total[REDIST_BEFORE], j->total[REDIST_AFTER]}};
    redist_fault worst = REDIST_FINE;
    for (int side = 0; side < (j->in_place ? 1 : 2); side++)
        lengths_to_starts(j->lengths[side], j->rows[side]);
    for (int i = 0; i < j->count; i++) { /* all of them, whatever comes of one: the others take part in each */
        const struct column *c = &j->columns[i];
        redist_exchange exchange = {.plan = &j->plan,
                                    .rows = &rows,
                                    .element = c->element,
                                    .before = c->blocks[REDIST_BEFORE],
                                    .after = c->blocks[REDIST_AFTER],
                                    .staging = j->staging};
        redist_fault fault = redist_audit_run(&exchange, j->terms.function);
        worst = fault > worst ? fault : worst;
    }
    return worst;
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* The three steps, each agreed. */
static int run_rows(struct job *j)
{
    const epop_window_t *window = j->plan.window;
    redist_terms none = {.function = j->terms.function};
    redist_fault fault = prepare_rows(j);
    redist_audit_called(&j->terms);
    int result = redist_agree(window, &j->terms, fault);
    if (result != EPOP_OK)
        return result;
    fault = move_lengths(j);
    result = redist_agree(window, &none, fault == REDIST_FINE ? allocate_columns(j) : fault);
    if (result != EPOP_OK)
        return result;
    if (!j->in_place)
        write_index(j);
    return redist_agree_on_end(window, &j->terms, move_columns(j));
}

static void replace_block(void **mine, void *new)
{
    free(*mine);
    *mine = new;
}

static void finish_rows(struct job *j, bool moved)
{
    for (int i = 0; j->columns && i < j->count && !j->in_place; i++) {
        if (moved)
            replace_block(j->arrays[i].local, j->columns[i].blocks[REDIST_AFTER]);
        else
            free(j->columns[i].blocks[REDIST_AFTER]);
    }
    if (moved && !j->in_place)
        replace_block(j->index, j->new_index);
    else
        free(j->new_index);
    if (!j->in_place)
        free(j->lengths[REDIST_AFTER]);
    free(j->lengths[REDIST_BEFORE]);
    free(j->columns);
    free(j->staging);
}

static int redistribute_rows(struct job *j, const epop_window_t *window, epop_dist_t before, epop_dist_t after,
                             MPI_Datatype type)
{
    if (!redist_window_open(j->terms.function, window))
        return EPOP_ERR_ARGUMENT;
    j->width = redist_index_width(type);
    redist_plan_one_row(&j->plan, window, before, after);
    redist_terms_of_dist(&j->terms, before);
    redist_terms_of_dist(&j->terms, after);
    terms_of_arrays(j);
    redist_element_of(MPI_INT64_T, &j->length);
    int result = run_rows(j);
    finish_rows(j, result == EPOP_OK);
    return result;
}

int epop_redist_rows(const epop_window_t *window, epop_dist_t before, epop_dist_t after, MPI_Datatype type,
                     void *lengths, const epop_row_array_t *arrays, int count)
{
    INTERPOSE_CALL(epop_redist_rows);
    struct job j = {.terms.function = "epop_redist_rows", .index = lengths, .arrays = arrays, .count = count};
    return redistribute_rows(&j, window, before, after, type);
}

int epop_redist_csr(const epop_window_t *window, epop_dist_t before, epop_dist_t after, MPI_Datatype type, void *starts,
                    const epop_row_array_t *arrays, int count)
{
    INTERPOSE_CALL(epop_redist_csr);
    struct job j = {
        .terms.function = "epop_redist_csr", .by_starts = true, .index = starts, .arrays = arrays, .count = count};
    return redistribute_rows(&j, window, before, after, type);
}
