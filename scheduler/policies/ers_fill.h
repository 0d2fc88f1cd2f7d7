/* Resource filling (dissertation 10.3.3): idle nodes go to running jobs that keep their efficiency with them. */
#ifndef SCHEDULER_POLICIES_ERS_FILL_H
#define SCHEDULER_POLICIES_ERS_FILL_H

#include "scheduler/policies/ers_gap.h"
#include "scheduler/policies/ers_view.h"

void ers_fill(struct ers_view *view, const struct ers_gap *gap);

#endif
