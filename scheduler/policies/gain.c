/*
 * The policy `gain`: a node goes where it brings most. Jobs that wait come first, and running ones make room for them
 * where that costs less than it saves; idle nodes make running jobs larger where that pays for the resize.
 */
#include <stddef.h>

#include "scheduler/policies/gain_growth.h"
#include "scheduler/policies/gain_queue.h"
#include "scheduler/policies/policies.h"

/* ---- Jobs that are spread ----------------------------------------------------------------------- */

/*
 * A job is moved below fewer switches, by a growth onto nodes that are left and a shrink, where what it computes faster
 * until its end pays for both. It is over before a promised start. Those that the plan resizes may be moved later.
 */

static bool move_pays(const struct gain_round *round, const struct gain_job *job, const epop_policy_move_t *move)
{
    double cost = 2 * gain_resize_stall(job, round->state, job->nodes, move->nodes);
    double takes = 2 * job->latency + cost, left = gain_job_left(job->job) - takes;
    if ((round->blocked || round->firm) && takes > round->shadow)
        return false;
    return move->saves > 0 && move->saves * left >= round->options->factor * cost;
}

static void move_job(struct gain_round *round, struct gain_job *job)
{
    epop_policy_move_t move;
    if (epop_plan_moved(round->plan, job->job, &move) || !move_pays(round, job, &move))
        return;
    int nodes = move.nodes - job->nodes;
    epop_plan_move(round->plan, job->job,
                   "moves by %d node%s, from %d leaf switches to %d: %.3f times as fast, %.0f s left", nodes,
                   nodes == 1 ? "" : "s", job->job->leaves, move.leaves, 1 / (1 - move.saves), gain_job_left(job->job));
}

static void move_jobs(struct gain_round *round)
{
    if (round->options->gather <= 0 || round->state->spread_cost <= 0)
        return;
    if (gain_round_is_collecting(round))
        return;
    for (int i = 0; i < round->running && epop_plan_idle(round->plan) > 0; i++) {
        struct gain_job *job = &round->jobs[i];
        if (job->movable && job->nodes == job->from && job->job->leaves > 1)
            move_job(round, job);
    }
}

/* ---- The policy --------------------------------------------------------------------------------- */

static int gain_open(void **settings)
{
    *settings = gain_options_new();
    return *settings ? 0 : -1;
}

static int gain_set_option(void *settings, const char *name, const char *value)
{
    return gain_options_set(settings, name, value);
}

static void gain_close(void *settings)
{
    gain_options_free(settings);
}

static int gain_follows_easy(const void *settings)
{
    return ((const struct gain_options *)settings)->firm > 0;
}

static void gain_decide(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    struct gain_round round;
    if (gain_round_begin(&round, settings, state, plan))
        return;
    gain_queue_serve(&round);
    gain_growth_give(&round, false);
    gain_growth_give_work(&round);
    gain_queue_write(&round);
    move_jobs(&round);
    gain_round_end(&round);
}

const epop_policy_t policy_gain = {
    .abi_version = EPOP_POLICY_ABI_VERSION,
    .struct_size = sizeof policy_gain,
    .name = "gain",
    .summary = "a node goes where it brings most: first to jobs that wait, then to running ones",
    .options = gain_option_list,
    .open = gain_open,
    .option = gain_set_option,
    .decide = gain_decide,
    .close = gain_close,
    .follows_easy = gain_follows_easy,
};
