/* Resizes that do not wait for the minimum stay. */
#include "scheduler/policies/gain_wishes.h"

#include <math.h>
#include <stdio.h>

#include "scheduler/policies/gain_room.h"
#include "scheduler/policies/gain_round.h"

#define ENDS 3 /* so many times what it takes a job has left, at least, to get what it asks for */

void gain_wishes_power(struct gain_round *round)
{
    if (!round->over)
        return;
    for (int i = 0; i < round->running; i++)
        round->jobs[i].movable = round->jobs[i].movable || round->jobs[i].bound > 0;
    gain_room_free(round, round->over, INFINITY, true, "power is above the cap");
}

/* From now on the job is not changed again in this plan. */
static void change(struct gain_round *round, struct gain_job *job, int nodes)
{
    int given = job->nodes - nodes;
    *(given > 0 ? &round->coming : &round->free) += given;
    job->movable = false;
    gain_job_set(job, nodes);
}

/* It stands still, and is slower until `begins`, for nodes that others can use from then on, for `seconds`. Nobody may
 * wait now: then they count as if one job more of its kind did. */
static bool is_worth(const struct gain_round *round, const struct gain_job *job, int nodes, double begins)
{
    int up = round->state->node_count - round->state->down;
    double takes = gain_job_takes(job, round->state, nodes), left = gain_job_left(job->job);
    double slower = begins * (job->speed / gain_speedup(&job->model, nodes) - 1);
    double used = (left - fmax(begins, takes)) * (job->nodes - nodes) * (round->price + job->weight / up);
    return takes < left && used > job->weight * (gain_job_cost(job, round->state, nodes) + fmax(0, slower));
}

/* The next phase cannot use all nodes, and while it is rigid, or has begun, it is too late. */
static void give_back(struct gain_round *round, struct gain_job *job)
{
    const epop_policy_phase_t *next = &job->job->phases[1];
    int nodes = gain_job_fit(job, job->nodes);
    if (nodes <= 0 || nodes == job->nodes || !is_worth(round, job, nodes, next->begins))
        return;
    snprintf(job->reason, GAIN_REASON, "%d -> %d: its phase %s in %.0f s takes at most %d, costs %.2f s of %.0f s left",
             job->from, nodes, next->name ? next->name : "ahead", next->begins, nodes,
             gain_job_cost(job, round->state, nodes), gain_job_left(job->job));
    change(round, job, nodes);
}

void gain_wishes_phases(struct gain_round *round)
{
    for (int i = 0; i < round->running; i++) {
        struct gain_job *job = &round->jobs[i];
        if (!job->movable && job->bound <= 0)
            continue;
        if (job->ending && job->nodes == job->from)
            give_back(round, job);
    }
}

/* All that it asks for, or nothing, as its end is near; what has to come first is kept for it. */
static void grant(struct gain_round *round, struct gain_job *job, int nodes)
{
    int needed = nodes - job->nodes, there = round->free + round->coming;
    double left = gain_job_left(job->job);
    if (left <= ENDS * gain_job_takes(job, round->state, nodes))
        return;
    if (needed > there &&
        !gain_room_free(round, needed - there, job->weight * left, false, "makes room for a job that asks for nodes"))
        return;
    if (needed <= round->free) {
        snprintf(job->reason, GAIN_REASON, "%d -> %d: the program asks for %d, %d nodes idle", job->from, nodes,
                 job->job->asked, round->free);
        change(round, job, nodes);
        return;
    }
    round->coming = there > needed ? there - needed : 0;
    round->free = 0;
}

static void serve(struct gain_round *round, struct gain_job *job)
{
    int nodes = gain_job_fit(job, job->job->asked);
    if (nodes > job->nodes) {
        grant(round, job, nodes);
    } else if (nodes > 0 && nodes < job->nodes && is_worth(round, job, nodes, 0)) {
        snprintf(job->reason, GAIN_REASON, "%d -> %d: the program asks for %d", job->from, nodes, job->job->asked);
        change(round, job, nodes);
    }
}

void gain_wishes_asked(struct gain_round *round)
{
    for (int i = 0; i < round->running; i++) {
        struct gain_job *job = &round->jobs[i];
        const epop_policy_job_t *it = job->job;
        bool elastic = it->phase_count < 1 || it->phases[0].elastic;
        if (it->kind == EPOP_EVOLVING && it->asked > 0 && it->state == EPOP_POLICY_RUNS && elastic)
            serve(round, job);
    }
}
