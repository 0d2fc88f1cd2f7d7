/* The working set of one decision of the policy `gain`: the nodes that are left, and the room that is made for jobs. */
#include "scheduler/policies/gain_round.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "scheduler/policies/gain_model.h"

/* ---- The power cap ------------------------------------------------------------------------------ */

static double extra_of(const epop_policy_node_t *node)
{
    return node->busy_watts > node->idle_watts ? node->busy_watts - node->idle_watts : 0;
}

/* Nodes that have to be given back, whichever they are. That none too many are taken the state sees to. */
static int nodes_over_cap(const epop_policy_state_t *state)
{
    double used = 0, least = INFINITY;
    if (state->power_cap <= 0)
        return 0;
    for (int i = 0; i < state->node_count; i++) {
        const epop_policy_node_t *node = &state->nodes[i];
        if (node->state == EPOP_NODE_DOWN)
            continue;
        used += node->state == EPOP_NODE_BUSY ? node->busy_watts : node->idle_watts;
        if (node->state == EPOP_NODE_BUSY && extra_of(node) > 0)
            least = fmin(least, extra_of(node));
    }
    double over = used - state->power_cap;
    return over > 0 && isfinite(least) ? (int)fmin(state->node_count, ceil(over / least - 1e-9)) : 0;
}

/* Sets the nodes that are free, those that come, and those over the cap. */
static void count_nodes(struct gain_round *round)
{
    int coming = round->state->coming - nodes_over_cap(round->state);
    round->free = round->state->idle;
    round->coming = coming > 0 ? coming : 0;
    round->over = coming < 0 ? -coming : 0;
}

/* ---- Fairness among users ----------------------------------------------------------------------- */

/* Nodes held by each user, of whom there may be many: sorted once for a decision. */
struct user {
    int user, nodes;
};

static int by_user(const void *a, const void *b)
{
    const struct user *x = a, *y = b;
    return (x->user > y->user) - (x->user < y->user);
}

/* One entry for each user; the number of them. */
static int merge_users(struct user *users, int count)
{
    int last = 0;
    qsort(users, (size_t)count, sizeof *users, by_user);
    for (int i = 1; i < count; i++)
        if (users[i].user == users[last].user)
            users[last].nodes += users[i].nodes;
        else
            users[++last] = users[i];
    return count ? last + 1 : 0;
}

static void weigh_jobs(struct gain_round *round, const struct user *users, int count, int held)
{
    for (int i = 0; i < round->count; i++) {
        struct user key = {.user = round->jobs[i].job->user};
        const struct user *user = bsearch(&key, users, (size_t)count, sizeof *users, by_user);
        double share = user ? (double)user->nodes * count / held : 0;
        if (share > 1)
            round->jobs[i].weight *= pow(share, -round->options->fairness);
    }
}

/* Where accounts have shares it is not what users hold now that counts, but what their accounts have used. */
static void weigh_accounts(struct gain_round *round)
{
    for (int i = 0; i < round->count; i++)
        if (round->jobs[i].job->usage > 1)
            round->jobs[i].weight *= pow(round->jobs[i].job->usage, -round->options->fairness);
}

/* Lowers the weights of the jobs whose users hold more than their share. */
static void weigh_users(struct gain_round *round)
{
    if (round->options->fairness <= 0 || round->count < 2)
        return;
    if (round->jobs->job->account) {
        weigh_accounts(round);
        return;
    }
    struct user *users = calloc((size_t)round->count, sizeof *users);
    if (!users)
        return;
    int held = 0;
    for (int i = 0; i < round->count; i++) {
        users[i] = (struct user){round->jobs[i].job->user, round->jobs[i].nodes};
        held += round->jobs[i].nodes;
    }
    int count = merge_users(users, round->count);
    if (count > 1 && held > 0)
        weigh_jobs(round, users, count, held);
    free(users);
}

/* ---- The beginning, and starts ------------------------------------------------------------------ */

#define EFFORT 250000

/* A node that is held for a second keeps all that wait, each by its weight, from that part of the machine. */
static double price_of(const epop_policy_state_t *state)
{
    double waiting = 0;
    for (int i = 0; i < state->waiting_count; i++)
        waiting += gain_job_weight(state->waiting[i]);
    int up = state->node_count - state->down;
    return up > 0 ? waiting / up : 0;
}

