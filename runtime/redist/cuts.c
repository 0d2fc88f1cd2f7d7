/*
 * Distributions by cuts that are made in a window: by the numbers of indices that the ranks have and shall have
 * (epop_redist_counts), by weights (epop_redist_balance), and by what the ranks had to compute (redist_balance_loads).
 *
 * Weights: those of all indices, one after the other, are a line that is cut where the shares of the new ranks end;
 * an index goes to the part in which its middle lies. Every rank counts how many of its own indices lie before each
 * cut, and the sum over the ranks is where the cut is: no rounding can leave an index out, or give it away twice.
 *
 * Loads: how long a rank has computed is known, and not for which of its indices. So its part of the line is as long as
 * that, and divided among them by their weights.
 */
#include "runtime/redist/cuts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/interpose.h"
#include "runtime/redist/audit.h"
#include "runtime/redist/element.h"
#include "runtime/redist/plan.h"
#include "runtime/redist/wait.h"

/* An array for the starts of that many ranks. NULL: out of memory. */
static int64_t *new_starts(int ranks)
{
    return calloc((size_t)ranks + 1, sizeof(int64_t));
}

/* Every rank's `count` numbers, in the order of window->all. Collective over it. */
static redist_fault gather_from_all(const epop_window_t *window, const int64_t *mine, int count, int64_t *all)
{
    MPI_Request request;
    int error = MPI_Iallgather(mine, count, MPI_INT64_T, all, count, MPI_INT64_T, window->all, &request);
    if (error == MPI_SUCCESS)
        error = redist_wait(&request);
    return error == MPI_SUCCESS ? REDIST_FINE : REDIST_MPI_FAILED;
}

/* ---- By counts ---------------------------------------------------------------------------------- */

/* Counts of the ranks become their starts. False: the sum is beyond 2^63 - 1. */
static bool starts_of_counts(int64_t *starts, int ranks)
{
    int64_t start = 0;
    for (int rank = 0; rank <= ranks; rank++) {
        int64_t count = starts[rank];
        starts[rank] = start;
        if (__builtin_add_overflow(start, count, &start))
            return false;
    }
    return true;
}

/* The same on every rank. */
static redist_fault make_cuts(const epop_window_t *window, const int64_t *counts, int64_t *old, int64_t *new)
{
    for (int rank = 0; rank < redist_all_size(window); rank++) {
        if (redist_old_rank(window, rank) >= 0)
            old[redist_old_rank(window, rank)] = counts[2 * rank];
        if (redist_new_rank(window, rank) >= 0)
            new[redist_new_rank(window, rank)] = counts[2 * rank + 1];
    }
    if (!starts_of_counts(old, window->old_size) || !starts_of_counts(new, window->new_size))
        return REDIST_TOO_LARGE;
    return old[window->old_size] == new[window->new_size] ? REDIST_FINE : REDIST_COUNTS_DIFFER;
}

int epop_redist_counts(const epop_window_t *window, int64_t had, int64_t shall, epop_dist_t *before, epop_dist_t *after)
{
    INTERPOSE_CALL(epop_redist_counts);
    redist_terms terms = {.function = "epop_redist_counts"};
    redist_fault fault = before && after ? REDIST_FINE : REDIST_NULL;
    if (!redist_window_open(terms.function, window))
        return EPOP_ERR_ARGUMENT;
    const int64_t mine[] = {window->old_rank >= 0 ? had : 0, window->new_rank >= 0 ? shall : 0};
    int64_t *counts = malloc(2 * (size_t)redist_all_size(window) * sizeof *counts);
    int64_t *old = new_starts(window->old_size), *new = new_starts(window->new_size);
    if (!counts || !old || !new)
        fault = REDIST_NO_MEMORY;
    if (mine[0] < 0 || mine[1] < 0)
        fault = REDIST_BAD_DIST;
    redist_audit_called(&terms);
    int result = redist_agree(window, &terms, fault);
    if (result == EPOP_OK) {
        fault = gather_from_all(window, mine, 2, counts);
        result = redist_agree(window, &terms, fault == REDIST_FINE ? make_cuts(window, counts, old, new) : fault);
    }
    free(counts);
    if (result == EPOP_OK) {
        *before = epop_dist_cuts(old, window->old_size);
        *after = epop_dist_cuts(new, window->new_size);
        return result;
    }
    free(old);
    free(new);
    return result;
}

/* ---- By weights --------------------------------------------------------------------------------- */

/* What every rank tells of itself. */
enum { TOTAL, SHARE, SAID };
enum { NO_WEIGHTS = -1 }; /* as a total: it has indices and no weights for them */

