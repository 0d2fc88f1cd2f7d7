/* When a job is to balance first. */
#include "scheduler/core/balance.h"

#define TIMES     2         /* in a row that it has to be too uneven */
#define HELPED    (2 / 3.0) /* of what the imbalance was above 1: a balance that leaves more has not helped */
#define TRIES     2         /* in a row that have not: where costs jump inside a block the second one knows better */
#define NOT_AGAIN 1.5       /* times that, and it is tried again */

void balance_forget(struct balance_rule *rule)
{
    *rule = (struct balance_rule){.cost = rule->cost};
}

/* Only when the imbalance is clearly larger. */
static void leave_alone(struct balance_rule *rule, double imbalance)
{
    rule->limit = 1 + NOT_AGAIN * (imbalance - 1);
}

static void judge(struct balance_rule *rule, double imbalance)
{
    if (rule->was <= 0)
        return;
    rule->useless = imbalance - 1 > HELPED * (rule->was - 1) ? rule->useless + 1 : 0;
    if (rule->useless >= TRIES)
        leave_alone(rule, imbalance);
    rule->came = true;
    rule->from = rule->was;
    rule->to = imbalance;
    rule->was = 0;
}

static bool is_uneven(const struct balance_rule *rule, double imbalance)
{
    return imbalance > BALANCE_LIMIT && imbalance > rule->limit;
}

bool balance_counts(struct balance_rule *rule, const epop_policy_sample_t *sample, bool present)
{
    double imbalance = sample->imbalance, seconds = sample->iterations * sample->seconds;
    if (imbalance < 1 || rule->goes)
        return false;
    if (!present)
        return !is_uneven(rule, imbalance);
    if (rule->mixed) {
        rule->mixed = false;
        return false;
    }
    judge(rule, imbalance);
    if (imbalance <= BALANCE_LIMIT)
        rule->limit = 0, rule->useless = 0;
    bool uneven = is_uneven(rule, imbalance);
    rule->last = imbalance;
    rule->uneven = uneven ? rule->uneven + 1 : 0;
    rule->waited = uneven ? rule->waited + seconds * (1 - 1 / imbalance) : 0;
    return !uneven;
}

bool balance_due(const struct balance_rule *rule)
{
    return rule->uneven >= TIMES && rule->waited > rule->cost;
}

bool balance_holds(const struct balance_rule *rule)
{
    return rule->uneven > 0 || rule->goes;
}

void balance_begins(struct balance_rule *rule)
{
    rule->goes = true;
    rule->was = rule->last;
    rule->uneven = 0;
    rule->waited = 0;
}

void balance_done(struct balance_rule *rule, double stall)
{
    rule->goes = false;
    rule->cost = stall;
    rule->mixed = true;
}

void balance_refused(struct balance_rule *rule)
{
    rule->goes = false;
    rule->was = 0;
    leave_alone(rule, rule->last);
}

bool balance_outcome(struct balance_rule *rule, double *from, double *to)
{
    if (!rule->came)
        return false;
    *from = rule->from;
    *to = rule->to;
    rule->came = false;
    return true;
}