/* When the decision was taken is not known: the whole of latency and stall. */
static double back_in(const struct gain_round *round)
{
    double back = 0;
    for (int i = 0; i < round->running; i++) {
        const struct gain_job *job = &round->jobs[i];
        if (job->job->state == EPOP_POLICY_ADAPTS && job->nodes < job->from)
            back = fmax(back, gain_job_takes(job, round->state, job->nodes));
    }
    return back;
}

int gain_round_begin(struct gain_round *round, const struct gain_options *options, const epop_policy_state_t *state,
                     epop_plan_t *plan)
{
    *round = (struct gain_round){.options = options, .state = state, .plan = plan, .shadow = INFINITY, .promises = -1};
    round->room = state->running_count + 64;
    round->jobs = malloc((size_t)round->room * sizeof *round->jobs);
    round->steps = malloc((size_t)round->room * sizeof *round->steps);
    if (!round->jobs || !round->steps) {
        gain_round_end(round);
        return -1;
    }
    for (int i = 0; i < state->running_count; i++)
        round->jobs[i] = gain_job_of(state->running[i], state, options);
    round->count = round->running = state->running_count;
    round->back = back_in(round);
    count_nodes(round);
    round->effort = EFFORT;
    round->price = price_of(state);
    weigh_users(round);
    return 0;
}

void gain_round_end(struct gain_round *round)
{
    free(round->jobs);
    free(round->steps);
    gain_line_free(&round->ends[0]);
    gain_line_free(&round->ends[1]);
    gain_line_free(&round->spares);
}

static bool enlarge_round(struct gain_round *round)
{
    size_t room = 2 * (size_t)round->room;
    struct gain_job *jobs = realloc(round->jobs, room * sizeof *jobs);
    if (!jobs)
        return false;
    round->jobs = jobs;
    struct gain_step *steps = realloc(round->steps, room * sizeof *steps);
    if (!steps)
        return false;
    round->steps = steps;
    round->room = (int)room;
    return true;
}

void gain_round_move_bound(struct gain_round *round, bool may)
{
    for (int i = 0; i < round->running; i++)
        if (round->jobs[i].bound > 0)
            round->jobs[i].movable = may;
}

bool gain_round_is_collecting(const struct gain_round *round)
{
    return round->firm && round->coming > 0 && round->state->waiting_count > 0;
}

/* ---- When nodes are free ------------------------------------------------------------------------ */

#define MORE 16 /* changes: one is added before another is taken back */

/* Its size does not change it. */
static bool ends_as_told(const struct gain_job *job)
{
    return job->from && job->job->weak && job->job->left >= 0;
}

/* As it is told, to the last bit, where the plan does not change it: so does `easy`. */
static double seconds_to_end(const struct gain_job *job)
{
    if (ends_as_told(job) || (job->from && job->nodes == job->from && job->job->left >= 0))
        return job->job->left;
    return job->work / job->speed + (job->held ? job->latency : 0);
}

/* Whatever its speedup is. */
static double seconds_to_end_at_most(const struct gain_job *job)
{
    return seconds_to_end(job) * (job->from && !ends_as_told(job) ? gain_job_slower(job, job->nodes) : 1);
}

/* Likewise with so many nodes, which are fewer. */
static double seconds_at_most(const struct gain_job *job, int nodes)
{
    if (ends_as_told(job))
        return seconds_to_end(job);
    return fmax(gain_job_seconds(job, nodes), seconds_to_end_at_most(job) * job->nodes / nodes);
}

double gain_round_fast(const struct gain_job *job)
{
    double seconds = seconds_to_end(job);
    return ends_as_told(job) || !gain_job_grows(job->job) || job->top < 1
               ? seconds
               : fmin(seconds, gain_job_seconds(job, job->top));
}

/* Nodes that an adapting job gives back are among those that come: its end gives the others. */
static void add_end(struct gain_round *round, bool fast, const struct gain_job *job, int times)
{
    double end = fast ? gain_round_fast(job) : seconds_to_end(job);
    gain_line_add(&round->ends[fast], end, INFINITY, (struct gain_point){.nodes = job->nodes}, times);
}

