/*
 * epop_redist_blocks: the cells move by the exchange that all arrays have, then the new ranks fill their ghosts from
 * each other. All memory is taken before the ranks agree, so that nothing fails half way for the want of it.
 */
#include "runtime/redist/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "interpose/interpose.h"
#include "runtime/redist/audit.h"
#include "runtime/redist/halo.h"
#include "runtime/redist/plan.h"

struct job {
    redist_plan plan;
    struct redist_layout layouts[2]; /* by redist_side */
    redist_terms terms;
    redist_exchange exchange;
    struct epop_halo *halo; /* NULL where nothing has ghosts */
    int *ranks;             /* of the new ranks in window->all */
};

/* The program's pointer may be of any type. */
static void *array_at(const void *local)
{
    void *array;
    memcpy(&array, local, sizeof array);
    return array;
}

static redist_fault new_array(struct job *j, const struct redist_part *old, const struct redist_part *new)
{
    redist_exchange *exchange = &j->exchange;
    redist_audit_room(exchange->before, redist_block_bytes(&exchange->element, old->elements), j->terms.function);
    if (exchange->before && redist_plan_in_place(&j->plan)) {
        exchange->after = (void *)exchange->before;
        return REDIST_FINE;
    }
    return redist_new_block(&exchange->element, new->elements, &exchange->after);
}

static redist_fault make_window_halo(struct job *j)
{
    const epop_window_t *window = j->plan.window;
    if (!(j->ranks = malloc(((size_t)window->new_size + 1) * sizeof *j->ranks)))
        return REDIST_NO_MEMORY;
    for (int rank = 0; rank < j->plan.size; rank++)
        if (redist_new_rank(window, rank) >= 0)
            j->ranks[redist_new_rank(window, rank)] = rank;
    if (window->new_rank < 0 || j->layouts[REDIST_AFTER].plain)
        return REDIST_FINE;
    return redist_halo_make(&j->halo, &j->layouts[REDIST_AFTER], window->new_rank, &j->exchange.element, window->all,
                            j->ranks);
}

static redist_fault prepare_messages(struct job *j)
{
    redist_exchange *exchange = &j->exchange;
    redist_fault fault = make_window_halo(j);
    if (fault == REDIST_FINE && !(exchange->staging = malloc((size_t)redist_staging_bytes(&exchange->element))))
        fault = REDIST_NO_MEMORY;
    return fault;
}

static redist_fault prepare_blocks(struct job *j, const epop_blocks_t *before, const epop_blocks_t *after,
                                   MPI_Datatype type, const void *local)
{
    const epop_window_t *window = j->plan.window;
    redist_exchange *exchange = &j->exchange;
    redist_fault fault = redist_element_of(type, &exchange->element) ? REDIST_BAD_TYPE : REDIST_FINE;
    if (fault == REDIST_FINE)
        fault = redist_layouts_of(j->layouts, window, before, after);
    if (fault != REDIST_FINE)
        return fault;
    struct redist_part old = redist_layout_part(&j->layouts[REDIST_BEFORE], window->old_rank);
    struct redist_part new = redist_layout_part(&j->layouts[REDIST_AFTER], window->new_rank);
    if (!local || (!array_at(local) && old.elements > 0))
        return REDIST_NO_BLOCK;
    exchange->before = array_at(local);
    fault = new_array(j, &old, &new);
    return fault == REDIST_FINE ? prepare_messages(j) : fault;
}

static redist_fault move_blocks(struct job *j)
{
    redist_fault fault = redist_audit_run(&j->exchange, j->terms.function);
    if (!j->halo)
        return fault;
    int posted = redist_halo_post(j->halo, j->exchange.after), waited = redist_halo_wait(j->halo);
    return posted == MPI_SUCCESS && waited == MPI_SUCCESS ? fault : REDIST_MPI_FAILED;
}

static int run_blocks(struct job *j, redist_fault fault)
{
    const epop_window_t *window = j->plan.window;
    int result = redist_agree(window, &j->terms, fault);
    return result == EPOP_OK ? redist_agree_on_end(window, &j->terms, move_blocks(j)) : result;
}

static void free_messages(struct job *j)
{
    redist_halo_free(j->halo);
    free(j->ranks);
    free(j->exchange.staging);
}

static void finish_blocks(const struct job *j, void *local, bool moved)
{
    const redist_exchange *exchange = &j->exchange;
    if (exchange->after == exchange->before)
        return;
    if (moved) {
        free((void *)exchange->before);
        memcpy(local, &exchange->after, sizeof exchange->after);
    } else {
        free(exchange->after);
    }
}

int redist_blocks(const epop_window_t *window, const epop_blocks_t *before, const epop_blocks_t *after,
                  MPI_Datatype type, void *local, const char *function)
{
    struct job j = {.terms.function = function, .exchange.plan = &j.plan};
    if (!redist_window_open(function, window))
        return EPOP_ERR_ARGUMENT;
    redist_plan_blocks(&j.plan, window, j.layouts);
    redist_terms_of_blocks(&j.terms, before);
    redist_terms_of_blocks(&j.terms, after);
    redist_fault fault = prepare_blocks(&j, before, after, type, local);
    redist_terms_of_element(&j.terms, &j.exchange.element);
    redist_audit_called(&j.terms);
    int result = run_blocks(&j, fault);
    free_messages(&j);
    finish_blocks(&j, local, result == EPOP_OK);
    return result;
}

int epop_redist_blocks(const epop_window_t *window, const epop_blocks_t *before, const epop_blocks_t *after,
                       MPI_Datatype type, void *local)
{
    INTERPOSE_CALL(epop_redist_blocks);
    return redist_blocks(window, before, after, type, local, "epop_redist_blocks");
}

int redist_layout_move(const epop_window_t *window, const struct redist_layout layouts[2],
                       const redist_element *element, const void *old, void *new, redist_fault fault,
                       const char *function)
{
    struct job j = {.layouts = {layouts[0], layouts[1]},
                    .terms.function = function,
                    .exchange = {.plan = &j.plan, .element = *element, .before = old, .after = new}};
    redist_plan_blocks(&j.plan, window, j.layouts);
    if (fault == REDIST_FINE)
        fault = prepare_messages(&j);
    int result = run_blocks(&j, fault);
    free_messages(&j);
    return result;
}
