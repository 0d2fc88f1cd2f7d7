/* The scheduler core: what the site tells becomes the state, and what the policy plans becomes decisions and the state.
 */
#include "scheduler/core/core.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "scheduler/core/job.h"
#include "scheduler/core/nodes.h"
#include "scheduler/core/plan.h"
#include "scheduler/core/policy.h"
#include "scheduler/core/text.h"
#include "scheduler/core/yardstick.h"

/* ---- The state ---------------------------------------------------------------------------------- */

struct core {
    struct nodes nodes;
    struct jobs jobs;
    struct job_queue running, waiting; /* by start; by turn */
    struct shares shares;
    double counted;    /* until then all that was used was counted before */
    double hopeless;   /* until then all that wait can meet the deadlines that they could meet; infinite: none can */
    bool reorders;     /* what has been promised keeps its place, as there are shares, or a deadline has come */
    uint64_t promises; /* so far, since then */
    double now;        /* of the last call that said one */
    epop_policy_state_t view;
    struct epop_plan plan;
    int *chosen; /* what the last plan took, and will give back */
    size_t chosen_room;
    bool flexible;         /* a job has come that is not rigid: until then a policy is held against nothing */
    bool follows;          /* and the policy wants to be */
    struct yardstick easy; /* from then on */
};

static int by_turn(const epop_policy_job_t *one, const epop_policy_job_t *other)
{
    struct turn a = job_turn((const struct job *)one), b = job_turn((const struct job *)other);
    return turn_compare(&a, &b);
}

static int by_start(const epop_policy_job_t *one, const epop_policy_job_t *other)
{
    return (one->started > other->started) - (one->started < other->started);
}

struct core *core_create(int nodes, const struct core_costs *costs, double power_cap)
{
    struct core *core = calloc(1, sizeof *core);
    if (!core || nodes_init(&core->nodes, nodes)) {
        free(core);
        return NULL;
    }
    core->running.order = by_start;
    core->waiting.order = by_turn;
    core->now = -INFINITY;
    core->hopeless = INFINITY;
    core->view = (epop_policy_state_t){.nodes = core->nodes.items,
                                       .node_count = nodes,
                                       .resize_base = costs->base,
                                       .resize_per_node = costs->per_node,
                                       .resize_per_byte = costs->per_byte,
                                       .power_cap = power_cap};
    return core;
}

void core_destroy(struct core *core)
{
    if (!core)
        return;
    plan_free(&core->plan);
    job_queue_free(&core->running);
    job_queue_free(&core->waiting);
    jobs_free(&core->jobs);
    shares_free(&core->shares);
    nodes_free(&core->nodes);
    yardstick_free(&core->easy);
    free(core->chosen);
    free(core);
}

void core_set_watts(struct core *core, int node, double idle, double busy)
{
    core->nodes.items[node].idle_watts = idle;
    core->nodes.items[node].busy_watts = busy;
}

int core_set_topology(struct core *core, const struct topology *topology, double spread_cost)
{
    if (nodes_set_topology(&core->nodes, topology))
        return -1;
    core->view.switches = topology->switches;
    core->view.switch_count = topology->count;
    core->view.spread_cost = spread_cost;
    return 0;
}

int core_set_speed(struct core *core, int node, double speed)
{
    return nodes_set_speed(&core->nodes, node, speed);
}

int core_set_shares(struct core *core, const struct shares *shares)
{
    core->counted = shares->as_of;
    core->reorders = true;
    return shares_copy(&core->shares, shares);
}

static bool has_shares(const struct core *core)
{
    return core->shares.other > 0;
}

const struct shares *core_shares(const struct core *core)
{
    return &core->shares;
}

/* ---- Time and turns ----------------------------------------------------------------------------- */

/* -1: it lies before what was said last, or is no number. */
static int check_time(const struct core *core, double now, struct error *error)
{
    if (isfinite(now) && now >= core->now)
        return 0;
    return error_set(error, ERROR_FAILED, "time goes from %.6f back to %.6f", core->now, now);
}

/* Before who holds what changes. */
static void pass_time(struct core *core, double now)
{
    core->now = now;
    if (has_shares(core))
        shares_pass(&core->shares, now);
}

/* The job has these idle nodes from now on; or no longer these. */
static void take_nodes(struct core *core, const struct job *job, const int *nodes, int count)
{
    nodes_take(&core->nodes, nodes, count, job->view.id);
    shares_hold(job->account, count);
}

static void give_nodes(struct core *core, const struct job *job, const int *nodes, int count)
{
    nodes_give(&core->nodes, nodes, count);
    shares_hold(job->account, -count);
}

/* NULL, with an error: there is none. */
static struct job *find_job(const struct core *core, int64_t id, struct error *error)
{
    struct job *job = jobs_find(&core->jobs, id);
    if (!job)
        error_set(error, ERROR_FAILED, "job %lld: there is none", (long long)id);
    return job;
}

/* A job that runs here as it does there ends when it does here. */
static void keep_running(struct core *core, double now)
{
    for (size_t i = 0; i < core->easy.count; i++) {
        const struct yardstick_job *there = &core->easy.jobs[i];
        const struct job *job = there->end > now || there->ended ? NULL : jobs_find(&core->jobs, there->turn.id);
        if (job && job->view.state != EPOP_POLICY_WAITS && job_is_as_wanted(job) &&
            fabs(job->view.started - there->start) <= YARDSTICK_ROUNDED)
            yardstick_goes_on(&core->easy, i, now);
    }
}

static void plan_easy(struct core *core, double now)
{
    keep_running(core, now);
    yardstick_plan(&core->easy, now, core->view.usable);
}