static bool list_ends(struct gain_round *round, bool fast)
{
    if (gain_line_begin(&round->ends[fast], round->count + round->state->waiting_count + MORE))
        return false;
    for (int i = 0; i < round->count; i++)
        add_end(round, fast, &round->jobs[i], 1);
    gain_line_sum(&round->ends[fast]);
    return true;
}

static double when_free(struct gain_round *round, int nodes, bool fast, int *extra)
{
    const struct gain_line *line = &round->ends[fast];
    int there = round->free + round->coming, i = 0;
    if (!line->points && !list_ends(round, fast))
        return INFINITY;
    while (i + 1 < line->count && there + line->points[i].nodes < nodes)
        i++;
    there += line->points[i].nodes;
    if (extra)
        *extra = there < nodes ? there : there - nodes;
    return there < nodes ? INFINITY : line->points[i].time;
}

double gain_round_when(struct gain_round *round, int nodes, int *extra)
{
    return when_free(round, nodes, false, extra);
}

/* All that runs, on the whole machine. */
static double seconds_to_drain(const struct gain_round *round)
{
    double area = 0;
    int up = round->state->node_count - round->state->down;
    for (int i = 0; i < round->count; i++)
        area += round->jobs[i].nodes * round->jobs[i].work / round->jobs[i].speed;
    return up > 0 ? area / up : INFINITY;
}

double gain_round_soon(struct gain_round *round, int nodes, int *extra)
{
    double now = when_free(round, nodes, false, extra);
    int left;
    double fast = when_free(round, nodes, true, &left);
    if (!(fast < now))
        return now;
    if (extra)
        *extra = left;
    return fmin(now, fmax(fast, seconds_to_drain(round)));
}

/* ---- Beside the schedule of EASY backfilling ---------------------------------------------------- */

#define ROUNDED 1e-3 /* seconds: sums of times are rounded */

/* What it cannot give back before its end. */
static int fixed_nodes(const struct gain_job *job, int nodes)
{
    int least = gain_job_grows(job->job) ? job->least : nodes;
    return least > 0 && least < nodes ? least : nodes;
}

static bool is_made(const struct gain_round *round, const epop_policy_job_t *job)
{
    if (!job || job->state != EPOP_POLICY_WAITS)
        return true;
    for (int i = round->running; i < round->count; i++)
        if (round->jobs[i].job == job)
            return true;
    return false;
}

/* When it is to start, as it was told or is now; infinite: it was promised nothing. */
static double promised_at(const struct gain_round *round, const epop_policy_job_t *job)
{
    if (job == round->head)
        return round->head_at;
    return job->reserved < 0 ? INFINITY : fmax(job->reserved, round->state->now);
}

/* Of EASY's schedule, of what runs here or has, or of what waits. */
static void add_use(struct gain_round *round, const epop_policy_use_t *use)
{
    struct gain_point more = {.idle = -use->nodes, .nodes = is_made(round, use->job) ? use->nodes : 0};
    gain_line_add(&round->spares, use->begin - round->state->now, use->end - round->state->now, more, 1);
}

/* Of a job that waits, if there is one. */
static void add_promise(struct gain_round *round, const epop_policy_job_t *job, int times)
{
    double at = promised_at(round, job) - round->state->now;
    if (isfinite(at))
        gain_line_add(&round->spares, at, at + job->limit, (struct gain_point){.room = -job->wanted}, times);
}

static void add_job(struct gain_round *round, const struct gain_job *job, int nodes, int times)
{
    int fixed = fixed_nodes(job, nodes);
    double end = nodes == job->nodes ? seconds_to_end_at_most(job) : seconds_at_most(job, nodes);
    if (job->from && nodes < job->nodes)
        end += gain_job_takes(job, round->state, nodes);
    gain_line_add(&round->spares, 0, end, (struct gain_point){.nodes = -fixed, .room = -fixed}, times);
}

