/*
 * epop_redist, epop_redist_between and epop_redist2d, alone or several together: where the new block is made, and
 * the steps from the arguments to the end.
 */
#include "runtime/redist/move.h"

#include <stdlib.h>

#include "interpose/interpose.h"
#include "runtime/redist/audit.h"
#include "runtime/redist/plan.h"
#include "runtime/redist/traffic.h"

/* ---- Where the new block is made ---------------------------------------------------------------- */

/*
 * A block that only loses elements is closed up and cut off: while they leave, or, where an error could still bring the
 * old block back, when all of them have arrived. One that only gets some at its end is extended. Neither takes a second
 * block, and both leave what stays in its place as far as possible. For all others there is a new block beside the old
 * one.
 *
 * Extending is realloc(), which moves pages instead of bytes if a block has pages of its own. The memory for it is made
 * sure of by a new block, as on any other rank, before the ranks agree; nothing is written to that, so that it costs
 * addresses only, and should realloc() refuse it is used.
 */

/* glibc never has blocks of 32 MiB among others; smaller ones it might copy, which is done better alongside. */
int64_t redist_extended_bytes = 32 << 20;

static int64_t side_bytes(const redist_exchange *exchange, redist_side side)
{
    return redist_block_bytes(&exchange->element, redist_plan_local(exchange->plan, side));
}

/* First: sets `after` of an exchange that has plan, element and `before`; the old block is not touched. */
static redist_fault block_prepare(redist_exchange *exchange)
{
    const redist_plan *plan = exchange->plan;
    bool within = redist_plan_in_place(plan) || (exchange->element.compact && redist_plan_shrinks(plan));
    if (exchange->before && within) {
        exchange->after = (void *)exchange->before;
        return REDIST_FINE;
    }
    return redist_new_block(&exchange->element, redist_plan_local(plan, REDIST_AFTER), &exchange->after);
}

static bool only_loses(const redist_exchange *exchange)
{
    const redist_plan *plan = exchange->plan;
    return exchange->after && exchange->after == exchange->before && redist_plan_shrinks(plan) &&
           !redist_plan_in_place(plan);
}

/* The ranks have agreed. The old block may move: it is exchange->before afterwards. */
static void block_begin(redist_exchange *exchange, const char *function)
{
    int64_t had = side_bytes(exchange, REDIST_BEFORE), has = side_bytes(exchange, REDIST_AFTER);
    if (exchange->after == exchange->before || had < redist_extended_bytes || !redist_plan_extends(exchange->plan))
        return;
    redist_audit_room(exchange->before, had, function);
    void *larger = realloc((void *)exchange->before, (size_t)(has + redist_edge));
    if (!larger)
        return;
    redist_advise((char *)larger + had, has - had);
    free(exchange->after);
    exchange->before = exchange->after = larger;
}

static void cut_off(redist_exchange *exchange, redist_side side)
{
    void *smaller = realloc(exchange->after, (size_t)(side_bytes(exchange, side) + redist_edge));
    exchange->before = exchange->after = smaller ? smaller : exchange->after;
}

static void close_up(redist_exchange *exchange)
{
    const redist_plan *plan = exchange->plan;
    redist_cursor own = redist_plan_cursor(plan, plan->me, plan->me);
    redist_piece piece;
    while (redist_cursor_take(&own, own.total, &piece))
        redist_move_down(&exchange->element, &piece, exchange->after);
}

/* All has arrived everywhere: `after` becomes the whole new block, and there is no other. */
static void block_end(redist_exchange *exchange)
{
    if (exchange->after != exchange->before) {
        free((void *)exchange->before);
        exchange->before = NULL;
    } else if (only_loses(exchange)) {
        if (!exchange->closes_up)
            close_up(exchange);
        cut_off(exchange, REDIST_AFTER);
    }
}

/* Instead of end: `before` is again the only block, with all that it had. True: it may have moved. */
static bool block_undo(redist_exchange *exchange)
{
    bool extended = exchange->before && exchange->after == exchange->before && !redist_plan_in_place(exchange->plan) &&
                    redist_plan_extends(exchange->plan);
    if (extended)
        cut_off(exchange, REDIST_BEFORE);
    else if (exchange->after != exchange->before)
        free(exchange->after);
    return extended;
}

/* ---- One redistribution ------------------------------------------------------------------------- */

/* Of all ranks together. What waits has its new blocks besides the old ones of all others, and an agreement is nothing
 * beside the time that so many bytes take. */
enum { TOGETHER_BYTES = 16 << 20 };

