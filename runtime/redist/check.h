/* What epop_redist* check and allocate before they agree. Local; what is wrong comes back as a fault. */
#ifndef REDIST_CHECK_H
#define REDIST_CHECK_H

#include "runtime/redist/agree.h"
#include "runtime/redist/element.h"
#include "runtime/redist/plan.h"

/* Distributions, grids, and the same matrix before and after. */
redist_fault redist_check_plan(const redist_plan *plan);
/* A block of `count` elements; NULL for none. */
redist_fault redist_new_block(const redist_element *element, int64_t count, void **block);
/* About to be written to for the first time: a page fault per 4 KiB costs as much time as the data that comes there;
 * with huge pages, which are asked for here, far less. */
void redist_advise(void *block, int64_t bytes);

/* What must be the same on every rank. */
void redist_terms_of_dist(redist_terms *terms, epop_dist_t dist);
void redist_terms_of_matrix(redist_terms *terms, const epop_dist2d_t *dist);
void redist_terms_of_element(redist_terms *terms, const redist_element *element);

#endif
