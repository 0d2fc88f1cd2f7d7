/*
 * The policy `gain`: a node goes where it brings most. Jobs that wait come first, and running ones make room for them
 * where that costs less than it saves; idle nodes make running jobs larger where that pays for the resize.
 */
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/policies/gain_round.h"
#include "scheduler/policies/policies.h"

/* ---- Options ------------------------------------------------------------------------------------ */

static const epop_policy_option_t option_list[] = {
    {"factor", "2", "a job grows when that saves this many times what it costs"},
    {"margin", "1.1", "others shrink for a start when that saves this many times what they lose"},
    {"stay", "10", "seconds that a job is left at a size, at least"},
    {"stay-costs", "5", "and this many times what a resize costs it"},
    {"slack", "0.1", "share of the promised wait by which shrinking jobs may delay the first of the queue"},
    {"ahead", "5", "seconds before a phase in which nodes are given back for it"},
    {"efficiency", "0.7", "taken at the nodes that were asked for, where nothing was measured"},
    {"marginal", "0.05", "speedup that each further node of a growth has to bring"},
    {"fairness", "0.25", "how much the nodes that a user holds count against its jobs, from 0 to 1"},
    {"firm", "1", "1: starts are held against those of EASY backfilling, which are promised; 0: they are not"},
    {"keep", "0.5", "share of what EASY backfilling leaves idle that is kept for jobs that come"},
    {"gather", "1", "1: jobs that are spread over switches are moved together where that pays; 0: they are not"},
    {NULL, NULL, NULL},
};

/* As the list: where each stands, and its limits. */
static const struct {
    size_t at;
    double min, max;
} slots[] = {
    {offsetof(struct gain_options, factor), 1, 1e6},      {offsetof(struct gain_options, margin), 1, 1e6},
    {offsetof(struct gain_options, stay), 1, 1e9},        {offsetof(struct gain_options, stay_costs), 0, 1e6},
    {offsetof(struct gain_options, slack), 0, 10},        {offsetof(struct gain_options, ahead), 0, 1e9},
    {offsetof(struct gain_options, efficiency), 0.01, 1}, {offsetof(struct gain_options, marginal), 0, 1},
    {offsetof(struct gain_options, fairness), 0, 1},      {offsetof(struct gain_options, firm), 0, 1},
    {offsetof(struct gain_options, keep), 0, 1},          {offsetof(struct gain_options, gather), 0, 1},
};

/* Policies' `option`. */
static int gain_set_option(void *settings, const char *name, const char *value)
{
    for (size_t i = 0; option_list[i].name; i++) {
        if (strcmp(option_list[i].name, name))
            continue;
        char *end;
        double number = strtod(value, &end);
        if (end == value || *end || value[strspn(value, "0123456789.eE+-")] || !isfinite(number) ||
            number < slots[i].min || number > slots[i].max)
            return -1;
        *(double *)((char *)settings + slots[i].at) = number;
        return 0;
    }
    return -1;
}

static int gain_open(void **settings)
{
    struct gain_options *options = calloc(1, sizeof *options);
    if (!options)
        return -1;
    options->fits = calloc(GAIN_FITS, sizeof *options->fits);
    for (size_t i = 0; option_list[i].name; i++)
        gain_set_option(options, option_list[i].name, option_list[i].value);
    *settings = options;
    return 0;
}

static void gain_close(void *settings)
{
    free(((struct gain_options *)settings)->fits);
    free(settings);
}

/* ---- What comes before all else ----------------------------------------------------------------- */

/*
 * The power cap, phases that are near, and sizes that programs ask for. Resizes for these do not wait until a job has
 * been at its size for long enough.
 */
#define ENDS 3 /* so many times what it takes a job has left, at least, to get what it asks for */

/* Others may give nodes though they have not been at their sizes for long. */
static void move_bound(struct gain_round *round, bool may)
{
    for (int i = 0; i < round->running; i++)
        if (round->jobs[i].bound > 0)
            round->jobs[i].movable = may;
}