/* What policies see of the schedule of EASY backfilling. */
static void show_easy(struct core *core, double now)
{
    struct yardstick *easy = &core->easy;
    int count = 0;
    if (!core->follows)
        return;
    plan_easy(core, now);
    for (size_t i = 0; i < easy->count; i++) {
        const struct yardstick_job *from = &easy->jobs[i];
        struct job *job = from->ended ? NULL : jobs_find(&core->jobs, from->turn.id);
        if (job)
            job->view.easy_start = from->start, job->view.easy_end = from->end;
        if (isfinite(from->start))
            easy->uses[count++] = (epop_policy_use_t){job ? &job->view : NULL, from->start, from->end, from->nodes};
    }
    core->view.easy_uses = easy->uses;
    core->view.easy_count = count;
}

/* It is looked at again when the first of those that wait can no longer meet its deadline. */
static void watch_deadline(struct core *core, const struct job *job)
{
    if (isfinite(job->latest))
        core->hopeless = fmin(core->hopeless, job->view.deadline - core_fastest(&job->view));
}

/* Jobs that cannot meet their deadlines any more are as those without. Whether there are any. */
static bool give_up_deadlines(struct core *core, double now)
{
    bool any = false;
    if (now <= core->hopeless)
        return false;
    core->hopeless = INFINITY;
    for (size_t i = 0; i < core->waiting.count; i++) {
        struct job *job = (struct job *)job_queue_items(&core->waiting)[i];
        any |= job_latest(job, now);
        watch_deadline(core, job);
    }
    return any;
}

/* Others come first than before, also under EASY backfilling; until now it went by the old order. */
static void change_turns(struct core *core, double now)
{
    job_queue_sort(&core->waiting);
    if (!core->follows)
        return;
    plan_easy(core, now);
    for (size_t i = 0; i < core->easy.count; i++) {
        struct turn *turn = &core->easy.jobs[i].turn;
        const struct job *job = jobs_find(&core->jobs, turn->id);
        *turn = job ? job_turn(job) : *turn;
    }
    yardstick_sort(&core->easy);
}

static void show_usage(const struct job_queue *queue)
{
    for (size_t i = 0; i < queue->count; i++) {
        struct job *job = (struct job *)job_queue_items(queue)[i];
        job->view.usage = job->account->usage;
    }
}

/* Brings the view up to that time. */
static void show_state(struct core *core, double now)
{
    epop_policy_state_t *view = &core->view;
    pass_time(core, now);
    view->usable = nodes_most_under_cap(&core->nodes, view->power_cap);
    bool late = give_up_deadlines(core, now), ranks = has_shares(core) && shares_rank(&core->shares);
    if (late || ranks)
        change_turns(core, now);
    if (has_shares(core)) {
        show_usage(&core->running);
        show_usage(&core->waiting);
    }
    view->now = now;
    view->idle = nodes_under_cap(&core->nodes, view->power_cap);
    view->down = core->nodes.down;
    view->running = job_queue_items(&core->running);
    view->running_count = (int)core->running.count;
    view->waiting = job_queue_items(&core->waiting);
    view->waiting_count = (int)core->waiting.count;
    for (int i = 0; i < view->running_count; i++)
        job_left_show((struct job *)view->running[i], now);
    show_easy(core, now);
}

const epop_policy_state_t *core_state(struct core *core, double now)
{
    show_state(core, now > core->now ? now : core->now);
    return &core->view;
}

const epop_policy_job_t *core_job(const struct core *core, int64_t job)
{
    const struct job *found = jobs_find(&core->jobs, job);
    return found ? &found->view : NULL;
}

/* ---- A job comes -------------------------------------------------------------------------------- */

/* What it says of itself is checked here, so that nothing behind has to. */

static int check_range(int64_t id, const char *of, const epop_policy_range_t *range, struct error *error)
{
    int last = 0;
    if (range->count < 0 || (range->count > 0 && !range->sizes) || range->min < 1 || range->max < range->min)
        return error_set(error, ERROR_FAILED, "job %lld: %s: from %d to %d nodes", (long long)id, of, range->min,
                         range->max);
    for (int i = 0; i < range->count; i++) {
        if (range->sizes[i] <= last || range->sizes[i] < range->min || range->sizes[i] > range->max)
            return error_set(error, ERROR_FAILED, "job %lld: %s: size %d in a list from %d to %d that ascends",
                             (long long)id, of, range->sizes[i], range->min, range->max);
        last = range->sizes[i];
    }
    return 0;
}

static int check_sizes(const struct core *core, const struct core_job *job, struct error *error)
{
    char text[RANGE_TEXT_MAX];
    long long id = (long long)job->id;
    if (job->wanted < 1 || job->wanted > core->nodes.count)
        return error_set(error, ERROR_FAILED, "job %lld: it wants %d nodes, and the machine has %d", id, job->wanted,
                         core->nodes.count);
    if (!epop_policy_accepts(&job->range, job->wanted))
        return error_set(error, ERROR_FAILED, "job %lld: it wants %d nodes, but accepts %s", id, job->wanted,
                         range_text(&job->range, text));
    if (job->kind == EPOP_RIGID && job->range.min != job->range.max)
        return error_set(error, ERROR_FAILED, "job %lld: it is rigid, but accepts %s nodes", id,
                         range_text(&job->range, text));
    return 0;
}

static int check_phases(const struct core_job *job, struct error *error)
{
    if (job->phase_count < 0 || (job->phase_count > 0 && !job->phases))
        return error_set(error, ERROR_FAILED, "job %lld: %d phases", (long long)job->id, job->phase_count);
    for (int i = 0; i < job->phase_count; i++) {
        char of[40];
        snprintf(of, sizeof of, "phase %d", i);
        if (check_range(job->id, of, &job->phases[i].range, error))
            return -1;
    }
    return 0;
}

