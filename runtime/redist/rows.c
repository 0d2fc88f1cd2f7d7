/*
 * Rows of different lengths: first the lengths travel, then the values. In between, the lengths are turned into
 * where the rows start, in place, so that no memory beyond the blocks is needed, and back at the end.
 */
#include <stdlib.h>

#include "runtime/redist/agree.h"
#include "runtime/redist/audit.h"
#include "runtime/redist/check.h"
#include "runtime/redist/exchange.h"

#define NAME "epop_redist_rows"

typedef struct job {
    redist_plan plan;
    redist_element value, length;
    int64_t rows[2], total[2]; /* by redist_side */
    int64_t *lengths[2];
    void *values[2];
    int missing;  /* a pointer of the caller is NULL */
    int in_place; /* the new blocks are the old ones */
    char *staging;
} job;

/* The values in `count` rows; -1 where a length is negative, or the sum beyond 2^63 - 1. */
static int64_t sum(const int64_t *lengths, int64_t count)
{
    int64_t total = 0;
    for (int64_t i = 0; i < count; i++)
        if (lengths[i] < 0 || __builtin_add_overflow(total, lengths[i], &total))
            return -1;
    return total;
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

static void starts_to_lengths(int64_t *starts, int64_t count, int64_t total)
{
    for (int64_t i = 0; i < count; i++)
        starts[i] = (i + 1 < count ? starts[i + 1] : total) - starts[i];
}

static redist_fault check(job *j, MPI_Datatype type)
{
    if (redist_element_of(type, &j->value) != 0)
        return REDIST_BAD_TYPE;
    redist_fault fault = redist_check_plan(&j->plan);
    if (fault != REDIST_FINE)
        return fault;
    j->rows[REDIST_BEFORE] = redist_plan_local(&j->plan, REDIST_BEFORE);
    j->rows[REDIST_AFTER] = redist_plan_local(&j->plan, REDIST_AFTER);
    if (j->missing || (j->rows[REDIST_BEFORE] > 0 && !j->lengths[REDIST_BEFORE]))
        return REDIST_NO_BLOCK;
    j->total[REDIST_BEFORE] = sum(j->lengths[REDIST_BEFORE], j->rows[REDIST_BEFORE]);
    if (j->total[REDIST_BEFORE] < 0)
        return REDIST_BAD_LENGTHS;
    return j->total[REDIST_BEFORE] > 0 && !j->values[REDIST_BEFORE] ? REDIST_NO_BLOCK : REDIST_FINE;
}

/* Memory for the new lengths and for staging. */
static redist_fault allocate(job *j)
{
    int64_t lengths = redist_staging_bytes(&j->length), values = redist_staging_bytes(&j->value);
    void *block = NULL;
    redist_fault fault = REDIST_FINE;
    j->in_place = j->rows[REDIST_BEFORE] > 0 && redist_plan_in_place(&j->plan);
    if (j->in_place)
        block = j->lengths[REDIST_BEFORE];
    else
        fault = redist_new_block(&j->length, j->rows[REDIST_AFTER], &block);
    j->lengths[REDIST_AFTER] = block;
    if (fault == REDIST_FINE && !(j->staging = malloc((size_t)(lengths > values ? lengths : values))))
        fault = REDIST_NO_MEMORY;
    return fault;
}

static redist_fault move_lengths(const job *j)
{
    redist_exchange exchange = {.plan = &j->plan,
                                .element = j->length,
                                .before = j->lengths[REDIST_BEFORE],
                                .after = j->lengths[REDIST_AFTER],
                                .staging = j->staging};
    return redist_audit_run(&exchange, NAME);
}

/* Memory for the new values, once the new lengths are known. */
static redist_fault allocate_values(job *j)
{
    j->total[REDIST_AFTER] = sum(j->lengths[REDIST_AFTER], j->rows[REDIST_AFTER]);
    if (j->total[REDIST_AFTER] < 0)
        return REDIST_TOO_LARGE;
    if (!j->in_place)
        return redist_new_block(&j->value, j->total[REDIST_AFTER], &j->values[REDIST_AFTER]);
    j->values[REDIST_AFTER] = j->values[REDIST_BEFORE];
    return REDIST_FINE;
}

static redist_fault move_values(job *j)
{
    redist_rows rows = {.starts = {j->lengths[REDIST_BEFORE], j->lengths[REDIST_AFTER]},
                        .count = {j->rows[REDIST_BEFORE], j->rows[REDIST_AFTER]},
                        .total = {j->total[REDIST_BEFORE], j->total[REDIST_AFTER]}};
    redist_exchange exchange = {.plan = &j->plan,
                                .rows = &rows,
                                .element = j->value,
                                .before = j->values[REDIST_BEFORE],
                                .after = j->values[REDIST_AFTER],
                                .staging = j->staging};
    int sides = j->in_place ? 1 : 2;
    for (int side = 0; side < sides; side++)
        lengths_to_starts(j->lengths[side], j->rows[side]);
    redist_fault fault = redist_audit_run(&exchange, NAME);
    for (int side = 0; side < sides; side++)
        starts_to_lengths(j->lengths[side], j->rows[side], j->total[side]);
    return fault;
}

/* The three steps, each agreed. */
static int run(job *j, redist_terms *terms, MPI_Datatype type)
{
    const epop_window_t *window = j->plan.window;
    redist_terms none = {.function = terms->function};
    redist_fault fault = check(j, type);
    redist_terms_of_element(terms, &j->value);
    redist_audit_called(terms);
    int result = redist_agree(window, terms, fault == REDIST_FINE ? allocate(j) : fault);
    if (result != EPOP_OK)
        return result;
    fault = move_lengths(j);
    result = redist_agree(window, &none, fault == REDIST_FINE ? allocate_values(j) : fault);
    return result == EPOP_OK ? redist_agree_on_end(window, terms, move_values(j)) : result;
}

int epop_redist_rows(const epop_window_t *window, epop_dist_t rows, int64_t **lengths, MPI_Datatype type, void **values)
{
    job j = {.staging = NULL};
    redist_terms terms = {.function = NAME};
    if (!redist_window_valid(window))
        return EPOP_ERR_ARGUMENT;
    redist_plan_one_row(&j.plan, window, rows);
    redist_terms_of_dist(&terms, rows);
    redist_element_of(MPI_INT64_T, &j.length);
    j.missing = !lengths || !values;
    if (!j.missing) {
        j.lengths[REDIST_BEFORE] = *lengths;
        j.values[REDIST_BEFORE] = *values;
    }
    int result = run(&j, &terms, type);
    free(j.staging);
    if (j.in_place)
        return result;
    redist_side gone = result == EPOP_OK ? REDIST_BEFORE : REDIST_AFTER;
    free(j.lengths[gone]);
    free(j.values[gone]);
    if (result == EPOP_OK) {
        *lengths = j.lengths[REDIST_AFTER];
        *values = j.values[REDIST_AFTER];
    }
    return result;
}
