/* Checks of arguments. A row and a column count that overflow together are found here as well. */
#include "runtime/redist/check.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "runtime/base/hash.h"

enum { HUGE_PAGES_FROM = 4 << 20 };

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

/* Only advice: where the kernel does not take it nothing is lost. */
void redist_advise(void *block, int64_t bytes)
{
    const uintptr_t page = 4096;
    if (bytes < HUGE_PAGES_FROM)
        return;
    uintptr_t start = ((uintptr_t)block + page - 1) & ~(page - 1);
    uintptr_t end = ((uintptr_t)block + (uintptr_t)bytes) & ~(page - 1);
    madvise((void *)start, end - start, MADV_HUGEPAGE);
}

redist_fault redist_new_block(const redist_element *element, int64_t count, void **block)
{
    int64_t bytes = redist_block_bytes(element, count);
    *block = NULL;
    if (bytes < 0)
        return REDIST_TOO_LARGE;
    if (bytes > 0 && !(*block = malloc((size_t)bytes)))
        return REDIST_NO_MEMORY;
    redist_advise(*block, bytes);
    return REDIST_FINE;
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