static int check_times(int64_t id, double limit, double deadline, struct error *error)
{
    if (!(isfinite(limit) && limit > 0))
        return error_set(error, ERROR_FAILED, "job %lld: a limit of %g s", (long long)id, limit);
    if (!(isfinite(deadline) && deadline >= 0))
        return error_set(error, ERROR_FAILED, "job %lld: a deadline at %g", (long long)id, deadline);
    return 0;
}

/* -1: it makes no sense, or does not fit the machine. */
static int check_job(const struct core *core, const struct core_job *job, struct error *error)
{
    long long id = (long long)job->id;
    if ((unsigned)job->kind > EPOP_EVOLVING)
        return error_set(error, ERROR_FAILED, "job %lld: it is of no known kind (%d)", id, (int)job->kind);
    if (check_range(job->id, "its range", &job->range, error) || check_sizes(core, job, error) ||
        check_times(job->id, job->limit, job->deadline, error))
        return -1;
    if (!(isfinite(job->bytes) && job->bytes >= 0))
        return error_set(error, ERROR_FAILED, "job %lld: a resize moves %g bytes", id, job->bytes);
    return check_phases(job, error);
}

static int check_submission(const struct core *core, const struct core_job *job, struct error *error)
{
    if (jobs_find(&core->jobs, job->id))
        return error_set(error, ERROR_FAILED, "job %lld: there is one of that number", (long long)job->id);
    return check_job(core, job, error);
}

static int follow(struct core *core, const struct job *job)
{
    const struct yardstick_job there = {.turn = job_turn(job), .nodes = job->view.wanted, .seconds = job->view.limit};
    return yardstick_add(&core->easy, &there);
}

/* As it is by now, where all jobs were rigid. */
static int begin_easy(struct core *core)
{
    for (size_t i = 0; i < core->running.count + core->waiting.count; i++) {
        bool runs = i < core->running.count;
        const epop_policy_job_t *job =
            runs ? job_queue_items(&core->running)[i] : job_queue_items(&core->waiting)[i - core->running.count];
        if (follow(core, (const struct job *)job))
            return -1;
        if (runs)
            yardstick_started(&core->easy, job->id, job->started);
    }
    core->follows = true;
    return 0;
}

/* The schedule of EASY backfilling has it from now on. */
static int follow_new(struct core *core, const struct job *job)
{
    core->flexible |= job->view.kind != EPOP_RIGID;
    return core->follows ? follow(core, job) : 0;
}

/* Under EASY backfilling it has the same place. */
static void turn_easy(struct core *core, const struct job *job)
{
    struct turn turn = job_turn(job);
    yardstick_turn(&core->easy, &turn);
}

/* The first deadline comes: what has been promised so far counts, too. In their order, which this does not change. */
static void begin_promises(struct core *core)
{
    core->reorders = true;
    for (size_t i = 0; i < core->waiting.count; i++) {
        struct job *job = (struct job *)job_queue_items(&core->waiting)[i];
        if (job->view.reserved >= 0)
            job->promised = ++core->promises;
    }
    job_queue_sort(&core->waiting);
    for (size_t i = 0; i < core->waiting.count; i++)
        turn_easy(core, (const struct job *)job_queue_items(&core->waiting)[i]);
}

/* -1: no memory. */
static int set_account(struct core *core, struct job *job, const char *name)
{
    if (!has_shares(core))
        return 0;
    struct account *account = shares_account(&core->shares, name ? name : "");
    if (!account)
        return -1;
    job->account = account;
    job->view.account = account->name;
    return 0;
}

/* NULL: no memory. */
static struct job *create_job(struct core *core, const struct core_job *given, double now)
{
    struct job *job = job_create(given, now);
    if (!job)
        return NULL;
    if (given->deadline > 0 && !core->reorders)
        begin_promises(core);
    job->promised = core->reorders && given->promised > 0 ? ++core->promises : 0;
    if (!set_account(core, job, given->account))
        return job;
    job_free(job);
    return NULL;
}

int core_submit(struct core *core, double now, const struct core_job *given, struct error *error)
{
    struct job *job;
    if (check_time(core, now, error) || check_submission(core, given, error))
        return -1;
    job = create_job(core, given, now);
    if (!job || job_queue_reserve(&core->waiting, 1) || follow_new(core, job) || jobs_add(&core->jobs, job)) {
        job_free(job);
        return error_memory(error);
    }
    job_queue_add(&core->waiting, job);
    watch_deadline(core, job);
    core->now = now;
    return 0;
}

int core_priority(struct core *core, int64_t id, int priority, struct error *error)
{
    struct job *job = find_job(core, id, error);
    if (!job)
        return -1;
    bool waits = job->view.state == EPOP_POLICY_WAITS;
    if (waits && job_queue_reserve(&core->waiting, 1))
        return error_memory(error);
    if (waits)
        job_queue_remove(&core->waiting, job);
    job->view.priority = priority;
    turn_easy(core, job);
    if (waits)
        job_queue_add(&core->waiting, job);
    return 0;
}

int core_account(struct core *core, int64_t id, const char *account, struct error *error)
{
    struct job *job = find_job(core, id, error);
    if (!job)
        return -1;
    if (job->view.state != EPOP_POLICY_WAITS)
        return error_set(error, ERROR_FAILED, "job %lld: it runs, and is counted for its account", (long long)id);
    if (set_account(core, job, account))
        return error_memory(error);
    job_queue_sort(&core->waiting);
    turn_easy(core, job);
    return 0;
}

/* ---- A job runs already, or more is known of it ------------------------------------------------- */

static void show_place(const struct core *core, struct job *job)
{
    const struct topology *topology = core->nodes.topology;
    job->view.speed = nodes_slowest(&core->nodes, job->nodes, job->view.nodes);
    job->view.leaves = topology ? topology_leaves(topology, job->nodes, job->view.nodes) : 0;
}