struct move {
    redist_plan plan;
    redist_exchange exchange;
    redist_terms terms;
    void **local;
    const char *subject;
    redist_fault fault;
};

static struct {
    bool open;
    const char *function; /* for messages */
    struct move *moves;
    int count, room;
    double bytes;
    redist_fault fault; /* one could not be noted */
} together;

static void prepare_move(struct move *m, MPI_Datatype type)
{
    redist_exchange *exchange = &m->exchange;
    exchange->plan = &m->plan;
    if (redist_element_of(type, &exchange->element) != 0)
        m->fault = REDIST_BAD_TYPE;
    if (m->fault == REDIST_FINE)
        m->fault = redist_check_plan(&m->plan);
    if (m->fault == REDIST_FINE && (!m->local || (!*m->local && redist_plan_local(&m->plan, REDIST_BEFORE) > 0)))
        m->fault = REDIST_NO_BLOCK;
    redist_terms_of_element(&m->terms, &exchange->element);
    redist_audit_called(&m->terms);
    if (m->fault != REDIST_FINE)
        return;
    exchange->before = *m->local;
    m->fault = block_prepare(exchange);
}

/* The ranks have agreed. */
static int move_agreed(struct move *m, char *staging)
{
    redist_exchange *exchange = &m->exchange;
    const char *function = m->terms.function;
    redist_totals before = {0, 0};
    exchange->plan = &m->plan; /* it may have been noted elsewhere since */
    exchange->staging = staging;
    block_begin(exchange, function);
    exchange->closes_up = !m->terms.may_fail && only_loses(exchange);
    int result = redist_agree_on_end(m->plan.window, &m->terms, redist_audit_exchange(exchange, function, &before));
    if (result != EPOP_OK)
        return result;
    block_end(exchange);
    redist_audit_arrived(exchange, function, before);
    return EPOP_OK;
}

static void finish_move(struct move *m, int result)
{
    m->exchange.plan = &m->plan;
    if (result == EPOP_OK)
        *m->local = m->exchange.after;
    else if (block_undo(&m->exchange))
        *m->local = (void *)m->exchange.before;
}

/* False: there is no memory to note it. */
static bool note_move(const struct move *m)
{
    if (together.count == together.room) {
        int room = 2 * together.room + 8;
        struct move *more = realloc(together.moves, (size_t)room * sizeof *more);
        if (!more)
            return false;
        together.moves = more;
        together.room = room;
    }
    together.moves[together.count++] = *m;
    return true;
}

static int move_alone(struct move *m)
{
    char *staging = NULL;
    if (m->fault == REDIST_FINE && !(staging = malloc((size_t)redist_staging_bytes(&m->exchange.element))))
        m->fault = REDIST_NO_MEMORY;
    int result = redist_agree(m->plan.window, &m->terms, m->fault);
    if (result == EPOP_OK)
        result = move_agreed(m, staging);
    free(staging);
    finish_move(m, result);
    return result;
}

/* ---- Several together --------------------------------------------------------------------------- */

/* For the largest of all exchanges. */
static char *allocate_staging(void)
{
    int64_t most = 1;
    for (int i = 0; i < together.count; i++) {
        int64_t bytes = redist_staging_bytes(&together.moves[i].exchange.element);
        most = bytes > most ? bytes : most;
    }
    return malloc((size_t)most);
}

static const char *subject_of(int number)
{
    return number < together.count ? together.moves[number].subject : NULL;
}

/* The gravest fault, of the first array that has it. */
static redist_fault gravest_fault(bool staged, int *number)
{
    redist_fault fault = staged ? together.fault : REDIST_NO_MEMORY;
    *number = 0;
    for (int i = 0; i < together.count; i++) {
        if (together.moves[i].fault <= fault)
            continue;
        fault = together.moves[i].fault;
        *number = i;
    }
    return fault;
}

static int carry_all(int may_fail, char *staging)
{
    int result = EPOP_OK;
    for (int i = 0; i < together.count; i++) {
        struct move *m = &together.moves[i];
        m->terms.may_fail = may_fail;
        redist_subject = m->subject;
        redist_traffic_array(m->subject);
        if (result == EPOP_OK)
            result = move_agreed(m, staging);
        finish_move(m, result);
    }
    redist_subject = NULL;
    redist_traffic_array(NULL);
    return result;
}

