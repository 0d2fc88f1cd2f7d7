/* What comes before all growth; and who starts when: in turn, or beside the schedule of EASY backfilling. */
#include "scheduler/policies/gain_queue.h"

#include <math.h>
#include <stdio.h>

/* ---- What comes before all else ----------------------------------------------------------------- */

/*
 * The power cap, phases that are near, and sizes that programs ask for. Resizes for these do not wait until a job has
 * been at its size for long enough.
 */
#define ENDS 3 /* so many times what it takes a job has left, at least, to get what it asks for */

static void keep_power_cap(struct gain_round *round)
{
    if (!round->over)
        return;
    gain_round_move_bound(round, true);
    gain_round_free_nodes(round, round->over, INFINITY, true, "power is above the cap");
    gain_round_move_bound(round, false);
}

/* From now on the job is not changed again in this plan. */
static void change_size(struct gain_round *round, struct gain_job *job, int nodes)
{
    int given = job->nodes - nodes;
    *(given > 0 ? &round->coming : &round->free) += given;
    job->movable = false;
    gain_job_set(job, nodes);
}

/* It stands still, and is slower until `begins`, for nodes that others can use from then on, for `seconds`. Nobody may
 * wait now: then they count as if one job more of its kind did. */
static bool is_worth_giving(const struct gain_round *round, const struct gain_job *job, int nodes, double begins)
{
    int up = round->state->node_count - round->state->down;
    double takes = gain_job_takes(job, round->state, nodes), left = gain_job_left(job->job);
    double slower = begins * (job->speed / gain_job_speed(job, nodes) - 1);
    double used = (left - fmax(begins, takes)) * (job->nodes - nodes) * (round->price + job->weight / up);
    return takes < left && used > job->weight * (gain_job_cost(job, round->state, nodes) + fmax(0, slower));
}

/* The next phase cannot use all nodes, and while it is rigid, or has begun, it is too late. */
static void give_back(struct gain_round *round, struct gain_job *job)
{
    const epop_policy_phase_t *next = &job->job->phases[1];
    int nodes = gain_job_fit(job, job->nodes);
    if (nodes <= 0 || nodes == job->nodes || !is_worth_giving(round, job, nodes, next->begins))
        return;
    snprintf(job->reason, GAIN_REASON, "%d -> %d: its phase %s in %.0f s takes at most %d, costs %.2f s of %.0f s left",
             job->from, nodes, next->name ? next->name : "ahead", next->begins, nodes,
             gain_job_cost(job, round->state, nodes), gain_job_left(job->job));
    change_size(round, job, nodes);
}

static void prepare_phases(struct gain_round *round)
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
static void grant_growth(struct gain_round *round, struct gain_job *job, int nodes)
{
    int needed = nodes - job->nodes, there = round->free + round->coming;
    double left = gain_job_left(job->job);
    if (left <= ENDS * gain_job_takes(job, round->state, nodes))
        return;
    if (needed > there && !gain_round_free_nodes(round, needed - there, job->weight * left, false,
                                                 "makes room for a job that asks for nodes"))
        return;
    if (needed <= round->free) {
        snprintf(job->reason, GAIN_REASON, "%d -> %d: the program asks for %d, %d nodes idle", job->from, nodes,
                 job->job->asked, round->free);
        change_size(round, job, nodes);
        return;
    }
    round->coming = there > needed ? there - needed : 0;
    round->free = 0;
}

static void serve_wish(struct gain_round *round, struct gain_job *job)
{
    int nodes = gain_job_fit(job, job->job->asked);
    if (nodes > job->nodes) {
        grant_growth(round, job, nodes);
    } else if (nodes > 0 && nodes < job->nodes && is_worth_giving(round, job, nodes, 0)) {
        snprintf(job->reason, GAIN_REASON, "%d -> %d: the program asks for %d", job->from, nodes, job->job->asked);
        change_size(round, job, nodes);
    }
}

static void serve_wishes(struct gain_round *round)
{
    for (int i = 0; i < round->running; i++) {
        struct gain_job *job = &round->jobs[i];
        const epop_policy_job_t *it = job->job;
        bool elastic = it->phase_count < 1 || it->phases[0].elastic;
        if (it->kind == EPOP_EVOLVING && it->asked > 0 && it->state == EPOP_POLICY_RUNS && elastic)
            serve_wish(round, job);
    }
}