/* One that waits has started: what EASY's schedule gives it is its own, and what it was promised is done. */
static void add_start(struct gain_round *round, const epop_policy_job_t *job, int times)
{
    const epop_policy_state_t *state = round->state;
    for (int i = 0; i < state->easy_count; i++) {
        const epop_policy_use_t *use = &state->easy_uses[i];
        if (use->job == job)
            gain_line_add(&round->spares, use->begin - state->now, use->end - state->now,
                          (struct gain_point){.nodes = use->nodes}, times);
    }
    add_promise(round, job, -times);
}

/* Of an odd number of idle nodes less than the half is kept, of a single one nothing. */
static void add_idle(struct gain_round *round)
{
    for (int i = 0; i < round->spares.count; i++) {
        struct gain_point *at = &round->spares.points[i];
        at->nodes += at->idle - (at->idle > 0 ? (int)(round->options->keep * at->idle) : 0);
    }
}

static bool find_spares(struct gain_round *round)
{
    const epop_policy_state_t *state = round->state;
    if (gain_line_begin(&round->spares, 2 * (state->easy_count + round->running + 2 * state->waiting_count) + MORE))
        return false;
    gain_line_add(&round->spares, 0, INFINITY, (struct gain_point){.idle = state->usable, .room = state->usable}, 1);
    for (int i = 0; i < state->easy_count; i++)
        add_use(round, &state->easy_uses[i]);
    for (int i = 0; i < state->waiting_count; i++)
        if (!is_made(round, state->waiting[i]))
            add_promise(round, state->waiting[i], 1);
    for (int i = 0; i < round->count; i++)
        add_job(round, &round->jobs[i], round->jobs[i].nodes, 1);
    gain_line_sum(&round->spares);
    add_idle(round);
    return true;
}

static bool has_spares(struct gain_round *round)
{
    return round->spares.points || find_spares(round);
}

static void count_promises(struct gain_round *round)
{
    round->promises = 0;
    for (int i = 0; i < round->state->waiting_count; i++) {
        const epop_policy_job_t *job = round->state->waiting[i];
        round->promises += isfinite(promised_at(round, job)) && !is_made(round, job);
    }
}

bool gain_round_has_promised(struct gain_round *round)
{
    if (round->promises < 0)
        count_promises(round);
    return round->promises > 0;
}

/* Nodes for some time: seconds from now. */
struct gain_own {
    double begin, end;
    int nodes;
};

/* The job's own: what it has under EASY backfilling, or what it was promised. */
static struct gain_own own_nodes(const struct gain_round *round, const epop_policy_job_t *job, bool spare)
{
    if (!job)
        return (struct gain_own){INFINITY, INFINITY, 0};
    double begin = spare ? job->easy_start : promised_at(round, job);
    double end = spare ? job->easy_end : begin + job->limit;
    return (struct gain_own){begin - round->state->now, end - round->state->now, job->wanted};
}

/* The nodes are there from `begin` to `end`, of what is spare or else beside what was promised. `job`: NULL, or one
 * that waits. */
static bool is_there(struct gain_round *round, const epop_policy_job_t *job, bool spare, double begin, double end,
                     int nodes)
{
    const struct gain_line *line = &round->spares;
    if (!has_spares(round))
        return false;
    struct gain_own own = own_nodes(round, job, spare);
    for (int i = gain_line_at(line, begin + ROUNDED); i < line->count && line->points[i].time < end - ROUNDED; i++) {
        const struct gain_point *at = &line->points[i];
        int there = spare ? at->nodes : at->room;
        if (there >= nodes)
            continue;
        double until = i + 1 < line->count ? at[1].time : INFINITY;
        there += at->time >= own.begin && at->time < own.end ? own.nodes : 0;
        if (there < nodes && until > at->time + ROUNDED && until > begin + ROUNDED)
            return false;
    }
    return true;
}

bool gain_round_in_room(struct gain_round *round, const struct gain_job *job, int nodes)
{
    return is_there(round, job->job, false, 0, gain_job_seconds(job, nodes), fixed_nodes(job, nodes));
}

bool gain_round_safe(struct gain_round *round, const struct gain_job *job, int nodes)
{
    bool spare = !round->firm || round->behind ||
                 is_there(round, job->job, true, 0, gain_job_seconds(job, nodes), fixed_nodes(job, nodes));
    return spare && (!round->firm || gain_round_in_room(round, job, nodes));
}

