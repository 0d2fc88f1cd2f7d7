/* epop_redist, epop_redist_between and epop_redist2d. */
#include "interpose/interpose.h"
#include "runtime/redist/check.h"
#include "runtime/redist/lists.h"
#include "runtime/redist/move.h"

int epop_redist(const epop_window_t *window, epop_dist_t dist, MPI_Datatype type, void *local)
{
    INTERPOSE_CALL(epop_redist);
    redist_plan plan;
    redist_terms terms = {.function = "epop_redist"};
    if (!redist_window_open(terms.function, window))
        return EPOP_ERR_ARGUMENT;
    redist_plan_one_row(&plan, window, dist, dist);
    redist_terms_of_dist(&terms, dist);
    return redist_move(&plan, type, local, &terms, REDIST_FINE);
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
    return redist_move(&plan, type, local, &terms, REDIST_FINE);
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
    return redist_move(&plan, type, local, &terms, REDIST_FINE);
}

int redist_by_lists(const epop_window_t *window, const redist_lists *lists, MPI_Datatype type, void **local,
                    const char *words, redist_fault fault)
{
    redist_plan plan;
    redist_terms terms = {.function = words};
    redist_plan_one_row(&plan, window, epop_dist_block(0), epop_dist_block(0));
    plan.lists = lists;
    return redist_move(&plan, type, local, &terms, fault);
}