static int held_by(const struct core_place *place)
{
    return place->nodes > place->target ? place->nodes : place->target;
}

/* Each idle, and none twice. */
static int check_list(const struct core *core, int64_t id, const int *list, int count, struct error *error)
{
    for (int i = 0; i < count; i++) {
        if (list[i] < 0 || list[i] >= core->nodes.count || core->nodes.items[list[i]].state != EPOP_NODE_IDLE)
            return error_set(error, ERROR_FAILED, "job %lld: it runs on node %d, which is not idle", (long long)id,
                             list[i]);
        for (int j = 0; j < i; j++)
            if (list[i] == list[j])
                return error_set(error, ERROR_FAILED, "job %lld: it runs on node %d twice", (long long)id, list[i]);
    }
    return 0;
}

static int check_adopted(const struct core *core, double now, const struct job *job, const struct core_place *place,
                         struct error *error)
{
    long long id = (long long)job->view.id;
    if (job->view.state != EPOP_POLICY_WAITS)
        return error_set(error, ERROR_FAILED, "job %lld: it runs already", id);
    if (place->nodes < 1 || place->target < 1 || !isfinite(place->started) || place->started > now)
        return error_set(error, ERROR_FAILED, "job %lld: it runs on %d nodes, to be %d, since %g", id, place->nodes,
                         place->target, place->started);
    return check_list(core, job->view.id, place->list, held_by(place), error);
}

static void run_adopted(struct core *core, double now, struct job *job, const struct core_place *place)
{
    epop_policy_job_t *view = &job->view;
    for (int i = 0; i < held_by(place); i++)
        job->nodes[i] = place->list[i];
    take_nodes(core, job, place->list, held_by(place));
    shares_held(&core->shares, job->account, fmax(place->started, core->counted), held_by(place));
    job_queue_remove(&core->waiting, job);
    view->state = place->nodes == place->target ? EPOP_POLICY_RUNS : EPOP_POLICY_ADAPTS;
    view->started = view->resized = place->started;
    if (place->resized > place->started)
        view->resized = place->resized;
    view->nodes = place->nodes;
    show_place(core, job);
    samples_at(&job->samples, place->nodes);
    view->target = place->target;
    job->back = place->back < held_by(place) ? place->back : 0;
    if (place->target < place->nodes)
        core->view.coming += place->nodes - place->target;
    job_left_starts(job, place->started);
    yardstick_started(&core->easy, view->id, place->started);
    job_left_show(job, now);
    job_queue_add(&core->running, job);
}

int core_adopt(struct core *core, double now, int64_t id, const struct core_place *place, struct error *error)
{
    struct job *job = check_time(core, now, error) ? NULL : find_job(core, id, error);
    if (!job || check_adopted(core, now, job, place, error))
        return -1;
    if (job_reserve_nodes(job, held_by(place)) || job_queue_reserve(&core->running, 1))
        return error_memory(error);
    pass_time(core, now);
    run_adopted(core, now, job, place);
    return 0;
}

/* Something has changed by which it can meet its deadline, or not. */
static void renew_latest(struct core *core, struct job *job, double now)
{
    if (!job_latest(job, now) || job->view.state != EPOP_POLICY_WAITS)
        return;
    job_queue_sort(&core->waiting);
    turn_easy(core, job);
    watch_deadline(core, job);
}

int core_deadline(struct core *core, double now, int64_t id, double deadline, double limit, struct error *error)
{
    struct job *job = check_time(core, now, error) ? NULL : find_job(core, id, error);
    if (!job || check_times(id, limit, deadline, error))
        return -1;
    if (deadline > 0 && !core->reorders)
        begin_promises(core);
    job->view.deadline = deadline;
    if (job->view.state == EPOP_POLICY_WAITS) {
        job->view.limit = job->view.left = limit;
        yardstick_limited(&core->easy, id, limit, now);
    }
    renew_latest(core, job, now);
    core->now = now;
    return 0;
}

int core_learned(struct core *core, double now, const struct core_job *given, struct error *error)
{
    struct job *job = check_time(core, now, error) ? NULL : find_job(core, given->id, error), *fresh;
    if (!job || check_job(core, given, error))
        return -1;
    fresh = job_create(given, now);
    if (!fresh)
        return error_memory(error);
    job_learn(job, fresh);
    job_free(fresh);
    renew_latest(core, job, now);
    core->now = now;
    return 0;
}

/* ---- Deciding ----------------------------------------------------------------------------------- */

/* The policy is asked; its plan, if all of it can be carried out, becomes decisions and the state. */

/* All memory that taking the plan will need. -1: there is none, and nothing has changed. */
static int reserve_memory(struct core *core)
{
    struct epop_plan *plan = &core->plan;
    size_t starts = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const struct decision *decision = &plan->items[i];
        if (decision->kind != DECISION_RESERVE &&
            job_reserve_nodes(jobs_find(&core->jobs, decision->job), decision->to))
            return -1;
        starts += decision->kind == DECISION_START;
    }
    return array_reserve(&core->chosen, &core->chosen_room, (size_t)plan->changed, sizeof *core->chosen) ||
                   job_queue_reserve(&core->running, starts)
               ? -1
               : 0;
}

static int ascending(const void *one, const void *other)
{
    return *(const int *)one - *(const int *)other;
}

/* Most often they are in order. */
static void sort_nodes(int *list, int count)
{
    int i = 1;
    while (i < count && list[i - 1] < list[i])
        i++;
    if (i < count)
        qsort(list, (size_t)count, sizeof *list, ascending);
}

