/* Watts of the nodes. Which nodes a start takes is not known here, so that the most hungry ones count. */
#include "scheduler/policies/gain_power.h"

#include <math.h>

#include "scheduler/policies/gain_round.h"

struct watts {
    double used;        /* now, by all nodes */
    double most, least; /* that one node takes more when it is busy; 0: not known */
};

static double extra_of(const epop_policy_node_t *node)
{
    return node->busy_watts > node->idle_watts ? node->busy_watts - node->idle_watts : 0;
}

static struct watts watts_of(const epop_policy_state_t *state)
{
    struct watts watts = {.least = INFINITY};
    for (int i = 0; i < state->node_count; i++) {
        const epop_policy_node_t *node = &state->nodes[i];
        if (node->state == EPOP_NODE_DOWN)
            continue;
        watts.used += node->state == EPOP_NODE_BUSY ? node->busy_watts : node->idle_watts;
        double extra = extra_of(node);
        if (node->state == EPOP_NODE_IDLE)
            watts.most = fmax(watts.most, extra);
        else if (extra > 0)
            watts.least = fmin(watts.least, extra);
    }
    return watts;
}

/* Nodes that may be put to work, whichever they are. Negative: so many have to be given back. */
static int spare(const epop_policy_state_t *state)
{
    struct watts watts = watts_of(state);
    double left = state->power_cap - watts.used;
    if (state->power_cap <= 0 || (left >= 0 && watts.most <= 0))
        return state->node_count;
    if (left >= 0)
        return (int)fmin(state->node_count, floor(left / watts.most + 1e-9));
    return isfinite(watts.least) ? -(int)fmin(state->node_count, ceil(-left / watts.least - 1e-9)) : 0;
}

int gain_power_most(const epop_policy_state_t *state)
{
    double idle = 0, most = 0;
    for (int i = 0; i < state->node_count; i++)
        if (state->nodes[i].state != EPOP_NODE_DOWN)
            idle += state->nodes[i].idle_watts, most = fmax(most, extra_of(&state->nodes[i]));
    if (state->power_cap <= 0 || most <= 0)
        return state->node_count;
    return (int)fmax(0, fmin(state->node_count, floor((state->power_cap - idle) / most + 1e-9)));
}

void gain_power_begin(struct gain_round *round)
{
    int idle = round->state->idle, coming = round->state->coming, may = spare(round->state);
    round->free = may < 0 ? 0 : may < idle ? may : idle;
    int all = may < idle ? may + coming : idle + coming;
    round->coming = all > round->free ? all - round->free : 0;
    round->over = all < 0 ? -all : 0;
}
