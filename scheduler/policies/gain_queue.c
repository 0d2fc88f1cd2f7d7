/* With rigid jobs alone this decides as the policy `easy`. */
#include "scheduler/policies/gain_queue.h"

#include <math.h>
#include <stdio.h>

#include "scheduler/policies/gain_room.h"
#include "scheduler/policies/gain_round.h"

static bool start(struct gain_round *round, const struct gain_job *job, int nodes, const char *why)
{
    struct gain_job *made = gain_round_start(round, job, nodes);
    if (!made)
        return false;
    round->free -= nodes;
    made->why = why;
    return true;
}

static bool any_donor(const struct gain_round *round)
{
    for (int i = 0; i < round->count; i++)
        if (round->jobs[i].movable || (!round->jobs[i].from && gain_job_flexible(round->jobs[i].job)))
            return true;
    return false;
}

static bool any_malleable(const struct gain_round *round)
{
    for (int i = 0; i < round->count; i++)
        if (round->jobs[i].job->kind >= EPOP_MALLEABLE)
            return true;
    return false;
}

/* At its turn: what it wants if that is free, else what can be had. */
static bool serve(struct gain_round *round, const epop_policy_job_t *waiting)
{
    struct gain_job job = gain_job_of(waiting, round->state, round->options);
    if (job.top > 0 && job.top <= round->free)
        return start(round, &job, job.top, "its turn");
    if (!gain_job_flexible(waiting) && round->free + round->coming < waiting->wanted && !any_donor(round))
        return false;
    return gain_room_make(round, &job);
}

/* Until the start that it was promised first, jobs behind it may use nodes; then those that it waits for get them. */
static void set_shadow(struct gain_round *round, const epop_policy_job_t *first, int nodes)
{
    double now = gain_round_when(round, nodes, &round->extra), soon = now;
    if (any_malleable(round))
        soon = gain_round_soon(round, nodes, &round->extra);
    double slack = any_malleable(round) ? 1 + round->options->slack : 1;
    double promised = first->reserved >= 0 ? first->reserved - round->state->now : soon * slack;
    round->shadow = fmin(now, fmax(promised, soon));
    round->deadline = fmax(promised, round->shadow);
}

/* Of the nodes that its user wants: what makes sure that it starts then. It may start earlier with fewer. */
static void promise(struct gain_round *round, const epop_policy_job_t *waiting)
{
    struct gain_job job = gain_job_of(waiting, round->state, round->options);
    int nodes = job.top;
    round->blocked = true;
    set_shadow(round, waiting, nodes);
    double back = nodes > round->free ? round->back : 0;
    if (isfinite(round->shadow))
        epop_plan_reserve(round->plan, waiting, nodes, round->state->now + fmax(round->deadline, back),
                          "first in the queue: %d nodes are free in %.0f s", nodes, fmax(round->shadow, back));
}

/* As EASY does it; else room is made, which does not delay the promised start either. */
static void backfill(struct gain_round *round, const epop_policy_job_t *waiting)
{
    bool flexible = gain_job_flexible(waiting);
    if (!any_donor(round) && (flexible ? round->free + round->coming < 1 : round->free < waiting->wanted))
        return;
    struct gain_job job = gain_job_of(waiting, round->state, round->options);
    bool ends = gain_job_left(waiting) <= round->shadow, fits = job.top > 0 && job.top <= round->free;
    if (fits && (ends || job.top <= round->extra)) {
        round->extra -= ends ? 0 : job.top;
        start(round, &job, job.top, "it does not delay the first of the queue");
    } else {
        gain_room_make(round, &job);
    }
}

/* Never, as the machine is now: it lets the others pass. */
static bool is_too_large(const struct gain_round *round, const epop_policy_job_t *waiting)
{
    int least = gain_job_flexible(waiting) ? waiting->range.min : waiting->wanted;
    return least > round->state->node_count - round->state->down || least > round->most;
}

void gain_queue_serve(struct gain_round *round)
{
    const epop_policy_state_t *state = round->state;
    int i = 0;
    while (i < state->waiting_count && (is_too_large(round, state->waiting[i]) || serve(round, state->waiting[i])))
        i++;
    if (i == state->waiting_count)
        return;
    promise(round, state->waiting[i]);
    for (i++; i < state->waiting_count && (round->free > 0 || round->effort > 0); i++)
        if (!is_too_large(round, state->waiting[i]))
            backfill(round, state->waiting[i]);
}