struct job {
    const epop_window_t *window;
    redist_terms terms;
    epop_dist_t before; /* on joining ranks, once they have it */
    int width;
    const void *weights;
    double share;
    const int *loads;     /* of the old ranks; NULL: the weights alone count */
    int64_t rows;         /* of this rank */
    int64_t *told;        /* before the weights, to joining ranks: the distribution, and its starts */
    int64_t *said;        /* SAID numbers per rank of window->all */
    int64_t *starts[2];   /* by redist_side; the old ones for joining ranks */
    int64_t first, total; /* of the weights, or loads: the sum before those of this rank, and of all */
    long double scale;    /* of the weights of this rank to its load */
    bool missing;         /* a pointer of the caller's is NULL */
    bool alike;           /* every index weighs 1 */
};

static bool is_joining(const struct job *j)
{
    return j->window->old_rank < 0;
}

/* ---- By weights: arguments ---------------------------------------------------------------------- */

static int64_t weight_of(const struct job *j, int64_t index)
{
    return j->alike ? 1 : redist_index_get(j->weights, j->width, index);
}

/* -2: one is negative, or the sum too large. */
static int64_t sum_of_weights(const struct job *j)
{
    int64_t total = 0;
    if (j->rows && !j->weights)
        return NO_WEIGHTS;
    for (int64_t i = 0; i < j->rows; i++) {
        int64_t w = weight_of(j, i);
        if (w < 0 || __builtin_add_overflow(total, w, &total))
            return -2;
    }
    return total;
}

static redist_fault check_distribution(const struct job *j)
{
    if (!redist_dist_valid(j->before))
        return REDIST_BAD_DIST;
    if (!redist_dist_is_blocks(j->before))
        return REDIST_NOT_BLOCKS;
    return redist_dist_fits(j->before, j->window->old_size) ? REDIST_FINE : REDIST_BAD_CUTS;
}

static redist_fault check_balance(struct job *j, int64_t *total)
{
    redist_fault fault = j->missing ? REDIST_NULL : is_joining(j) ? REDIST_FINE : check_distribution(j);
    if (fault != REDIST_FINE)
        return fault;
    if (!j->width)
        return REDIST_BAD_INDEX;
    if (j->window->new_rank >= 0 && !(j->share >= 0 && isfinite(j->share)))
        return REDIST_BAD_SHARES;
    j->rows = is_joining(j) ? 0 : epop_dist_local_count(j->before, j->window->old_rank, j->window->old_size);
    *total = sum_of_weights(j);
    return *total < NO_WEIGHTS ? REDIST_BAD_WEIGHTS : REDIST_FINE;
}

static redist_fault allocate_cuts(struct job *j)
{
    j->told = malloc(((size_t)j->window->old_size + 4) * sizeof *j->told);
    j->said = malloc(SAID * (size_t)redist_all_size(j->window) * sizeof *j->said);
    j->starts[REDIST_BEFORE] = new_starts(j->window->old_size);
    j->starts[REDIST_AFTER] = new_starts(j->window->new_size);
    return j->told && j->said && j->starts[REDIST_BEFORE] && j->starts[REDIST_AFTER] ? REDIST_FINE : REDIST_NO_MEMORY;
}

/* ---- By weights: joining ranks learn how the indices are dealt out ------------------------------ */

static redist_fault tell_joining(struct job *j)
{
    MPI_Request request;
    int size = j->window->old_size;
    size_t starts = ((size_t)size + 1) * sizeof(int64_t);
    bool cuts = j->before.kind == EPOP_DIST_CUTS;
    if (!is_joining(j)) {
        j->told[0] = (int64_t)j->before.kind;
        j->told[1] = j->before.count;
        memcpy(j->told + 2, cuts ? j->before.starts : j->starts[REDIST_BEFORE], starts);
    }
    if (MPI_Ibcast(j->told, size + 3, MPI_INT64_T, 0, j->window->all, &request) != MPI_SUCCESS ||
        redist_wait(&request) != MPI_SUCCESS)
        return REDIST_MPI_FAILED;
    if (!is_joining(j))
        return REDIST_FINE;
    memcpy(j->starts[REDIST_BEFORE], j->told + 2, starts);
    j->before =
        j->told[0] == EPOP_DIST_CUTS ? epop_dist_cuts(j->starts[REDIST_BEFORE], size) : epop_dist_block(j->told[1]);
    return REDIST_FINE;
}

/* ---- By weights: weights and shares of all ------------------------------------------------------ */

