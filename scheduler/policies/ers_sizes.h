/* Which sizes a job can have: those that it and the element that it runs accept. */
#ifndef SCHEDULER_POLICIES_ERS_SIZES_H
#define SCHEDULER_POLICIES_ERS_SIZES_H

#include <epop/policy.h>
#include <stdbool.h>

/* It may get another size now: malleable or evolving, and in an elastic element. */
bool ers_is_elastic(const epop_policy_job_t *job);

/* The largest accepted size <= nodes; 0: there is none. */
int ers_fit(const epop_policy_job_t *job, int nodes);

/* The smallest accepted size; 0: there is none. */
int ers_least(const epop_policy_job_t *job);

/* At which it is to start: what its user asked for, or the next smaller accepted size, or its least. */
int ers_wanted(const epop_policy_job_t *job);

/* The size at which it would start on so many nodes; 0: it would not. `moldable`: below what its user asked for, too.
 */
int ers_size_on(const epop_policy_job_t *job, int nodes, bool moldable);

/* Node seconds that one that waits needs. */
double ers_work(const epop_policy_job_t *job);

#endif