/* Those that it lacks where it moves to; how many these are. */
static int take_gathered(struct core *core, const struct job *job, const struct decision *decision, int *chosen)
{
    int most = decision->to - decision->from, leaves;
    int count = nodes_gather(&core->nodes, job->nodes, decision->from, most, chosen, &leaves);
    count = count < most ? count : most;
    take_nodes(core, job, chosen, count);
    return count;
}

/* Idle nodes become the job's, behind those that it has. */
static void take_idle(struct core *core, struct job *job, struct decision *decision, int *chosen)
{
    int count = decision->to - decision->from;
    int taken = decision->move == MOVE_THERE ? take_gathered(core, job, decision, chosen) : 0;
    if (taken < count) {
        nodes_choose(&core->nodes, job->nodes, decision->from, count - taken, chosen + taken);
        take_nodes(core, job, chosen + taken, count - taken);
    }
    sort_nodes(chosen, count);
    for (int i = 0; i < count; i++)
        job->nodes[decision->from + i] = chosen[i];
    decision->count = count;
}

/* The last ones of its list will be given back. */
static void name_given(struct core *core, const struct job *job, struct decision *decision, int *chosen)
{
    int count = decision->from - decision->to;
    for (int i = 0; i < count; i++)
        chosen[i] = job->nodes[decision->to + i];
    sort_nodes(chosen, count);
    core->view.coming += count;
    decision->count = count;
}

/* Which will be given back stand last; the other ones keep their order. */
static void choose_given(const struct core *core, struct job *job, int nodes, int count)
{
    if (!job->in_order)
        nodes_leave(&core->nodes, job->nodes, nodes, count);
}

static void start_job(struct core *core, struct job *job, struct decision *decision, int *chosen)
{
    job_queue_remove(&core->waiting, job);
    take_idle(core, job, decision, chosen);
    job->view.state = EPOP_POLICY_RUNS;
    job->view.started = job->view.resized = core->now;
    job->view.nodes = job->view.target = decision->to;
    show_place(core, job);
    samples_at(&job->samples, decision->to);
    job_left_starts(job, core->now);
    job_queue_add(&core->running, job);
}

static void resize_job(struct core *core, struct job *job, struct decision *decision, int *chosen)
{
    if (decision->move != MOVE_BACK)
        job->back = decision->move == MOVE_THERE ? decision->from : 0;
    if (decision->to > decision->from) {
        take_idle(core, job, decision, chosen);
    } else {
        choose_given(core, job, decision->from, decision->from - decision->to);
        name_given(core, job, decision, chosen);
    }
    job->view.state = EPOP_POLICY_ADAPTS;
    job->view.target = decision->to;
}

/* Who starts though the first of those that wait on comes before it. */
static void mark_passing(struct core *core)
{
    const epop_policy_job_t *first = core->waiting.count > 0 ? *job_queue_items(&core->waiting) : NULL;
    for (size_t i = 0; first && i < core->plan.count; i++) {
        struct decision *decision = &core->plan.items[i];
        if (decision->kind == DECISION_START)
            decision->passes = by_turn(first, &jobs_find(&core->jobs, decision->job)->view) < 0;
    }
}

/* Where the order of the queue changes by itself, it stays before those that were not promised anything. */
static void promise_start(struct core *core, struct job *job, double time)
{
    if (job->view.reserved < 0)
        job->view.reserved = time;
    if (!core->reorders || job->promised)
        return;
    job->promised = ++core->promises;
    job_queue_sort(&core->waiting);
    turn_easy(core, job);
}

static void make_promises(struct core *core)
{
    for (size_t i = 0; i < core->plan.count; i++) {
        const struct decision *decision = &core->plan.items[i];
        if (decision->kind == DECISION_RESERVE)
            promise_start(core, jobs_find(&core->jobs, decision->job), decision->time);
    }
}

static void carry_out(struct core *core)
{
    int *chosen = core->chosen;
    for (size_t i = 0; i < core->plan.count; i++) {
        struct decision *decision = &core->plan.items[i];
        struct job *job = jobs_find(&core->jobs, decision->job);
        if (decision->kind == DECISION_START)
            start_job(core, job, decision, chosen);
        else if (decision->kind == DECISION_RESIZE)
            resize_job(core, job, decision, chosen);
        else if (decision->kind == DECISION_BALANCE)
            balance_begins(&job->balance);
        decision->nodes = decision->count ? chosen : NULL;
        chosen += decision->count;
    }
    mark_passing(core);
    make_promises(core);
}

static bool is_due(const struct job *job)
{
    return job->view.state == EPOP_POLICY_RUNS && job_may_balance(job) && balance_due(&job->balance);
}

static bool may_resize(const epop_policy_job_t *job)
{
    return job->kind >= EPOP_MALLEABLE && (job->phase_count < 1 || job->phases->elastic);
}

static bool accepts_now(const epop_policy_job_t *job, int nodes)
{
    return epop_policy_accepts(&job->range, nodes) &&
           (job->phase_count < 1 || epop_policy_accepts(&job->phases->range, nodes));
}

/* Jobs that move, and have grown, shrink: no policy decides on them before. */
static void plan_moves(struct core *core)
{
    for (int i = 0; i < core->view.running_count; i++) {
        struct job *job = (struct job *)core->view.running[i];
        const epop_policy_job_t *view = &job->view;
        if (job->back < 1 || view->state != EPOP_POLICY_RUNS || !may_resize(view) || !accepts_now(view, job->back))
            continue;
        plan_back(&core->plan, job);
        job->view.state = EPOP_POLICY_ADAPTS;
    }
}

/* Jobs that are to balance adapt from now on, so that no policy decides on them by what is measured. */
static void plan_balances(struct core *core)
{
    for (int i = 0; i < core->view.running_count; i++) {
        struct job *job = (struct job *)core->view.running[i];
        if (!is_due(job))
            continue;
        plan_balance(&core->plan, job);
        job->view.state = EPOP_POLICY_ADAPTS;
    }
}