static double share_of_rank(const struct job *j, int rank)
{
    double share;
    memcpy(&share, &j->said[SAID * rank + SHARE], sizeof share);
    return share;
}

/* The weights before those of this rank, and of all. The same faults on every rank. */
static redist_fault add_up_weights(struct job *j)
{
    int with = 0, without = 0;
    for (int rank = 0; rank < j->window->old_size; rank++) {
        int64_t total = j->said[SAID * rank + TOTAL];
        bool some = epop_dist_local_count(j->before, rank, j->window->old_size) > 0;
        with += some && total != NO_WEIGHTS;
        without += some && total == NO_WEIGHTS;
        if (rank == j->window->old_rank)
            j->first = j->total;
        if (total != NO_WEIGHTS && __builtin_add_overflow(j->total, total, &j->total))
            return REDIST_BAD_WEIGHTS;
    }
    if (with && without)
        return REDIST_NO_WEIGHTS;
    if (j->total > 0)
        return REDIST_FINE;
    j->alike = true;
    j->total = j->before.count;
    j->first = j->rows ? epop_dist_global(j->before, j->window->old_rank, j->window->old_size, 0) : 0;
    return REDIST_FINE;
}

/* In the place of the weights, of which this rank has that total. A rank that has indices and computed nothing weighs
 * next to nothing, but they still have an order. */
static void weigh_by_loads(struct job *j, int64_t total)
{
    j->total = 0;
    j->alike |= total <= 0;
    for (int rank = 0; rank < j->window->old_size; rank++) {
        bool some = epop_dist_local_count(j->before, rank, j->window->old_size) > 0;
        int64_t load = !some ? 0 : j->loads[rank] > 0 ? j->loads[rank] : 1;
        if (rank == j->window->old_rank) {
            j->first = j->total;
            j->scale = some ? (long double)load / (long double)(j->alike ? j->rows : total) : 0;
        }
        j->total += load;
    }
}

static redist_fault gather_weights(struct job *j, int64_t total)
{
    int64_t mine[SAID] = {[TOTAL] = total};
    double sum = 0;
    memcpy(&mine[SHARE], &j->share, sizeof j->share);
    redist_fault fault = gather_from_all(j->window, mine, SAID, j->said);
    for (int rank = 0; rank < redist_all_size(j->window) && fault == REDIST_FINE; rank++)
        sum += redist_new_rank(j->window, rank) >= 0 ? share_of_rank(j, rank) : 0;
    if (fault == REDIST_FINE && !(sum > 0 && isfinite(sum)))
        fault = REDIST_BAD_SHARES;
    return fault == REDIST_FINE ? add_up_weights(j) : fault;
}

/* ---- By weights: the cuts ----------------------------------------------------------------------- */

/* Where the line is cut after each new rank but the last. NULL: out of memory. */
static long double *cut_targets(const struct job *j)
{
    int ranks = j->window->new_size;
    long double *target = calloc((size_t)ranks + 1, sizeof *target), sum = 0;
    if (!target)
        return NULL;
    for (int rank = 0; rank < redist_all_size(j->window); rank++)
        if (redist_new_rank(j->window, rank) >= 0)
            target[redist_new_rank(j->window, rank) + 1] = (long double)share_of_rank(j, rank);
    for (int rank = 1; rank <= ranks; rank++)
        target[rank] = sum += target[rank];
    for (int rank = 1; rank <= ranks; rank++)
        target[rank] = (long double)j->total * target[rank] / sum;
    return target;
}

/* How many indices of this rank have their middle before each target. */
static void count_before(const struct job *j, const long double *target, int64_t *before)
{
    int cut = 1;
    int64_t sum = 0;
    for (int64_t i = 0; i < j->rows; i++) {
        int64_t w = weight_of(j, i);
        long double middle = (long double)j->first + ((long double)sum + (long double)w / 2) * j->scale;
        for (; cut < j->window->new_size && target[cut] <= middle; cut++)
            before[cut] = i;
        sum += w;
    }
    for (; cut < j->window->new_size; cut++)
        before[cut] = j->rows;
    before[j->window->new_size] = j->rows;
}

static redist_fault cut_line(struct job *j, const long double *target)
{
    MPI_Request request;
    int64_t *mine = j->starts[REDIST_AFTER];
    count_before(j, target, mine);
    if (MPI_Iallreduce(MPI_IN_PLACE, mine, j->window->new_size + 1, MPI_INT64_T, MPI_SUM, j->window->all, &request) !=
            MPI_SUCCESS ||
        redist_wait(&request) != MPI_SUCCESS)
        return REDIST_MPI_FAILED;
    return REDIST_FINE;
}