static void keep_power_cap(struct gain_round *round)
{
    if (!round->over)
        return;
    move_bound(round, true);
    gain_round_free_nodes(round, round->over, INFINITY, true, "power is above the cap");
    move_bound(round, false);
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
    return least > round->state->node_count - round->state->down || least > round->most;
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
    struct gain_job *made = gain_round_start(round, job, nodes);
    if (made)
        made->held = true;
    return made;
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
    move_bound(round, true);
    bool placed = place_due(round, waiting);
    move_bound(round, false);
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

static void tell_promise(struct gain_round *round)
{
    const epop_policy_job_t *head = round->head;
    if (head && !is_planned(round, head))
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

static void serve_queue(struct gain_round *round)
{
    const epop_policy_state_t *state = round->state;
    int i = 0;
    bool firm = round->options->firm > 0 && state->easy_uses && state->resize_base <= DEAR;
    if (firm && serve_beside_easy(round))
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

/* ---- Idle nodes that nobody waits for ----------------------------------------------------------- */

/*
 * They go to running jobs where that pays, node by node to the job to which a node is worth most: relative speedup by
 * weight.
 */
#define MARGINAL 1e-3 /* speedup that each node has to bring a job that would miss its deadline */
#define SOON     5    /* seconds: a job that comes may wait so long for nodes that others can do without */

/* Seconds that it saves at so many nodes. */
static double seconds_saved(const struct gain_job *job, int nodes)
{
    double left = fmax(0, gain_job_until(job, nodes) - job->latency);
    return left * (1 - job->speed / gain_job_speed(job, nodes));
}

static bool growth_pays(const struct gain_round *round, const struct gain_job *job, int nodes)
{
    return seconds_saved(job, nodes) >= round->options->factor * gain_job_cost(job, round->state, nodes);
}

/* What is left while sizes are looked for. */
struct left {
    int free, extra;
};

/* Behind a promised start only what it leaves may be taken, but by those whose end it waits for. */
static int nodes_left_for(const struct gain_round *round, const struct gain_job *job, const struct left *left)
{
    bool before = !round->blocked || gain_round_fast(job) <= round->shadow;
    return before || left->free < left->extra ? left->free : left->extra;
}

/* The next size, about an eighth more; 0: none within what is free, or it is not worth the nodes. */
static int next_larger(const struct gain_round *round, const struct gain_job *job, const struct left *left)
{
    int to = gain_job_fit(job, job->trial + job->trial / 8);
    if (to <= job->trial)
        to = gain_job_above(job, job->trial);
    if (to > job->job->wanted && gain_job_takes(job, round->state, to) > SOON)
        return 0;
    if (to <= job->trial || to - job->trial > nodes_left_for(round, job, left))
        return 0;
    double speed = gain_job_speed(job, job->trial), brings = gain_job_speed(job, to) - speed;
    bool late = gain_job_haste(job, job->work / speed) > job->weight;
    return brings >= (late ? MARGINAL : round->options->marginal) * (to - job->trial) ? to : 0;
}

static double worth_of_a_node(const struct gain_job *job, int to)
{
    double speed = gain_job_speed(job, job->trial);
    double weight = gain_job_haste(job, job->work / speed);
    return weight * (gain_job_speed(job, to) / speed - 1) / (to - job->trial);
}

static int neediest(const struct gain_round *round, const struct left *left)
{
    int best = -1;
    double most = 0;
    for (int i = 0; i < round->running; i++) {
        const struct gain_job *job = &round->jobs[i];
        int to = job->trial ? next_larger(round, job, left) : 0;
        double value = to ? worth_of_a_node(job, to) : 0;
        if (value > most)
            most = value, best = i;
    }
    return best;
}

static void give_on_trial(struct gain_job *job, int to, struct left *left)
{
    left->free -= to - job->trial;
    left->extra -= to - job->trial;
    job->trial = to;
}

/* The largest size that is worth the nodes, with all that is free. */
static int largest_worth(const struct gain_round *round, struct gain_job *job, struct left left)
{
    job->trial = job->nodes;
    for (int to = next_larger(round, job, &left); to; to = next_larger(round, job, &left))
        give_on_trial(job, to, &left);
    return job->trial;
}

static bool may_grow(const struct gain_round *round, struct gain_job *job, struct left left)
{
    if (!job->movable || job->nodes != job->from)
        return false;
    int most = largest_worth(round, job, left);
    return most > job->nodes && growth_pays(round, job, most);
}

static void settle_growth(struct gain_round *round, struct gain_job *job, int idle)
{
    if (!job->trial || job->trial == job->nodes || !growth_pays(round, job, job->trial))
        return;
    snprintf(job->reason, GAIN_REASON, "%d -> %d: %.2f times %s, %d nodes idle, costs %.2f s of %.0f s left",
             job->nodes, job->trial, gain_job_speed(job, job->trial) / job->speed, gain_job_brings(job), idle,
             gain_job_cost(job, round->state, job->trial), job->job->left);
    round->free -= job->trial - job->nodes;
    round->extra -= job->trial - job->nodes;
    gain_job_set(job, job->trial);
}

/* Others give nodes back for a job that waits, which needs those that are free, too. */
static bool is_collecting(const struct gain_round *round)
{
    return round->firm && round->coming > 0 && round->state->waiting_count > 0;
}

static void grow_jobs(struct gain_round *round)
{
    struct left left = {round->free, round->blocked ? round->extra : round->free};
    if (left.free <= 0 || is_collecting(round))
        return;
    for (int i = 0; i < round->running; i++) {
        struct gain_job *job = &round->jobs[i];
        job->trial = may_grow(round, job, left) ? job->nodes : 0;
    }
    for (int i = neediest(round, &left); i >= 0; i = neediest(round, &left))
        give_on_trial(&round->jobs[i], next_larger(round, &round->jobs[i], &left), &left);
    int idle = round->free;
    for (int i = 0; i < round->running; i++)
        settle_growth(round, &round->jobs[i], idle);
}

/*
 * With weak scaling more nodes than the user wants bring work that nobody asked for, and no earlier end. They are given
 * where nobody waits, after all others, for as much more work as would pay for a growth.
 */
static void grow_work(struct gain_round *round)
{
    bool any = false;
    if (round->state->waiting_count > 0)
        return;
    for (int i = 0; i < round->running; i++) {
        struct gain_job *job = &round->jobs[i];
        if (!job->job->weak || !job->movable || job->nodes != job->from)
            continue;
        job->useful = INT_MAX;
        gain_job_set(job, job->nodes);
        any = true;
    }
    if (any)
        grow_jobs(round);
}

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
    if (is_collecting(round))
        return;
    for (int i = 0; i < round->running && epop_plan_idle(round->plan) > 0; i++) {
        struct gain_job *job = &round->jobs[i];
        if (job->movable && job->nodes == job->from && job->job->leaves > 1)
            move_job(round, job);
    }
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
    return job->bound > 0 && (round->blocked || grows) ? job->bound : INFINITY;
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

/* Those that start first: in the order of the queue. */
static void write_plan(const struct gain_round *round)
{
    for (int i = round->running; i < round->count; i++)
        write_job(round, &round->jobs[i]);
    for (int i = 0; i < round->running; i++)
        write_job(round, &round->jobs[i]);
    set_wake(round);
}

/* ---- The policy --------------------------------------------------------------------------------- */

static int gain_follows_easy(const void *settings)
{
    return ((const struct gain_options *)settings)->firm > 0;
}

static void gain_decide(const void *settings, const epop_policy_state_t *state, epop_plan_t *plan)
{
    struct gain_round round;
    if (gain_round_begin(&round, settings, state, plan))
        return;
    keep_power_cap(&round);
    prepare_phases(&round);
    serve_wishes(&round);
    serve_queue(&round);
    grow_jobs(&round);
    grow_work(&round);
    write_plan(&round);
    move_jobs(&round);
    gain_round_end(&round);
}

const epop_policy_t policy_gain = {
    .abi_version = EPOP_POLICY_ABI_VERSION,
    .struct_size = sizeof policy_gain,
    .name = "gain",
    .summary = "a node goes where it brings most: first to jobs that wait, then to running ones",
    .options = option_list,
    .open = gain_open,
    .option = gain_set_option,
    .decide = gain_decide,
    .close = gain_close,
    .follows_easy = gain_follows_easy,
};
