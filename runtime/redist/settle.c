/*
 * Extending is realloc(), which moves pages instead of bytes if a block has pages of its own. The memory for it is made
 * sure of by a new block as for any other rank, before the ranks agree; nothing is written to that, so that it costs
 * addresses only, and should realloc() refuse it is used.
 */
#include "runtime/redist/settle.h"

#include <stdlib.h>

#include "runtime/redist/audit.h"
#include "runtime/redist/check.h"

/* glibc never has blocks of 32 MiB among others; smaller ones it might copy, which is done better alongside. */
int64_t redist_extended_bytes = 32 << 20;

static int64_t bytes_of(const redist_exchange *exchange, redist_side side)
{
    return redist_block_bytes(&exchange->element, redist_plan_local(exchange->plan, side));
}

redist_fault redist_settle_prepare(redist_exchange *exchange)
{
    const redist_plan *plan = exchange->plan;
    bool within = redist_plan_in_place(plan) || (exchange->element.compact && redist_plan_shrinks(plan));
    if (exchange->before && within) {
        exchange->after = (void *)exchange->before;
        return REDIST_FINE;
    }
    return redist_new_block(&exchange->element, redist_plan_local(plan, REDIST_AFTER), &exchange->after);
}

void redist_settle_begin(redist_exchange *exchange, const char *function)
{
    int64_t had = bytes_of(exchange, REDIST_BEFORE), has = bytes_of(exchange, REDIST_AFTER);
    if (exchange->after == exchange->before || had < redist_extended_bytes || !redist_plan_extends(exchange->plan))
        return;
    redist_audit_room(exchange->before, had, function);
    void *larger = realloc((void *)exchange->before, (size_t)has);
    if (!larger)
        return;
    redist_advise((char *)larger + had, has - had);
    free(exchange->after);
    exchange->before = exchange->after = larger;
}

static void cut_off(redist_exchange *exchange, redist_side side)
{
    void *smaller = realloc(exchange->after, (size_t)bytes_of(exchange, side));
    exchange->before = exchange->after = smaller ? smaller : exchange->after;
}

static void close_up(redist_exchange *exchange)
{
    const redist_plan *plan = exchange->plan;
    redist_cursor own = redist_plan_cursor(plan, plan->me, plan->me);
    redist_piece piece;
    while (redist_cursor_take(&own, own.total, &piece))
        redist_move_down(&exchange->element, &piece, exchange->after);
    cut_off(exchange, REDIST_AFTER);
}

void redist_settle_end(redist_exchange *exchange)
{
    if (exchange->after != exchange->before) {
        free((void *)exchange->before);
        exchange->before = NULL;
    } else if (exchange->after && redist_plan_shrinks(exchange->plan) && !redist_plan_in_place(exchange->plan)) {
        close_up(exchange);
    }
}

bool redist_settle_undo(redist_exchange *exchange)
{
    bool extended = exchange->before && exchange->after == exchange->before && !redist_plan_in_place(exchange->plan) &&
                    redist_plan_extends(exchange->plan);
    if (extended)
        cut_off(exchange, REDIST_BEFORE);
    else if (exchange->after != exchange->before)
        free(exchange->after);
    return extended;
}