/* The plan is refused: what the core has decided itself. */
static void drop_own(struct core *core)
{
    for (size_t i = 0; i < core->plan.count; i++)
        if (core->plan.items[i].kind == DECISION_BALANCE || core->plan.items[i].move == MOVE_BACK)
            jobs_find(&core->jobs, core->plan.items[i].job)->view.state = EPOP_POLICY_RUNS;
}

static void ask_policy(struct core *core, const struct policy *policy)
{
    plan_begin(&core->plan, &core->jobs, &core->nodes, &core->view);
    plan_moves(core);
    plan_balances(core);
    policy_decide(policy, &core->view, &core->plan);
    plan_end(&core->plan);
}

int core_decide(struct core *core, double now, const struct policy *policy, struct decisions *decisions,
                struct error *error)
{
    if (check_time(core, now, error))
        return -1;
    if (core->flexible && !core->follows && policy_follows_easy(policy) && begin_easy(core))
        return error_memory(error);
    show_state(core, now);
    ask_policy(core, policy);
    if (core->plan.wrong || reserve_memory(core)) {
        drop_own(core);
        return !core->plan.wrong ? error_memory(error)
                                 : error_set(error, ERROR_REFUSED, "policy %s at %.3f: %s", policy_called(policy), now,
                                             core->plan.complaint);
    }
    carry_out(core);
    *decisions = (struct decisions){core->plan.items, (int)core->plan.count, core->plan.wake};
    return 0;
}

/* ---- What the site tells ------------------------------------------------------------------------ */

static struct job *find_running(const struct core *core, int64_t id, struct error *error)
{
    struct job *job = find_job(core, id, error);
    if (!job || job->view.state != EPOP_POLICY_WAITS)
        return job;
    error_set(error, ERROR_FAILED, "job %lld: it does not run", (long long)id);
    return NULL;
}

static struct job *find_adapting(const struct core *core, int64_t id, struct error *error)
{
    struct job *job = find_job(core, id, error);
    if (!job || job->view.state == EPOP_POLICY_ADAPTS)
        return job;
    error_set(error, ERROR_FAILED, "job %lld: no resize of it is under way", (long long)id);
    return NULL;
}

static struct job *find_resized(const struct core *core, int64_t id, struct error *error)
{
    struct job *job = find_adapting(core, id, error);
    if (!job || !job->balance.goes)
        return job;
    error_set(error, ERROR_FAILED, "job %lld: it balances, and is not resized", (long long)id);
    return NULL;
}

/* Its highest ranks' nodes become idle. */
static void keep_nodes(struct core *core, struct job *job, int count)
{
    give_nodes(core, job, job->nodes + count, job_held(job) - count);
}

/* What it was to give back is no longer on its way. */
static void forget_shrink(struct core *core, const struct job *job)
{
    if (job->view.target < job->view.nodes)
        core->view.coming -= job->view.nodes - job->view.target;
}

static void leave_queue(struct core *core, struct job *job)
{
    bool waits = job->view.state == EPOP_POLICY_WAITS;
    if (!waits) {
        forget_shrink(core, job);
        keep_nodes(core, job, 0);
    }
    job_queue_remove(waits ? &core->waiting : &core->running, job);
}

int core_ended(struct core *core, double now, int64_t id, struct error *error)
{
    struct job *job = check_time(core, now, error) ? NULL : find_job(core, id, error);
    if (!job)
        return -1;
    pass_time(core, now);
    yardstick_ended(&core->easy, id, job_took(job, now), job_is_as_wanted(job), now);
    leave_queue(core, job);
    jobs_remove(&core->jobs, job);
    return 0;
}

int core_requeued(struct core *core, double now, int64_t id, struct error *error)
{
    struct job *job = check_time(core, now, error) ? NULL : find_running(core, id, error);
    if (!job)
        return -1;
    if (job_queue_reserve(&core->waiting, 1))
        return error_memory(error);
    pass_time(core, now);
    leave_queue(core, job);
    job->promised = 0;
    job_latest(job, now);
    watch_deadline(core, job);
    turn_easy(core, job);
    yardstick_again(&core->easy, id);
    job_waits(job);
    job_queue_add(&core->waiting, job);
    return 0;
}

static void settle_size(const struct core *core, struct job *job, int nodes)
{
    if (nodes != job->view.nodes)
        balance_forget(&job->balance);
    job->view.nodes = job->view.target = nodes;
    show_place(core, job);
    samples_at(&job->samples, nodes);
    job->view.state = EPOP_POLICY_RUNS;
}

static void count_resize(struct job *job, double latency, double stall)
{
    int resizes = ++job->view.resizes;
    job->stalled += stall;
    job->late += latency;
    job->view.resize_cost = job->stalled / resizes;
    job->view.resize_latency = job->late / resizes;
}

int core_committed(struct core *core, double now, int64_t id, double latency, double stall, struct error *error)
{
    struct job *job = check_time(core, now, error) ? NULL : find_resized(core, id, error);
    if (!job)
        return -1;
    if (!(isfinite(latency) && isfinite(stall) && latency >= 0 && stall >= 0))
        return error_set(error, ERROR_FAILED, "job %lld: a resize of %g s that stalled it for %g s", (long long)id,
                         latency, stall);
    pass_time(core, now);
    int to = job->view.target;
    job_left_resized(job, now, stall, to, nodes_slowest(&core->nodes, job->nodes, to));
    forget_shrink(core, job);
    keep_nodes(core, job, job->view.target);
    settle_size(core, job, job->view.target);
    job->back = job->view.nodes == job->back ? 0 : job->back;
    job->view.resized = now;
    count_resize(job, latency, stall);
    return 0;
}