double gain_round_promise(struct gain_round *round, const epop_policy_job_t *job)
{
    const struct gain_line *line = &round->spares;
    double at = fmax(0, job->easy_start - round->state->now);
    if (!has_spares(round))
        return INFINITY;
    for (int i = 0; !is_there(round, job, false, at, at + job->limit, job->wanted); i++) {
        while (i < line->count && line->points[i].time <= at)
            i++;
        if (i >= line->count)
            return INFINITY;
        at = line->points[i].time;
    }
    if (round->state->now + at >= promised_at(round, job))
        return INFINITY;
    add_promise(round, job, -1);
    round->head = job;
    round->head_at = round->state->now + at;
    round->promises = -1;
    add_promise(round, job, 1);
    return at;
}

/* Those on trial have their sizes, and `starts` has started; or no longer. */
static void add_trials(struct gain_round *round, const struct gain_job *starts, int nodes, int times)
{
    for (int i = 0; i < round->count; i++) {
        const struct gain_job *job = &round->jobs[i];
        if (job->trial == job->nodes)
            continue;
        add_job(round, job, job->nodes, -times);
        add_job(round, job, job->trial, times);
    }
    add_job(round, starts, nodes, times);
    add_start(round, starts->job, times);
}

/* After all that is on trial, and with `job` at so many nodes, what was promised still is there. */
static bool holds_promises(struct gain_round *round, const struct gain_job *job, int nodes)
{
    const struct gain_line *line = &round->spares;
    bool holds = true;
    if (!gain_round_has_promised(round))
        return true;
    if (!has_spares(round))
        return false;
    add_trials(round, job, nodes, 1);
    for (int i = 0; holds && i < line->count; i++)
        if (i + 1 == line->count || line->points[i + 1].time > line->points[i].time + ROUNDED)
            holds = line->points[i].room >= 0;
    add_trials(round, job, nodes, -1);
    return holds;
}

/* ---- Jobs get their sizes ----------------------------------------------------------------------- */

/* All that is known of when nodes are free has the job at its size; or no longer. */
static void add_to_lines(struct gain_round *round, const struct gain_job *job, int times)
{
    add_end(round, false, job, times);
    add_end(round, true, job, times);
    add_job(round, job, job->nodes, times);
}

/* A job of the round. */
static void set_size(struct gain_round *round, struct gain_job *job, int nodes)
{
    add_to_lines(round, job, -1);
    gain_job_set(job, nodes);
    add_to_lines(round, job, 1);
}

struct gain_job *gain_round_start(struct gain_round *round, const struct gain_job *job, int nodes)
{
    if (round->count == round->room && !enlarge_round(round))
        return NULL;
    struct gain_job *made = &round->jobs[round->count++];
    *made = *job;
    made->from = 0;
    gain_job_set(made, nodes);
    add_to_lines(round, made, 1);
    add_start(round, made->job, 1);
    round->promises = -1;
    return made;
}

/* What shrinks ends later. */
static bool may_end_later(struct gain_round *round, const struct gain_job *job, int to)
{
    if (!gain_round_has_promised(round))
        return true;
    double cost = job->from ? gain_job_takes(job, round->state, to) : 0;
    double end = cost + seconds_at_most(job, to);
    return is_there(round, NULL, false, seconds_to_end_at_most(job), end, fixed_nodes(job, to));
}

/* ---- Room for a job ----------------------------------------------------------------------------- */

/*
 * Each size that the job could have is weighed: its own delay, that of the jobs which give nodes for it, and what the
 * nodes that all of them hold are worth to those that wait (the round's price). All costs are weighted seconds.
 */
#define SIZES 12
#define WORTH 0.8
#define ENDS  3 /* so many times what a shrink takes a donor has left, at least */

struct offer {
    int nodes;
    int needed;    /* of others */
    double during; /* seconds that it takes */
    bool past;     /* it may run into the promised start */
    double cost;
    double done; /* seconds until it ends */
};

static bool is_donor(const struct gain_job *job)
{
    return job->movable || (!job->from && gain_job_grows(job->job));
}