/* Those that wait, if there are any. */
static int run_together(const epop_window_t *window)
{
    redist_terms terms = {.function = together.function, .subject_of = subject_of};
    int result = EPOP_OK;
    if (together.count > 0 || together.fault != REDIST_FINE) {
        char *staging = allocate_staging();
        redist_fault fault = gravest_fault(staging, &terms.number);
        result = redist_agree(window, &terms, fault);
        for (int i = 0; i < together.count && result != EPOP_OK; i++)
            finish_move(&together.moves[i], result);
        if (result == EPOP_OK)
            result = carry_all(terms.may_fail, staging);
        free(staging);
    }
    together.count = 0;
    together.bytes = 0;
    together.fault = REDIST_FINE;
    return result;
}

void redist_moves_begin(const char *function)
{
    together.open = true;
    together.function = function;
}

int redist_moves_end(const epop_window_t *window)
{
    int result = run_together(window);
    free(together.moves);
    together.moves = NULL;
    together.room = 0;
    together.open = false;
    return result;
}

/* The same on all ranks. */
static double bytes_of_all(const redist_plan *plan, MPI_Datatype type)
{
    redist_element element = {.extent = 0};
    redist_element_of(type, &element);
    return (double)plan->before.rows.count * (double)plan->before.cols.count * (double)element.extent;
}

static int wait_for_others(struct move *m, MPI_Datatype type)
{
    const char *subject = redist_subject;
    double bytes = bytes_of_all(&m->plan, type);
    int result = together.bytes + bytes > TOGETHER_BYTES ? run_together(m->plan.window) : EPOP_OK;
    if (result != EPOP_OK)
        return result;
    redist_subject = subject; /* others were moved meanwhile */
    redist_traffic_array(subject);
    together.bytes += bytes;
    prepare_move(m, type);
    if (!note_move(m)) {
        together.fault = REDIST_NO_MEMORY;
        finish_move(m, EPOP_ERR_MEMORY);
    }
    return EPOP_OK;
}

/* Collective over the plan's window. `fault` is what was wrong here before. On failure *local is what it was. */
static int move_array(const redist_plan *plan, MPI_Datatype type, void **local, const redist_terms *terms,
                      redist_fault fault)
{
    struct move m = {.plan = *plan, .terms = *terms, .local = local, .subject = redist_subject, .fault = fault};
    if (together.open)
        return wait_for_others(&m, type);
    prepare_move(&m, type);
    return move_alone(&m);
}

/* ---- What programs and descriptions call -------------------------------------------------------- */

int epop_redist(const epop_window_t *window, epop_dist_t dist, MPI_Datatype type, void *local)
{
    INTERPOSE_CALL(epop_redist);
    redist_plan plan;
    redist_terms terms = {.function = "epop_redist"};
    if (!redist_window_open(terms.function, window))
        return EPOP_ERR_ARGUMENT;
    redist_plan_one_row(&plan, window, dist, dist);
    redist_terms_of_dist(&terms, dist);
    return move_array(&plan, type, local, &terms, REDIST_FINE);
}

int epop_redist_between(const epop_window_t *window, epop_dist_t before, epop_dist_t after, MPI_Datatype type,
                        void *local)
{
    INTERPOSE_CALL(epop_redist_between);
    redist_plan plan;
    redist_terms terms = {.function = "epop_redist_between"};
    if (!redist_window_open(terms.function, window))
        return EPOP_ERR_ARGUMENT;
    redist_plan_one_row(&plan, window, before, after);
    redist_terms_of_dist(&terms, before);
    redist_terms_of_dist(&terms, after);
    return move_array(&plan, type, local, &terms, REDIST_FINE);
}

int epop_redist2d(const epop_window_t *window, const epop_dist2d_t *before, const epop_dist2d_t *after,
                  MPI_Datatype type, void *local)
{
    INTERPOSE_CALL(epop_redist2d);
    redist_plan plan;
    redist_terms terms = {.function = "epop_redist2d"};
    const epop_dist2d_t missing = {.grid_rows = 0}; /* refused by all, not by this rank alone */
    if (!redist_window_open(terms.function, window))
        return EPOP_ERR_ARGUMENT;
    redist_plan_matrix(&plan, window, before ? before : &missing, after ? after : &missing);
    redist_terms_of_matrix(&terms, &plan.before);
    redist_terms_of_matrix(&terms, &plan.after);
    return move_array(&plan, type, local, &terms, REDIST_FINE);
}

int redist_by_lists(const epop_window_t *window, const redist_lists *lists, MPI_Datatype type, void **local,
                    const char *words, redist_fault fault)
{
    redist_plan plan;
    redist_terms terms = {.function = words};
    redist_plan_one_row(&plan, window, epop_dist_block(0), epop_dist_block(0));
    plan.lists = lists;
    return move_array(&plan, type, local, &terms, fault);
}