static int run_balance(struct job *j)
{
    int64_t total = 0;
    redist_terms none = {.function = j->terms.function};
    redist_fault fault = check_balance(j, &total);
    if (fault == REDIST_FINE)
        fault = allocate_cuts(j);
    redist_audit_called(&none);
    int result = redist_agree(j->window, &j->terms, fault);
    if (result != EPOP_OK)
        return result;
    fault = tell_joining(j);
    redist_fault also = gather_weights(j, total);
    if (j->loads && also == REDIST_FINE)
        weigh_by_loads(j, total);
    long double *target = cut_targets(j);
    fault = !target ? REDIST_NO_MEMORY : fault == REDIST_FINE ? also : fault;
    result = redist_agree(j->window, &none, fault);
    if (result == EPOP_OK)
        result = redist_agree_on_end(j->window, &j->terms, cut_line(j, target));
    free(target);
    return result;
}

/* What was made goes to the caller, or is freed. */
static void hand_out_cuts(struct job *j, bool made, epop_dist_t *before, epop_dist_t *after)
{
    if (made && is_joining(j))
        *before = j->before;
    if (made)
        *after = epop_dist_cuts(j->starts[REDIST_AFTER], j->window->new_size);
    else
        free(j->starts[REDIST_AFTER]);
    if (!made || !is_joining(j) || j->before.kind != EPOP_DIST_CUTS)
        free(j->starts[REDIST_BEFORE]);
    free(j->told);
    free(j->said);
}

int epop_redist_balance(const epop_window_t *window, epop_dist_t *before, MPI_Datatype type, const void *weights,
                        double share, epop_dist_t *after)
{
    INTERPOSE_CALL(epop_redist_balance);
    struct job j = {
        .window = window, .weights = weights, .share = share, .scale = 1, .terms.function = "epop_redist_balance"};
    if (!redist_window_open(j.terms.function, window))
        return EPOP_ERR_ARGUMENT;
    j.missing = !before || !after;
    if (before && !is_joining(&j))
        j.before = *before;
    j.width = redist_index_width(type);
    j.terms.no_say = is_joining(&j);
    redist_terms_of_dist(&j.terms, j.before);
    int result = run_balance(&j);
    hand_out_cuts(&j, result == EPOP_OK, before, after);
    return result;
}

int redist_balance_loads(const epop_window_t *window, epop_dist_t before, MPI_Datatype type, const void *weights,
                         const int *loads, epop_dist_t *after)
{
    struct job j = {.window = window,
                    .before = before,
                    .width = redist_index_width(type),
                    .weights = weights,
                    .share = 1,
                    .loads = loads,
                    .scale = 1,
                    .terms.function = "epop_redist_described"};
    redist_terms_of_dist(&j.terms, j.before);
    int result = run_balance(&j);
    hand_out_cuts(&j, result == EPOP_OK, NULL, after);
    return result;
}

/* ---- By weights: without MPI -------------------------------------------------------------------- */

redist_fault redist_balance_total(const epop_window_t *window, epop_dist_t before, int width, const void *weights,
                                  int64_t *total)
{
    struct job j = {.window = window, .before = before, .width = width, .weights = weights, .share = 1};
    return check_balance(&j, total);
}

redist_fault redist_balance_share(const epop_window_t *window, epop_dist_t before, int width, const void *weights,
                                  const int64_t *totals, int64_t *starts)
{
    struct job j = {.window = window, .before = before, .width = width, .weights = weights, .share = 1, .scale = 1};
    int64_t total;
    redist_fault fault = check_balance(&j, &total);
    j.said = malloc(SAID * (size_t)redist_all_size(window) * sizeof *j.said);
    if (fault == REDIST_FINE && !j.said)
        fault = REDIST_NO_MEMORY;
    for (int rank = 0; fault == REDIST_FINE && rank < redist_all_size(window); rank++) {
        j.said[SAID * rank + TOTAL] = rank < window->old_size ? totals[rank] : 0;
        memcpy(&j.said[SAID * rank + SHARE], &j.share, sizeof j.share);
    }
    if (fault == REDIST_FINE)
        fault = add_up_weights(&j);
    long double *target = fault == REDIST_FINE ? cut_targets(&j) : NULL;
    if (target)
        count_before(&j, target, starts);
    else if (fault == REDIST_FINE)
        fault = REDIST_NO_MEMORY;
    free(target);
    free(j.said);
    return fault;
}