/* Before a promised start a donor that ends later than it gives freely: it holds no more nodes then than before. One
 * that ends before may be delayed up to the deadline, for a job that ends before, too. */
static bool may_give(struct gain_round *round, const struct gain_job *job, int to, bool past)
{
    if (round->firm && !may_end_later(round, job, to))
        return false;
    if (!round->blocked || gain_round_fast(job) > round->shadow)
        return true;
    double cost = job->from ? gain_job_takes(job, round->state, to) : 0;
    return !past && cost + gain_job_seconds(job, to) <= round->deadline;
}

/* Its end gives all nodes, and as soon. */
static bool ends_first(const struct gain_round *round, const struct gain_job *job, const struct offer *offer, int to)
{
    double times = isfinite(offer->during) ? ENDS : 1;
    return job->from && job->work / job->speed <= times * gain_job_takes(job, round->state, to);
}

/* What it loses when it has `to` nodes for so long: seconds, less the node-seconds that it saves. */
static double loss_of(const struct gain_round *round, const struct gain_job *job, int to, double during)
{
    double speed = gain_job_speed(job, to), left = job->work / job->speed;
    double slow = during * (1 - speed / job->speed);
    double late = job->work / speed - left;
    double delay = fmin(slow, late);
    double saved =
        slow < late ? during * (job->nodes - to) - job->nodes * delay : job->nodes * left - to * (left + late);
    if (job->from && job->nodes == job->from)
        delay += 2 * gain_job_cost(job, round->state, to);
    return gain_job_haste(job, left + delay) * delay - round->price * saved;
}

/* The next smaller size of a donor, about a quarter less at most; 0: it has none. Beside promises to the last node. */
static int next_smaller(const struct gain_round *round, const struct gain_job *job, int needed)
{
    int step = job->trial / 4 > 1 ? job->trial / 4 : 1;
    int to = gain_job_fit(job, job->trial - (step < needed ? step : needed));
    if (to > 0 || !round->firm)
        return to;
    return job->least < job->trial ? job->least : to;
}

/* What a donor could give next. */
static struct gain_step step_of(struct gain_round *round, int index, int needed, const struct offer *offer)
{
    const struct gain_job *job = &round->jobs[index];
    struct gain_step step = {.job = index, .to = next_smaller(round, job, needed), .asked = needed, .price = INFINITY};
    if (step.to <= 0 || !may_give(round, job, step.to, offer->past) || ends_first(round, job, offer, step.to))
        return step;
    step.loss = loss_of(round, job, step.to, offer->during);
    if (job->trial != job->nodes)
        step.loss -= loss_of(round, job, job->trial, offer->during);
    step.price = step.loss / (job->trial - step.to);
    return step;
}

static bool is_cheaper(const struct gain_step *step, const struct gain_step *other)
{
    return step->price < other->price || (step->price == other->price && step->job < other->job);
}

/* The steps are a heap: the cheapest one is the first. */
static void sink_step(struct gain_step *steps, int count, int at)
{
    struct gain_step step = steps[at];
    for (int child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && is_cheaper(&steps[child + 1], &steps[child]))
            child++;
        if (!is_cheaper(&steps[child], &step))
            break;
        steps[at] = steps[child];
        at = child;
    }
    steps[at] = step;
}

/* Those that there are, and their number. */
static int list_steps(struct gain_round *round, const struct offer *offer)
{
    int count = 0;
    for (int i = 0; i < round->count; i++) {
        round->jobs[i].trial = round->jobs[i].nodes;
        if (offer->needed > 0 && is_donor(&round->jobs[i])) {
            round->steps[count] = step_of(round, i, offer->needed, offer);
            count += isfinite(round->steps[count].price) ? 1 : 0;
        }
    }
    for (int i = count / 2 - 1; i >= 0; i--)
        sink_step(round->steps, count, i);
    round->effort -= round->count;
    return count;
}