int core_balanced(struct core *core, double now, int64_t id, double stall, struct error *error)
{
    struct job *job = check_time(core, now, error) ? NULL : find_adapting(core, id, error);
    if (!job)
        return -1;
    if (!job->balance.goes || !(isfinite(stall) && stall >= 0))
        return error_set(error, ERROR_FAILED, "job %lld: a balance that stalled it for %g s%s", (long long)id, stall,
                         job->balance.goes ? "" : ": none was decided");
    job_left_stalled(job, now, stall);
    samples_balanced(&job->samples);
    balance_done(&job->balance, stall);
    job->view.state = EPOP_POLICY_RUNS;
    core->now = now;
    return 0;
}

int core_refused(struct core *core, double now, int64_t id, struct error *error)
{
    struct job *job = check_time(core, now, error) ? NULL : find_adapting(core, id, error);
    if (!job)
        return -1;
    pass_time(core, now);
    if (job->balance.goes)
        balance_refused(&job->balance);
    if (job->view.target > job->view.nodes)
        job->back = 0;
    forget_shrink(core, job);
    keep_nodes(core, job, job->view.nodes);
    settle_size(core, job, job->view.nodes);
    return 0;
}

/* Its nodes are these, and no others of those that it held. */
static bool are_its(const struct job *job, const int *nodes, int count)
{
    for (int i = 0; i < count; i++) {
        int at = 0;
        for (int j = 0; j < i; j++)
            if (nodes[i] == nodes[j])
                return false;
        while (at < job_held(job) && job->nodes[at] != nodes[i])
            at++;
        if (at == job_held(job))
            return false;
    }
    return count > 0;
}

int core_came_out(struct core *core, double now, int64_t id, const int *nodes, int count, struct error *error)
{
    struct job *job = check_time(core, now, error) ? NULL : find_resized(core, id, error);
    if (!job)
        return -1;
    if (!are_its(job, nodes, count))
        return error_set(error, ERROR_FAILED, "job %lld: it is on %d nodes, which it did not hold", (long long)id,
                         count);
    pass_time(core, now);
    forget_shrink(core, job);
    give_nodes(core, job, job->nodes, job_held(job));
    take_nodes(core, job, nodes, count);
    memmove(job->nodes, nodes, (size_t)count * sizeof *nodes);
    if (count != job->view.nodes) {
        job_left_resized(job, now, 0, count, nodes_slowest(&core->nodes, nodes, count));
        job->view.resized = now;
    }
    job->back = count > job->back ? job->back : 0;
    settle_size(core, job, count);
    return 0;
}

int core_told(struct core *core, double now, int64_t id, double left, struct error *error)
{
    struct job *job = check_time(core, now, error) ? NULL : find_running(core, id, error);
    if (!job)
        return -1;
    if (!isfinite(left))
        return error_set(error, ERROR_FAILED, "job %lld: %g s left", (long long)id, left);
    job_left_told(job, now, left);
    if (job_is_as_wanted(job) || job->view.weak)
        yardstick_told(&core->easy, id, left < 0 ? job->view.limit : now - job->view.started + left, now);
    core->now = now;
    return 0;
}

int core_phase(struct core *core, double now, int64_t id, int phase, const double *begins, struct error *error)
{
    struct job *job = check_time(core, now, error) ? NULL : find_running(core, id, error);
    if (!job)
        return -1;
    if (phase < 0 || (job->phase_count > 0 && phase >= job->phase_count))
        return error_set(error, ERROR_FAILED, "job %lld: phase %d of %d", (long long)id, phase, job->phase_count);
    for (int i = 0; begins && i < job->phase_count - phase; i++) {
        if (!isfinite(begins[i]))
            return error_set(error, ERROR_FAILED, "job %lld: phase %d begins in %g s", (long long)id, phase + i,
                             begins[i]);
    }
    job_left_phase(job, now, phase, begins);
    core->now = now;
    return 0;
}

int core_loop(struct core *core, int64_t id, int loop, struct error *error)
{
    struct job *job = find_running(core, id, error);
    if (!job)
        return -1;
    if (loop < 0)
        return error_set(error, ERROR_FAILED, "job %lld: loop %d", (long long)id, loop);
    job_in_loop(job, loop);
    return 0;
}

int core_weak(struct core *core, int64_t id, bool weak, struct error *error)
{
    struct job *job = find_job(core, id, error);
    if (!job)
        return -1;
    job->view.weak = weak;
    renew_latest(core, job, core->now);
    return 0;
}

/* And room for it. */
static int check_sample(struct job *job, const epop_policy_sample_t *sample, struct error *error)
{
    if (sample->phase < 0 || sample->nodes < 1 || !isfinite(sample->seconds) || !isfinite(sample->mtct))
        return error_set(error, ERROR_FAILED, "job %lld: a sample of phase %d at %d nodes: %g s, MTCT %g",
                         (long long)job->view.id, sample->phase, sample->nodes, sample->seconds, sample->mtct);
    return samples_reserve(&job->samples) ? error_memory(error) : 0;
}

int core_measured(struct core *core, int64_t id, const epop_policy_sample_t *sample, double *change,
                  struct error *error)
{
    struct job *job = find_job(core, id, error);
    if (!job || check_sample(job, sample, error))
        return -1;
    bool present = sample->phase == job->view.phase && sample->nodes == job->view.nodes;
    *change = 0;
    if (job_may_balance(job) && !balance_counts(&job->balance, sample, present))
        return 0;
    *change = samples_add(&job->samples, sample);
    job_show_samples(job);
    return 0;
}

bool core_uneven(const struct core *core, int64_t id, bool *due)
{
    const struct job *job = jobs_find(&core->jobs, id);
    *due = job && is_due(job);
    return job && job_may_balance(job) && balance_holds(&job->balance);
}