/* ---- Jobs that wait ----------------------------------------------------------------------------- */

/*
 * First come, first served. The first one for which there is no room is promised a start; those behind it start if they
 * do not delay that (EASY backfilling). With rigid jobs alone this decides as the policy `easy`.
 */
static bool start_now(struct gain_round *round, const struct gain_job *job, int nodes, const char *why)
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
static bool serve_in_turn(struct gain_round *round, const epop_policy_job_t *waiting)
{
    struct gain_job job = gain_job_of(waiting, round->state, round->options);
    if (job.top > 0 && job.top <= round->free)
        return start_now(round, &job, job.top, "its turn");
    if (!gain_job_flexible(waiting) && round->free + round->coming < waiting->wanted && !any_donor(round))
        return false;
    return gain_round_make_room(round, &job);
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
static void promise_start(struct gain_round *round, const epop_policy_job_t *waiting)
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
static void backfill_job(struct gain_round *round, const epop_policy_job_t *waiting)
{
    bool flexible = gain_job_flexible(waiting);
    if (!any_donor(round) && (flexible ? round->free + round->coming < 1 : round->free < waiting->wanted))
        return;
    struct gain_job job = gain_job_of(waiting, round->state, round->options);
    bool ends = gain_job_left(waiting) <= round->shadow, fits = job.top > 0 && job.top <= round->free;
    if (fits && (ends || job.top <= round->extra)) {
        round->extra -= ends ? 0 : job.top;
        start_now(round, &job, job.top, "it does not delay the first of the queue");
    } else {
        gain_round_make_room(round, &job);
    }
}

/* Never, as the machine is now: it lets the others pass. */
static bool is_too_large(const struct gain_round *round, const epop_policy_job_t *waiting)
{
    int least = gain_job_flexible(waiting) ? waiting->range.min : waiting->wanted;
    return least > round->state->usable;
}

/*
 * With firm=1: no job is to start later than EASY backfilling would start it, which the state says. When that time has
 * come it gets its nodes, from others where they can shrink. Before, a job starts on what that schedule gives to jobs
 * that run here or are done, as what it leaves idle is for jobs that come; and beside what was promised. Where jobs
 * here are far behind that schedule they start beside what was promised alone, until they have caught up.
 */
#define LEAD   0.001 /* seconds: sums of times are rounded */
#define DEAR   60    /* seconds: where a resize costs more, jobs cannot give nodes back as if it were nothing */
#define BEHIND 0.5   /* of the machine */

static bool is_promised(const struct gain_round *round, const epop_policy_job_t *job)
{
    return job->reserved >= 0 && job->reserved <= round->state->now + LEAD;
}

static bool is_due(const struct gain_round *round, const epop_policy_job_t *job)
{
    return is_promised(round, job) || job->easy_start <= round->state->now + LEAD;
}

/* What it asks for, from idle nodes or others. */
static bool give_due(struct gain_round *round, struct gain_job *job, int nodes)
{
    int missing = nodes - round->free - round->coming;
    char why[64];
    if (nodes <= round->free)
        return start_now(round, job, nodes, "its turn");
    snprintf(why, sizeof why, "it is the turn of job %lld", (long long)job->job->id);
    gain_job_set(job, nodes);
    round->due = is_promised(round, job->job) ? NULL : job;
    bool there = missing <= 0 || gain_round_free_nodes(round, missing, INFINITY, false, why);
    round->due = NULL;
    if (!there)
        return false;
    round->coming = missing > 0 ? 0 : -missing;
    round->free = 0;
    job->held = true;
    return gain_round_start(round, job, nodes);
}

/* It cannot grow later, and a larger size would do. */
static bool makes_it_late(const struct gain_job *job, int nodes)
{
    return !gain_job_grows(job->job) && gain_job_haste(job, gain_job_seconds(job, nodes)) > job->weight;
}

/* What others were promised comes first, unless its own time has come. */
static bool place_due(struct gain_round *round, const epop_policy_job_t *waiting)
{
    struct gain_job job = gain_job_of(waiting, round->state, round->options);
    bool promised = is_promised(round, waiting);
    for (int nodes = job.top; nodes > 0; nodes = gain_job_flexible(waiting) ? gain_job_fit(&job, nodes * 3 / 4) : 0)
        if (((promised && nodes == job.top) ||
             (gain_round_in_room(round, &job, nodes) && !makes_it_late(&job, nodes))) &&
            give_due(round, &job, nodes))
            return true;
    return false;
}

static bool serve_due(struct gain_round *round, const epop_policy_job_t *waiting)
{
    gain_round_move_bound(round, true);
    bool placed = place_due(round, waiting);
    gain_round_move_bound(round, false);
    return placed;
}

static bool serve_early(struct gain_round *round, const epop_policy_job_t *waiting)
{
    struct gain_job job = gain_job_of(waiting, round->state, round->options);
    if (job.top > 0 && job.top <= round->free && gain_round_safe(round, &job, job.top))
        return start_now(round, &job, job.top, "its turn");
    return gain_round_make_room(round, &job);
}

static bool is_planned(const struct gain_round *round, const epop_policy_job_t *job)
{
    for (int i = round->running; i < round->count; i++)
        if (round->jobs[i].job == job)
            return true;
    return false;
}

/*
 * The first of the queue there: no job that comes later can delay it. One at a time: jobs that shrink for one start end
 * later than the promise of a second one would reckon with.
 */
static void promise_head(struct gain_round *round)
{
    const epop_policy_state_t *state = round->state;
    int i = 0;
    if (gain_round_has_promised(round))
        return;
    while (i < state->easy_count && state->easy_uses[i].begin <= state->now + LEAD)
        i++;
    const epop_policy_job_t *head = i < state->easy_count ? state->easy_uses[i].job : NULL;
    if (head && head->state == EPOP_POLICY_WAITS && head->reserved < 0 && !is_planned(round, head))
        gain_round_promise(round, head);
}

/*
 * The first job that is due and has got nothing is to start as soon as it can: what starts before is done by then, or
 * leaves its nodes. It is not told: that may come to be later still, as jobs here are behind EASY's schedule.
 */
static void hold_for_late(struct gain_round *round)
{
    const epop_policy_state_t *state = round->state;
    for (int i = 0; i < state->waiting_count && !round->head; i++) {
        const epop_policy_job_t *job = state->waiting[i];
        if (is_due(round, job) && !is_too_large(round, job) && !is_planned(round, job)) {
            gain_round_promise(round, job);
            return;
        }
    }
}

static void tell_promise(struct gain_round *round)
{
    const epop_policy_job_t *head = round->head;
    if (head && !is_due(round, head) && !is_planned(round, head))
        epop_plan_reserve(round->plan, head, head->wanted, round->head_at,
                          "no job that comes later can delay it: %d nodes in %.0f s", head->wanted,
                          round->head_at - round->state->now);
}

static void serve_all_due(struct gain_round *round, bool promised)
{
    for (int i = 0; i < round->state->waiting_count; i++) {
        const epop_policy_job_t *job = round->state->waiting[i];
        if (!is_too_large(round, job) && is_due(round, job) && is_promised(round, job) == promised)
            serve_due(round, job);
    }
}

/* The jobs that are due and get nothing want more than that share of the machine: what EASY leaves idle then is lost
 * work here. */
static bool is_behind(const struct gain_round *round)
{
    const epop_policy_state_t *state = round->state;
    double late = 0;
    for (int i = 0; i < state->waiting_count; i++) {
        const epop_policy_job_t *job = state->waiting[i];
        if (!is_too_large(round, job) && is_due(round, job) && !is_planned(round, job))
            late += job->wanted;
    }
    return late > BEHIND * state->node_count;
}

/* False: nothing runs, and nothing is to start later. */
static bool serve_beside_easy(struct gain_round *round)
{
    const epop_policy_state_t *state = round->state;
    double next = INFINITY;
    round->firm = true;
    serve_all_due(round, true);
    promise_head(round);
    serve_all_due(round, false);
    hold_for_late(round);
    round->behind = is_behind(round);
    for (int i = 0; i < state->waiting_count; i++) {
        const epop_policy_job_t *job = state->waiting[i];
        if (is_too_large(round, job) || is_planned(round, job))
            continue;
        if ((round->behind || !is_due(round, job)) && (round->free > 0 || round->effort > 0) && serve_early(round, job))
            continue;
        if (job->easy_start > state->now + LEAD)
            next = fmin(next, job->easy_start);
        if (job->reserved > state->now + LEAD)
            next = fmin(next, job->reserved);
    }
    round->shadow = next - state->now;
    if (isfinite(next))
        epop_plan_wake(round->plan, next);
    if (round->count == 0 && !isfinite(next))
        return false;
    tell_promise(round);
    return true;
}

bool gain_queue_is_firm(const struct gain_options *options, const epop_policy_state_t *state)
{
    return options->firm > 0 && state->easy_uses && state->resize_base <= DEAR;
}

static void serve_waiting(struct gain_round *round)
{
    const epop_policy_state_t *state = round->state;
    int i = 0;
    if (gain_queue_is_firm(round->options, state) && serve_beside_easy(round))
        return;
    round->firm = false;
    while (i < state->waiting_count &&
           (is_too_large(round, state->waiting[i]) || serve_in_turn(round, state->waiting[i])))
        i++;
    if (i == state->waiting_count)
        return;
    promise_start(round, state->waiting[i]);
    for (i++; i < state->waiting_count && (round->free > 0 || round->effort > 0); i++)
        if (!is_too_large(round, state->waiting[i]))
            backfill_job(round, state->waiting[i]);
}

void gain_queue_serve(struct gain_round *round)
{
    keep_power_cap(round);
    prepare_phases(round);
    serve_wishes(round);
    serve_waiting(round);
}

/* ---- The plan ----------------------------------------------------------------------------------- */

/* What it was not given because an earlier job of the program had no use for it. */
static void write_start(const struct gain_round *round, const struct gain_job *job)
{
    char earlier[64] = "";
    if (job->job->earlier && job->nodes == job->top && job->top < gain_job_fit(job, job->job->wanted))
        snprintf(earlier, sizeof earlier, ", as more brought job %lld of this program little",
                 (long long)job->job->earlier);
    epop_plan_start(round->plan, job->job, job->nodes, "starts with %d of %d nodes, %s%s: %d idle, %d wait", job->nodes,
                    job->job->wanted, job->why, earlier, round->state->idle, round->state->waiting_count);
}

static void write_job(const struct gain_round *round, const struct gain_job *job)
{
    if (!job->from && job->held)
        return;
    if (!job->from)
        write_start(round, job);
    else if (job->nodes != job->job->target)
        epop_plan_resize(round->plan, job->job, job->nodes, "%s", job->reason);
}

/* A job that may not be resized yet could give or take nodes when it may. */
static double until_stay(const struct gain_round *round, const struct gain_job *job)
{
    bool grows = round->free > 0 && gain_job_above(job, job->nodes) > 0;
    return job->bound > 0 && (round->blocked || isfinite(round->shadow) || grows) ? job->bound : INFINITY;
}

/* A phase comes near that cannot use all of the job's nodes. */
static double until_phase(const struct gain_job *job)
{
    const epop_policy_phase_t *next = &job->job->phases[1];
    if (job->job->phase_count < 2 || job->ending || job->job->kind < EPOP_MALLEABLE)
        return INFINITY;
    return next->begins < 0 || next->range.max >= job->nodes ? INFINITY : next->begins - job->near;
}

static void set_wake(const struct gain_round *round)
{
    double first = INFINITY;
    for (int i = 0; i < round->running; i++)
        first = fmin(first, fmin(until_stay(round, &round->jobs[i]), until_phase(&round->jobs[i])));
    if (isfinite(first))
        epop_plan_wake(round->plan, round->state->now + fmax(first, 1e-3));
}

void gain_queue_write(const struct gain_round *round)
{
    for (int i = round->running; i < round->count; i++)
        write_job(round, &round->jobs[i]);
    for (int i = 0; i < round->running; i++)
        write_job(round, &round->jobs[i]);
    set_wake(round);
}
