/*
 * Time balancing in closed form. A job that would come below its low gets that, and the others share what remains;
 * then those above their high likewise. Each pass settles one job at least.
 */
#include "scheduler/policies/ers_balance.h"

#include <stdbool.h>

static bool is_settled(const struct ers_share *share)
{
    return share->nodes > 0;
}

/* The common end of those that are not settled. */
static double common_end(const struct ers_share *shares, int count, double total)
{
    double work = 0;
    for (int i = 0; i < count; i++) {
        work += is_settled(&shares[i]) ? 0 : shares[i].work;
        total -= shares[i].nodes;
    }
    return work > 0 && total > 0 ? work / total : 0;
}

/* Settles who is out of its range at that end: below low, or above high. */
static bool settle(struct ers_share *shares, int count, double end, bool below)
{
    bool any = false;
    for (int i = 0; i < count; i++) {
        struct ers_share *share = &shares[i];
        double nodes = end > 0 ? share->work / end : 0;
        if (is_settled(share) || (below ? nodes >= share->low : nodes <= share->high))
            continue;
        share->nodes = below ? share->low : share->high;
        any = true;
    }
    return any;
}

double ers_balance(struct ers_share *shares, int count, double total)
{
    double end;
    for (int i = 0; i < count; i++)
        shares[i].nodes = 0;
    do
        end = common_end(shares, count, total);
    while (settle(shares, count, end, true));
    while (end > 0 && settle(shares, count, end, false))
        end = common_end(shares, count, total);
    for (int i = 0; i < count; i++)
        shares[i].nodes = is_settled(&shares[i]) ? shares[i].nodes : shares[i].work / end;
    return end;
}