bool core_outcome(struct core *core, int64_t id, double *from, double *to)
{
    struct job *job = jobs_find(&core->jobs, id);
    return job && balance_outcome(&job->balance, from, to);
}

int core_remembered(struct core *core, int64_t id, int64_t earlier, const epop_policy_sample_t *sample,
                    struct error *error)
{
    struct job *job = find_job(core, id, error);
    if (!job || check_sample(job, sample, error))
        return -1;
    if (job->view.state != EPOP_POLICY_WAITS)
        return error_set(error, ERROR_FAILED, "job %lld: it runs, and measures itself", (long long)id);
    job_remember(job, earlier, sample);
    return 0;
}

int core_asked(struct core *core, int64_t id, int nodes, struct error *error)
{
    struct job *job = find_running(core, id, error);
    if (!job)
        return -1;
    if (job->view.kind != EPOP_EVOLVING)
        return error_set(error, ERROR_FAILED, "job %lld: it asks for %d nodes, but is not evolving", (long long)id,
                         nodes);
    if (nodes && !epop_policy_accepts(&job->view.range, nodes))
        return error_set(error, ERROR_FAILED, "job %lld: it asks for %d nodes, but does not accept that", (long long)id,
                         nodes);
    job->view.asked = nodes;
    return 0;
}

int core_node(struct core *core, int node, bool up, struct error *error)
{
    if (node < 0 || node >= core->nodes.count)
        return error_set(error, ERROR_FAILED, "node %d: there are %d, from 0", node, core->nodes.count);
    if (core->nodes.items[node].state == EPOP_NODE_BUSY)
        return error_set(error, ERROR_FAILED, "node %d %s: job %lld holds it", node, up ? "comes up" : "goes down",
                         (long long)core->nodes.items[node].job);
    nodes_set_up(&core->nodes, node, up);
    core->easy.changed = true;
    return 0;
}

/* ---- The site changes a job's size -------------------------------------------------------------- */

/* The size without that node; 0: none is accepted. */
static int smaller_size(const epop_policy_job_t *job)
{
    int nodes = epop_policy_fit(&job->range, job->nodes - 1);
    while (nodes > 0 && !accepts_now(job, nodes))
        nodes = epop_policy_fit(&job->range, nodes - 1);
    return nodes;
}

static int check_vacated(const struct core *core, int node, struct job **job, struct error *error)
{
    const epop_policy_node_t *item = &core->nodes.items[node];
    *job = item->state == EPOP_NODE_BUSY ? jobs_find(&core->jobs, item->job) : NULL;
    if (!*job)
        return error_set(error, ERROR_FAILED, "node %d: no job holds it", node);
    if ((*job)->view.state == EPOP_POLICY_ADAPTS)
        return error_set(error, ERROR_REFUSED, "job %lld: it is on its way to another size",
                         (long long)(*job)->view.id);
    if (!may_resize(&(*job)->view) || !smaller_size(&(*job)->view))
        return error_set(error, ERROR_REFUSED, "job %lld: it cannot do without a node now", (long long)(*job)->view.id);
    return 0;
}

/* What is given back is last; the others keep their order. */
static void move_back(struct job *job, int node)
{
    int i = 0, last = job->view.nodes - 1;
    while (job->nodes[i] != node)
        i++;
    memmove(job->nodes + i, job->nodes + i + 1, (size_t)(last - i) * sizeof *job->nodes);
    job->nodes[last] = node;
}

static void explain_decision(struct decision *decision, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    reason_text(decision->reason, sizeof decision->reason, format, arguments);
    va_end(arguments);
}

int core_vacate(struct core *core, double now, int node, const char *reason, struct decision *decision,
                struct error *error)
{
    struct job *job;
    if (check_time(core, now, error) || check_vacated(core, node, &job, error))
        return -1;
    if (array_reserve(&core->chosen, &core->chosen_room, (size_t)job->view.nodes, sizeof *core->chosen))
        return error_memory(error);
    move_back(job, node);
    job->back = 0;
    *decision = (struct decision){.kind = DECISION_RESIZE, .job = job->view.id, .from = job->view.nodes};
    decision->to = job->view.target = smaller_size(&job->view);
    choose_given(core, job, decision->from - 1, decision->from - 1 - decision->to);
    name_given(core, job, decision, core->chosen);
    decision->nodes = core->chosen;
    explain_decision(decision, "%s", reason);
    job->view.state = EPOP_POLICY_ADAPTS;
    core->now = now;
    return 0;
}

/* 0: there is none. */
static int larger_size(const epop_policy_job_t *job, int least, int most)
{
    int nodes = least;
    while (nodes <= most && !accepts_now(job, nodes))
        nodes++;
    return nodes <= most ? nodes : 0;
}

int core_grow(struct core *core, double now, int64_t id, int least, const char *reason, struct decision *decision,
              struct error *error)
{
    struct job *job = check_time(core, now, error) ? NULL : find_job(core, id, error);
    if (!job)
        return -1;
    show_state(core, now);
    int nodes = job->view.state == EPOP_POLICY_RUNS && may_resize(&job->view) && least > job->view.nodes
                    ? larger_size(&job->view, least, job->view.nodes + core->view.idle)
                    : 0;
    if (!nodes)
        return error_set(error, ERROR_REFUSED, "job %lld: it cannot have %d nodes or more now", (long long)id, least);
    *decision = (struct decision){.kind = DECISION_RESIZE, .job = id, .from = job->view.nodes, .to = nodes};
    if (job_reserve_nodes(job, nodes) ||
        array_reserve(&core->chosen, &core->chosen_room, (size_t)nodes, sizeof *core->chosen))
        return error_memory(error);
    resize_job(core, job, decision, core->chosen);
    decision->nodes = core->chosen;
    explain_decision(decision, "%s", reason);
    return 0;
}