/* Sets the trials so that the nodes are given. What the others lose; infinite: it cannot be. */
static double collect_nodes(struct gain_round *round, const struct offer *offer)
{
    double loss = 0;
    int count = list_steps(round, offer), needed = offer->needed;
    while (needed > 0) {
        struct gain_step *step = round->steps;
        if (!count || !isfinite(step->price))
            return INFINITY;
        struct gain_job *job = &round->jobs[step->job];
        if (job->trial - step->to <= needed || step->asked == needed) {
            loss += step->loss;
            needed -= job->trial - step->to;
            job->trial = step->to;
        }
        if (needed > 0)
            *step = step_of(round, step->job, needed, offer);
        sink_step(round->steps, count, 0);
    }
    return loss;
}

/* Nodes that starts of this plan give up: they are there at once. */
static int spared_now(const struct gain_round *round)
{
    int spared = 0;
    for (int i = round->running; i < round->count; i++)
        if (!round->jobs[i].held)
            spared += round->jobs[i].nodes - round->jobs[i].trial;
    return spared;
}

/* Nodes that nobody has to give: one that runs into a promised start may have what that leaves. */
static int nodes_not_given(const struct gain_round *round, bool past)
{
    int there = round->free + round->coming;
    return past && there > round->extra ? round->extra : there;
}

static double cost_of(const struct gain_round *round, const struct gain_job *job, int nodes, double done)
{
    return gain_job_haste(job, done) * done + round->price * nodes * gain_job_seconds(job, nodes);
}

/* Until the nodes are there. */
static double wait_for(const struct gain_round *round, const struct gain_job *job, int nodes)
{
    if (nodes <= round->free + spared_now(round))
        return 0;
    double wait = fmax(job->latency, round->back);
    for (int i = 0; i < round->running; i++)
        if (round->jobs[i].trial < round->jobs[i].nodes)
            wait = fmax(wait, gain_job_takes(&round->jobs[i], round->state, round->jobs[i].trial));
    return wait;
}

/* What it stands still for when it grows later, if that will pay. */
static double stall_of_growth(const struct gain_round *round, const struct gain_job *job, int nodes)
{
    if (nodes >= job->top || !gain_job_grows(job->job))
        return 0;
    double saves = gain_job_seconds(job, nodes) - gain_job_seconds(job, job->top);
    double cost = gain_resize_stall(job, round->state, nodes, job->top);
    return saves >= round->options->factor * cost ? cost : 0;
}

/* All donors together give no more. */
static int most_given(const struct gain_round *round)
{
    int most = 0;
    for (int i = 0; i < round->count; i++)
        if (is_donor(&round->jobs[i]) && round->jobs[i].nodes > round->jobs[i].least)
            most += round->jobs[i].nodes - round->jobs[i].least;
    return most;
}

static struct offer weigh_size(struct gain_round *round, const struct gain_job *job, int nodes, int most)
{
    struct offer offer = {.nodes = nodes, .during = gain_job_seconds(job, nodes)};
    offer.past = round->blocked && job->latency + gain_job_at_most(job, nodes) > round->shadow;
    offer.needed = nodes - nodes_not_given(round, offer.past);
    offer.cost = INFINITY;
    if (offer.needed > most || !gain_round_safe(round, job, nodes)) {
        round->effort -= round->count;
        return offer;
    }
    double loss = collect_nodes(round, &offer);
    double stall = stall_of_growth(round, job, nodes);
    offer.done = wait_for(round, job, nodes) + offer.during + stall;
    offer.cost = cost_of(round, job, nodes, offer.done);
    offer.cost += loss > 0 ? round->options->margin * loss : loss;
    return offer;
}

/* When it is done if nobody is resized for it. */
static double end_without_room(struct gain_round *round, const struct gain_job *job)
{
    bool grows = gain_job_grows(job->job) || job->job->kind == EPOP_RIGID;
    double wait = grows ? gain_round_when(round, job->top, NULL) : gain_round_soon(round, job->top, NULL);
    if (round->blocked)
        wait = fmax(wait, round->shadow);
    if (round->firm)
        wait = fmin(wait, fmax(0, job->job->easy_start - round->state->now));
    return wait + gain_job_seconds(job, job->top);
}

