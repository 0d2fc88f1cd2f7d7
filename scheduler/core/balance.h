/*
 * When a job is to balance before what is measured of it counts: a policy would take imbalance for bad scaling. One
 * rule for all policies and sites, as for samples: the core has it for those that have one core, the adviser for
 * itself. No clock and no message in here.
 *
 * A sample above the limit does not count. When there were two in a row, and the ranks have waited for the busiest one
 * for longer than the last balance took, the job is to balance. What is measured next is partly of before; what comes
 * then says whether it has helped. If two in a row have not, what is measured counts as it is, until the imbalance is
 * clearly larger.
 */
#ifndef SCHEDULER_CORE_BALANCE_H
#define SCHEDULER_CORE_BALANCE_H

#include <epop/policy.h>
#include <stdbool.h>

#define BALANCE_LIMIT 1.2 /* the imbalance above which a job balances first */

/* What is said of it to users. */
#define BALANCE_OUTCOME "balanced: imbalance %.2f -> %.2f"

struct balance_rule {
    double limit;  /* where balances have not helped: above that it is tried again; 0: they have, or were not tried */
    int useless;   /* balances in a row that have not helped */
    double last;   /* the imbalance that was measured last */
    int uneven;    /* samples in a row above the limit */
    double waited; /* seconds that the ranks have waited for the busiest one in these */
    double cost;   /* seconds that the ranks stood still for the last balance; 0: there was none */
    double was;    /* the imbalance that the last balance was for, until it is known what came of it; 0: it is */
    bool goes;     /* it balances */
    bool mixed;    /* what is measured next is partly of before it */
    bool came;     /* to what it came is not told yet */
    double from, to;
};

/* It computes at another size now, or anew: what was seen does not count. */
void balance_forget(struct balance_rule *rule);

/* Does the sample count, of a job that a balance may help? present: of what it does now, at its present size. One that
 * says nothing of imbalance does not. */
bool balance_counts(struct balance_rule *rule, const epop_policy_sample_t *sample, bool present);

/* Is it to balance? */
bool balance_due(const struct balance_rule *rule);

/* Is it, or does it, so that what was measured last did not count? */
bool balance_holds(const struct balance_rule *rule);

/* It does. Then: it has, and stood still for so long; or it could not, and goes on as it is. */
void balance_begins(struct balance_rule *rule);
void balance_done(struct balance_rule *rule, double stall);
void balance_refused(struct balance_rule *rule);

/* What came of the last one, once: the imbalance before and after it. False: nothing that was not told. */
bool balance_outcome(struct balance_rule *rule, double *from, double *to);

#endif
