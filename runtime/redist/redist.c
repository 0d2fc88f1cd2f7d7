/*
 * epop_redist, epop_redist_between and epop_redist2d: checks, allocates, agrees with the other ranks, and only then
 * moves.
 */
#include <stdlib.h>

#include "runtime/redist/agree.h"
#include "runtime/redist/audit.h"
#include "runtime/redist/check.h"
#include "runtime/redist/exchange.h"

/* Allocates the new block and the staging memory of an exchange from plan and element. */
static redist_fault allocate(redist_exchange *exchange, int in_place)
{
    redist_fault fault = REDIST_FINE;
    if (!in_place)
        fault = redist_new_block(&exchange->element, redist_plan_local(exchange->plan, REDIST_AFTER), &exchange->after);
    if (fault == REDIST_FINE && !(exchange->staging = malloc((size_t)redist_staging_bytes(&exchange->element))))
        fault = REDIST_NO_MEMORY;
    return fault;
}

static redist_fault prepare(redist_exchange *exchange, MPI_Datatype type, void **local)
{
    const redist_plan *plan = exchange->plan;
    redist_fault fault = redist_element_of(type, &exchange->element) == 0 ? REDIST_FINE : REDIST_BAD_TYPE;
    if (fault == REDIST_FINE)
        fault = redist_check_plan(plan);
    if (fault == REDIST_FINE && (!local || (!*local && redist_plan_local(plan, REDIST_BEFORE) > 0)))
        fault = REDIST_NO_BLOCK;
    if (fault != REDIST_FINE)
        return fault;
    exchange->before = *local;
    int in_place = *local && redist_plan_in_place(plan);
    if (in_place)
        exchange->after = *local;
    return allocate(exchange, in_place);
}

static int move(redist_exchange *exchange, redist_terms *terms, redist_fault fault)
{
    const epop_window_t *window = exchange->plan->window;
    redist_audit_called(terms);
    int result = redist_agree(window, terms, fault);
    if (result != EPOP_OK)
        return result;
    return redist_agree_on_end(window, terms, redist_audit_run(exchange, terms->function));
}

static int redistribute(const redist_plan *plan, MPI_Datatype type, void **local, redist_terms *terms)
{
    redist_exchange exchange = {.plan = plan};
    redist_fault fault = prepare(&exchange, type, local);
    redist_terms_of_element(terms, &exchange.element);
    int result = move(&exchange, terms, fault);
    free(exchange.staging);
    if (exchange.after == exchange.before)
        return result;
    if (result == EPOP_OK) {
        free(*local);
        *local = exchange.after;
    } else {
        free(exchange.after);
    }
    return result;
}

int epop_redist(const epop_window_t *window, epop_dist_t dist, MPI_Datatype type, void **local)
{
    redist_plan plan;
    redist_terms terms = {.function = "epop_redist"};
    if (!redist_window_open(terms.function, window))
        return EPOP_ERR_ARGUMENT;
    redist_plan_one_row(&plan, window, dist, dist);
    redist_terms_of_dist(&terms, dist);
    return redistribute(&plan, type, local, &terms);
}

int epop_redist_between(const epop_window_t *window, epop_dist_t before, epop_dist_t after, MPI_Datatype type,
                        void **local)
{
    redist_plan plan;
    redist_terms terms = {.function = "epop_redist_between"};
    if (!redist_window_open(terms.function, window))
        return EPOP_ERR_ARGUMENT;
    redist_plan_one_row(&plan, window, before, after);
    redist_terms_of_dist(&terms, before);
    redist_terms_of_dist(&terms, after);
    return redistribute(&plan, type, local, &terms);
}

int epop_redist2d(const epop_window_t *window, const epop_dist2d_t *before, const epop_dist2d_t *after,
                  MPI_Datatype type, void **local)
{
    redist_plan plan;
    redist_terms terms = {.function = "epop_redist2d"};
    const epop_dist2d_t missing = {.grid_rows = 0}; /* refused by all, not by this rank alone */
    if (!redist_window_open(terms.function, window))
        return EPOP_ERR_ARGUMENT;
    redist_plan_matrix(&plan, window, before ? before : &missing, after ? after : &missing);
    redist_terms_of_matrix(&terms, &plan.before);
    redist_terms_of_matrix(&terms, &plan.after);
    return redistribute(&plan, type, local, &terms);
}