/* From the wanted size down to the smallest. */
static int sizes_of(const struct gain_job *job, int there, int sizes[SIZES])
{
    int count = 0, wanted = job->top;
    sizes[count++] = wanted;
    if (!gain_job_flexible(job->job))
        return count;
    int all = gain_job_fit(job, there < wanted ? there : wanted);
    if (all > 0 && all < wanted)
        sizes[count++] = all;
    for (int size = gain_job_fit(job, wanted * 3 / 4); size > 0 && count < SIZES;
         size = gain_job_fit(job, size * 2 / 3))
        sizes[count++] = size;
    return count;
}

/* From so many nodes; not if all that it could have is one size far above. */
static bool can_grow(const struct gain_job *job, int nodes)
{
    int next = gain_job_above(job, nodes);
    return gain_job_grows(job->job) && next > 0 && (next < job->top || job->top <= 2 * nodes);
}

/* A job that cannot grow waits, unless it is done earlier with fewer nodes. */
static bool is_possible(const struct gain_job *job, const struct offer *offer, double done)
{
    return offer->nodes == job->top || can_grow(job, offer->nodes) || offer->done <= WORTH * done;
}

/* The cheapest one. */
static struct offer best_offer(struct gain_round *round, const struct gain_job *job, double done)
{
    int sizes[SIZES], count = sizes_of(job, round->free, sizes), most = most_given(round);
    struct offer best = {.cost = INFINITY};
    for (int i = 0; i < count; i++) {
        struct offer offer = weigh_size(round, job, sizes[i], most);
        if (is_possible(job, &offer, done) && offer.cost < best.cost)
            best = offer;
    }
    return best;
}

static void explain_shrink(const struct gain_round *round, struct gain_job *donor, const char *why)
{
    snprintf(donor->reason, GAIN_REASON, "%d -> %d: %s; %.2f times %s, costs %.2f s of %.0f s left", donor->from,
             donor->trial, why, gain_speedup(&donor->model, donor->trial) / gain_speedup(&donor->model, donor->from),
             gain_job_brings(donor), gain_job_cost(donor, round->state, donor->trial), gain_job_left(donor->job));
}

static void take_trials(struct gain_round *round, const char *why, int *now, int *later)
{
    for (int i = 0; i < round->count; i++) {
        struct gain_job *donor = &round->jobs[i];
        int given = donor->nodes - donor->trial;
        if (given <= 0)
            continue;
        *(donor->from || donor->held ? later : now) += given;
        round->extra += round->blocked && gain_round_fast(donor) > round->shadow ? given : 0;
        if (donor->from)
            explain_shrink(round, donor, why);
        set_size(round, donor, donor->trial);
    }
}

static bool settle_offer(struct gain_round *round, struct gain_job *job, const struct offer *offer)
{
    int now = round->free, later = round->coming;
    collect_nodes(round, offer);
    if (round->firm && !holds_promises(round, job, offer->nodes))
        return false;
    char why[64];
    snprintf(why, sizeof why, "makes room for job %lld", (long long)job->job->id);
    take_trials(round, why, &now, &later);
    job->held = offer->nodes > now;
    struct gain_job *made = gain_round_start(round, job, offer->nodes);
    if (!made)
        return false;
    round->free = made->held ? 0 : now - offer->nodes;
    round->coming = made->held ? now + later - offer->nodes : later;
    if (offer->past)
        round->extra -= offer->nodes;
    made->why = round->blocked ? "room behind the first of the queue" : "its turn";
    return true;
}

bool gain_round_make_room(struct gain_round *round, struct gain_job *job)
{
    if (round->effort <= 0)
        return false;
    double done = end_without_room(round, job);
    struct offer best = best_offer(round, job, done);
    if (!isfinite(best.cost) || best.cost > cost_of(round, job, job->top, done))
        return false;
    return settle_offer(round, job, &best);
}

bool gain_round_free_nodes(struct gain_round *round, int nodes, double worth, bool some, const char *why)
{
    struct offer offer = {.needed = nodes, .during = INFINITY};
    int given = 0;
    double loss = collect_nodes(round, &offer);
    bool all = isfinite(loss) && loss <= worth && (!round->due || holds_promises(round, round->due, round->due->nodes));
    if (!all && !some)
        return false;
    take_trials(round, why, &given, &given);
    round->coming += given > nodes ? given - nodes : 0;
    return all;
}
