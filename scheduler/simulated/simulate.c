/* A run: its beginning, what happens in it, what the policy decides and what is held against it, and its end. */
#include "scheduler/simulated/simulate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "scheduler/simulated/play.h"
#include "scheduler/simulated/run.h"
#include "scheduler/simulated/schedule.h"

/* Decisions of one moment; decisions while nothing runs; wakes for nothing. More are refused. */
enum { ROUNDS_MAX = 1000, IDLE_ROUNDS_MAX = 1000, WAKES_MAX = 1000000, PROGRESS_EVERY = 256 };
static const double moved = 1e-6; /* seconds: less is no time */

/* ---- The beginning ------------------------------------------------------------------------------ */

static bool is_a_phase(const struct phase *phase, int most)
{
    double least = phase_iteration(phase, 1), largest = phase_iteration(phase, most);
    for (int i = 0; i < SHARED; i++)
        if (phase->moves[i].bytes > 0 && !(isfinite(phase->moves[i].bytes) && phase->moves[i].every >= 1))
            return false;
    return phase->iterations > 0 && isfinite(phase->iterations) && least > 0 && isfinite(least) && largest > 0 &&
           isfinite(largest);
}

/* What would never end, or end before it began. */
static int check_work(const struct workload *workload, const struct work *work, struct error *error)
{
    const char *wrong = NULL;
    if (work->id < 0)
        wrong = "its id is below 0";
    else if (work->phase_count < 1)
        wrong = "it has no phase";
    else if (!isfinite(work->submit))
        wrong = "its submission is at no time";
    else if (work > workload->works && work->submit < work[-1].submit)
        wrong = "it was submitted before the one before it";
    for (int i = 0; !wrong && i < work->phase_count; i++)
        if (!is_a_phase(&work->phases[i], workload->nodes))
            wrong = "one of its phases has no length, or no end";
    return wrong ? error_set(error, ERROR_REFUSED, "job %" PRId64 ": %s", work->id, wrong) : 0;
}

static int by_id(const void *a, const void *b)
{
    const struct play_id *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static int index_ids(struct run *run, struct error *error)
{
    for (size_t i = 0; i < run->count; i++)
        run->ids[i] = (struct play_id){run->plays[i].work->id, i};
    qsort(run->ids, run->count, sizeof *run->ids, by_id);
    for (size_t i = 1; i < run->count; i++)
        if (run->ids[i].id == run->ids[i - 1].id)
            return error_set(error, ERROR_REFUSED, "job %" PRId64 " is there twice", run->ids[i].id);
    return 0;
}

static int begin_job(struct run *run, size_t index, struct error *error)
{
    const struct work *work = &run->workload->works[index];
    struct play *play = &run->plays[index];
    play->work = work;
    play->record = &run->schedule->jobs[index];
    *play->record = (struct job_record){
        .work = work, .start = -1, .end = -1, .outcome = OUTCOME_NEVER, .brief = run->schedule->brief};
    if (check_work(run->workload, work, error))
        return -1;
    return run_expect(run, play, EVENT_SUBMIT, work->submit, error);
}

static int begin_jobs(struct run *run, struct error *error)
{
    run->plays = calloc(run->count + 1, sizeof *run->plays);
    run->ids = calloc(run->count + 1, sizeof *run->ids);
    run->schedule->jobs = calloc(run->count + 1, sizeof *run->schedule->jobs);
    if (!run->plays || !run->ids || !run->schedule->jobs)
        return error_memory(error);
    run->schedule->job_count = run->count;
    run->now = run->count ? run->workload->works[0].submit : 0;
    for (size_t i = 0; i < run->count; i++)
        if (begin_job(run, i, error))
            return -1;
    return index_ids(run, error);
}

static int begin_core(struct run *run, struct error *error)
{
    const struct workload *workload = run->workload;
    run->core = core_create(workload->nodes, &run->simulation->costs, workload->power_cap);
    if (!run->core)
        return error_memory(error);
    for (int i = 0; i < workload->nodes; i++)
        core_set_watts(run->core, i, workload->idle_watts, workload->busy_watts);
    const struct topology *topology = run->simulation->topology;
    const double *speeds = run->simulation->speeds;
    if (topology && core_set_topology(run->core, topology, run->simulation->spread_cost))
        return error_memory(error);
    for (int i = 0; speeds && i < workload->nodes; i++)
        if (core_set_speed(run->core, i, speeds[i]))
            return error_memory(error);
    if (run->simulation->shares && core_set_shares(run->core, run->simulation->shares))
        return error_memory(error);
    return ledger_init(&run->ledger, workload->nodes, error);
}

static int name_schedule(struct run *run, struct error *error)
{
    const char *spec = run->simulation->policy->spec, *comma = spec ? strchr(spec, ',') : NULL;
    run->schedule->policy = strdup(run->simulation->policy->table.name);
    run->schedule->options = strdup(comma ? comma + 1 : "");
    return run->schedule->policy && run->schedule->options ? 0 : error_memory(error);
}

static int expect_fault(struct run *run, const struct script *script, size_t index, struct error *error)
{
    struct event event = {.time = fmax(script->nodes[index].time, run->now), .kind = EVENT_NODE, .index = index};
    int node = script->nodes[index].node;
    if (node < 0 || node >= run->workload->nodes)
        return error_set(error, ERROR_REFUSED, "the script: there is no node %d, the machine has 0 to %d", node,
                         run->workload->nodes - 1);
    return run_add_event(run, &event) ? error_memory(error) : 0;
}

/* All nodes and jobs of the script are there. Expects its events. */
static int begin_faults(struct run *run, struct error *error)
{
    const struct script *script = run->simulation->script;
    for (size_t i = 0; script && i < script->node_count; i++)
        if (expect_fault(run, script, i, error))
            return -1;
    for (size_t i = 0; script && i < script->resize_count; i++)
        if (!run_find(run, script->resizes[i].job))
            return error_set(error, ERROR_REFUSED, "the script: there is no job %" PRId64, script->resizes[i].job);
    return 0;
}

/* What others do makes it slower. */
static bool any_moves(const struct run *run)
{
    for (size_t i = 0; i < run->count; i++)
        for (int phase = 0; phase < run->plays[i].work->phase_count; phase++)
            if (play_moves(run, &run->plays[i].work->phases[phase]))
                return true;
    return false;
}

static bool has_priorities(const struct run *run)
{
    const struct work *works = run->workload->works;
    for (size_t i = 1; i < run->count; i++)
        if (works[i].priority != works[0].priority)
            return true;
    return false;
}

static bool has_deadlines(const struct run *run)
{
    const struct work *work = run->workload->works, *end = work + run->count;
    while (work < end && work->deadline <= 0)
        work++;
    return work < end;
}

/* Whether promises can be held against the policy at all. */
static bool promises_hold(const struct run *run)
{
    if (!run->simulation->exact || run->simulation->script || has_priorities(run) || any_moves(run))
        return false;
    for (const struct work *work = run->workload->works; work < run->workload->works + run->count; work++)
        if (work->limit < work_seconds(work, work->wanted) * (1 - 1e-9) ||
            (work->progress && run->simulation->noise > 0))
            return false;
    return true;
}

static int begin_run(struct run *run, struct error *error)
{
    if (name_schedule(run, error) || begin_jobs(run, error) || begin_core(run, error) || begin_faults(run, error))
        return -1;
    for (int i = 0; i < SHARED; i++)
        rate_init(&run->rates[i], run->workload->rates.all[i], run->workload->rates.link);
    run->exact = promises_hold(run);
    run->reorders = run->simulation->shares || has_deadlines(run);
    run->wake = INFINITY;
    run->round_began = run->now - 1;
    return 0;
}

/* ---- Nodes that fail ---------------------------------------------------------------------------- */

/*
 * A job on a node that fails is requeued, and begins anew; one that was only to get the node goes on, and its resize
 * is refused.
 */

static int lose_node(struct run *run, int node, struct error *error)
{
    int64_t holder = run->ledger.holders[node];
    struct play *play = holder < 0 ? NULL : run_find(run, holder);
    if (!play)
        return 0;
    if (play_awaits(play, node))
        return play_resize_refuse(run, play, "a node of them fails", error);
    return play_requeue(run, play, error);
}

/* EVENT_NODE: of the script's nodes, this one. A job on a node that fails is requeued, and begins anew; one that was
 * only to get the node goes on, and its resize is refused. */
static int change_node(struct run *run, size_t index, struct error *error)
{
    const struct node_fault *fault = &run->simulation->script->nodes[index];
    bool was_up = run->ledger.holders[fault->node] != LEDGER_DOWN;
    if (run_note(run, error, "node %d %s", fault->node, fault->up ? "returns" : "fails"))
        return -1;
    if (was_up == fault->up)
        return 0;
    if (!fault->up && lose_node(run, fault->node, error))
        return -1;
    if (fault->up)
        ledger_return(&run->ledger, fault->node);
    else
        ledger_fail(&run->ledger, fault->node);
    run->news = true;
    return core_node(run->core, fault->node, fault->up, error);
}

/* ---- Starts that were promised ------------------------------------------------------------------ */

/*
 * With true limits no job that was started from behind may keep another from its first promise: when that time has
 * come and the job waits, the idle nodes and those of jobs behind it and started since the promise must be too few for
 * it. This is checked as long as no limit is too short, what jobs say of their progress is right, no fault
 * was injected, all jobs have the same priority and start as large as they wanted, and none is resized: else nobody can
 * know when nodes become idle.
 */

/* Sums of times are rounded: as late as that is on time. */
static double no_later_than(double time)
{
    return time + 1e-3 + 1e-9 * fabs(time);
}

/* A reservation. The first one of a job counts. */
static int make_promise(struct run *run, struct play *play, const struct decision *decision, struct error *error)
{
    struct event event = {.time = no_later_than(fmax(decision->time, run->now)), .kind = EVENT_PROMISE};
    event.index = (size_t)(play - run->plays);
    play->reserved = decision->time;
    if (play->promised)
        return 0;
    play->promised = true;
    play->promise = decision->time;
    play->promise_made = run->now;
    play->promise_nodes = decision->to;
    return run->exact && run_add_event(run, &event) ? error_memory(error) : 0;
}

/* Where the order changes by itself a promise keeps a job's place before all that were not promised anything before. */
static bool is_behind(const struct play *other, const struct play *play)
{
    return other != play && !(other->promised && other->promise_made <= play->promise_made);
}

/* Nodes that the jobs behind this one have taken since the promise. */
static int nodes_taken_behind(const struct run *run, const struct play *play)
{
    const struct play *other = run->reorders ? run->plays : play + 1;
    int nodes = 0;
    for (; other < run->plays + run->count && other->state != PLAY_AHEAD; other++)
        if (other->state == PLAY_RUNS && other->record->start >= play->promise_made &&
            (!run->reorders || is_behind(other, play)))
            nodes += other->nodes;
    return nodes;
}

/* EVENT_PROMISE: the time of the first one is over. */
static int check_promise(const struct run *run, const struct play *play, struct error *error)
{
    int behind;
    if (!run->exact || play->state != PLAY_WAITS)
        return 0;
    behind = nodes_taken_behind(run, play);
    if (run->ledger.idle + behind < play->promise_nodes)
        return 0;
    return error_set(error, ERROR_FAILED,
                     "job %" PRId64 " was promised %d nodes for %.10g and waits, while %d are idle and jobs behind it "
                     "have got %d since: a backfilled job delays it",
                     play->work->id, play->promise_nodes, play->promise, run->ledger.idle, behind);
}

/* ---- A recorded run comes again ----------------------------------------------------------------- */

/* The same decisions at the same times. */

static bool same_time(double a, double b)
{
    return fabs(a - b) <= 1e-6 + 1e-12 * fabs(a);
}

static bool same_decision(const struct decision_record *a, const struct decision_record *b)
{
    const struct decision *x = &a->decision, *y = &b->decision;
    return same_time(a->time, b->time) && x->kind == y->kind && x->job == y->job && x->from == y->from &&
           x->to == y->to && x->count == y->count && (x->kind != DECISION_RESERVE || same_time(x->time, y->time)) &&
           (!x->count || !memcmp(x->nodes, y->nodes, (size_t)x->count * sizeof *x->nodes));
}

static void describe_decision(char *text, size_t size, const struct decision_record *record)
{
    const struct decision *decision = &record->decision;
    int used = snprintf(text, size, "at %.10g ", record->time);
    text += used, size -= (size_t)used;
    if (decision->kind == DECISION_RESIZE)
        snprintf(text, size, "resize of job %" PRId64 " from %d to %d nodes", decision->job, decision->from,
                 decision->to);
    else if (decision->kind == DECISION_START)
        snprintf(text, size, "start of job %" PRId64 " on %d nodes from node %d on", decision->job, decision->to,
                 decision->count ? decision->nodes[0] : 0);
    else
        snprintf(text, size, "reservation of %d nodes at %.10g for job %" PRId64, decision->to, decision->time,
                 decision->job);
}

/* The decision that was recorded last, against the recorded run. -1: the line names both. */
static int compare_with_record(struct run *run, struct error *error)
{
    const struct schedule *recorded = run->simulation->replay;
    size_t at = run->compared;
    char text[200], other[200] = "nothing more";
    if (!recorded)
        return 0;
    const struct decision_record *is = &run->schedule->decisions[run->schedule->decision_count - 1];
    if (at < recorded->decision_count && same_decision(is, &recorded->decisions[at])) {
        run->compared++;
        return 0;
    }
    describe_decision(text, sizeof text, is);
    if (at < recorded->decision_count)
        describe_decision(other, sizeof other, &recorded->decisions[at]);
    return error_set(error, ERROR_FAILED, "the replay differs in decision %zu: %s; recorded is %s%s", at + 1, text,
                     other, strncmp(text, other, sizeof text) ? "" : " (on other nodes)");
}

/* The run is over: nothing that was recorded is missing. */
static int check_record_is_over(const struct run *run, struct error *error)
{
    const struct schedule *recorded = run->simulation->replay;
    char text[200];
    if (!recorded || run->compared == recorded->decision_count)
        return 0;
    describe_decision(text, sizeof text, &recorded->decisions[run->compared]);
    return error_set(error, ERROR_FAILED, "the replay ends after %zu decisions; recorded is then %s", run->compared,
                     text);
}

/* ---- Decisions ---------------------------------------------------------------------------------- */

/* The policy is asked by way of the core, and what it decides is carried out. */

static double cpu_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int ask_policy(struct run *run, struct decisions *decisions, struct error *error)
{
    struct metrics *metrics = &run->schedule->metrics;
    double began = cpu_time(), took;
    if (core_decide(run->core, run->now, run->simulation->policy, decisions, error))
        return -1;
    took = cpu_time() - began;
    metrics->decide_seconds += took;
    metrics->decide_longest = fmax(metrics->decide_longest, took);
    metrics->decides++;
    return 0;
}

/* A policy that is never content, at one moment. */
static int count_rounds(struct run *run, struct error *error)
{
    if (run->now > run->round_began + moved) {
        run->round_began = run->now;
        run->rounds = 0;
    }
    if (run->rounds++ < ROUNDS_MAX)
        return 0;
    return error_set(error, ERROR_FAILED, "the policy was asked %d times without time moving; it always wants more",
                     ROUNDS_MAX);
}

/* Reservations are made anew at each decision: one is written down when its time is another. */
static bool is_told(const struct play *play, const struct decision *decision)
{
    return decision->kind == DECISION_RESERVE && play->promised && fabs(play->reserved - decision->time) <= 1e-6;
}

static int carry_out(struct run *run, struct play *play, const struct decision *decision, struct error *error)
{
    switch (decision->kind) {
    case DECISION_START:
        run->exact &= decision->to == play->work->wanted;
        return play_start(run, play, decision, error);
    case DECISION_RESIZE:
        run->exact = false;
        return play_resize(run, play, decision, error);
    case DECISION_RESERVE:
    case DECISION_BALANCE: /* no job here says that it may help */
        break;
    }
    return make_promise(run, play, decision, error);
}

static int take_decision(struct run *run, const struct decision *decision, struct error *error)
{
    struct play *play = run_find(run, decision->job);
    if (!play)
        return error_set(error, ERROR_FAILED, "the core decides on job %" PRId64 ", which there is not", decision->job);
    if (is_told(play, decision))
        return 0;
    if (record_decision(run->schedule, run->now, decision))
        return error_memory(error);
    if (compare_with_record(run, error))
        return -1;
    run->unchecked += decision->count;
    run->schedule->metrics.backfilled += decision->passes;
    return carry_out(run, play, decision, error);
}

/* All nodes draw the same here. */
static int idle_under_cap(const struct run *run)
{
    const struct workload *workload = run->workload;
    double extra = workload->busy_watts - workload->idle_watts;
    if (workload->power_cap <= 0 || extra <= 0)
        return run->ledger.idle;
    double used = workload->busy_watts * run->ledger.held + workload->idle_watts * run->ledger.idle;
    return (int)fmax(0, fmin(run->ledger.idle, floor((workload->power_cap - used) / extra + 1e-9)));
}

static int compare_with_core(const struct run *run, struct error *error)
{
    const epop_policy_state_t *state = core_state(run->core, run->now);
    if (!state)
        return error_memory(error);
    int idle = idle_under_cap(run);
    if (state->idle == idle && state->down == run->ledger.down)
        return 0;
    return error_set(error, ERROR_FAILED, "to the core %d nodes are idle and %d down, in truth %d and %d", state->idle,
                     state->down, idle, run->ledger.down);
}

static int decide_now(struct run *run, struct error *error)
{
    struct decisions decisions;
    run->news = false;
    if (count_rounds(run, error) || ask_policy(run, &decisions, error))
        return -1;
    run->wake = decisions.wake;
    for (int i = 0; i < decisions.count; i++)
        if (take_decision(run, &decisions.items[i], error))
            return -1;
    return compare_with_core(run, error);
}

/* ---- What happens ------------------------------------------------------------------------------- */

static bool is_of_job(const struct event *event)
{
    return event->kind != EVENT_NODE && event->kind != EVENT_MOVED;
}

static int happen_one(struct run *run, const struct event *event, struct error *error)
{
    struct play *play = is_of_job(event) ? &run->plays[event->index] : NULL;
    switch (event->kind) {
    case EVENT_PHASE:
        return play_computed(run, play, error);
    case EVENT_MOVED:
        return play_moved(run, (enum shared)event->index, error);
    case EVENT_LIMIT:
        return play_limit_reached(run, play, error);
    case EVENT_DEADLINE:
        return play_deadline(run, play, error);
    case EVENT_RESIZE:
        return play_resize_step(run, play, error);
    case EVENT_MEASURE:
        return play_measure(run, play, error);
    case EVENT_SUBMIT:
        return play_submit(run, play, error);
    case EVENT_PROMISE:
        return check_promise(run, play, error);
    case EVENT_NODE:
    case EVENT_KINDS:
        break;
    }
    return change_node(run, event->index, error);
}

static bool is_past(const struct run *run, const struct event *event)
{
    if (event->kind == EVENT_MOVED)
        return event->stamp != run->rate_stamps[event->index];
    return is_of_job(event) && event->stamp != run->plays[event->index].stamps[event->kind];
}

/* The next event that is to happen. */
static const struct event *next_event(struct run *run)
{
    const struct event *event;
    while ((event = run_first_event(run)) && is_past(run, event))
        run_drop_event(run);
    return event;
}

static void watch_power(struct run *run)
{
    const struct workload *workload = run->workload;
    double watts = workload->busy_watts * run->ledger.held + workload->idle_watts * run->ledger.idle;
    run->peak = fmax(run->peak, watts);
}

/* Nothing changed since `now`. */
static int move_to(struct run *run, double time, struct error *error)
{
    const struct workload *workload = run->workload;
    double passed = time - run->now;
    if (!(passed >= 0) || !isfinite(time))
        return error_set(error, ERROR_FAILED, "the next event is at %.10g: time does not move forward", time);
    watch_power(run);
    run->node_seconds += passed * run->ledger.held;
    run->joules += passed * (workload->busy_watts * run->ledger.held + workload->idle_watts * run->ledger.idle);
    run->now = time;
    return 0;
}

/* What is shared: nodes and rates. */
static int count_all(const struct run *run, struct error *error)
{
    for (int i = 0; i < SHARED; i++)
        if (rate_check(&run->rates[i], error))
            return -1;
    return ledger_count(&run->ledger, error);
}

/* All that is due now; the nodes are counted when as many may have changed as there are. */
static int happen_all(struct run *run, struct error *error)
{
    const struct event *first;
    while ((first = next_event(run)) && first->time <= run->now) {
        struct event event = *first;
        run_drop_event(run);
        if (happen_one(run, &event, error))
            return -1;
        run->unchecked++;
    }
    if (run->unchecked < run->workload->nodes)
        return 0;
    run->unchecked = 0;
    return count_all(run, error);
}

static int say_stuck(const struct run *run, struct error *error)
{
    double cap = run->workload->power_cap;
    char capped[60] = "";
    const struct play *play = run->plays;
    while (play->state != PLAY_WAITS)
        play++;
    if (cap > 0)
        snprintf(capped, sizeof capped, " under the power cap of %g W", cap);
    return error_set(error, ERROR_FAILED,
                     "job %" PRId64
                     "%s%s waits for %d nodes, %d of %d are idle (%d down), nothing runs, and the policy "
                     "starts nothing%s",
                     play->work->id, play->work->name ? " " : "", play->work->name ? play->work->name : "",
                     play->work->wanted, run->ledger.idle, run->ledger.nodes, run->ledger.down, capped);
}

/* When it goes on. A policy that only ever wants to be asked again is given some time. */
static int next_time(struct run *run, double *time, struct error *error)
{
    const struct event *event = next_event(run);
    bool due = event || run->running;
    run->idle_rounds = due ? 0 : run->idle_rounds + 1;
    if (!due && (isinf(run->wake) || run->idle_rounds > IDLE_ROUNDS_MAX))
        return say_stuck(run, error);
    bool happens = event && event->time <= run->wake;
    run->wakes = happens ? 0 : run->wakes + 1;
    if (run->wakes > WAKES_MAX)
        return error_set(
            error, ERROR_FAILED,
            "it wanted to be asked %d times in a row, and nothing else happened: let it ask less often, or "
            "look at the workload's times",
            WAKES_MAX);
    *time = happens ? event->time : fmax(run->wake, run->now);
    return 0;
}

static void tell_progress(const struct run *run, long steps)
{
    if (run->simulation->progress && steps % PROGRESS_EVERY == 0)
        run->simulation->progress(run->simulation->context, run->over, run->count, run->now);
}

static int play_on(struct run *run, struct error *error)
{
    double time = run->now;
    for (long steps = 0; run->over < run->count; steps++) {
        if (next_time(run, &time, error) || move_to(run, time, error) || happen_all(run, error))
            return -1;
        if ((run->news || run->wake <= run->now) && decide_now(run, error))
            return -1;
        tell_progress(run, steps);
    }
    return count_all(run, error);
}

/* ---- The end ------------------------------------------------------------------------------------ */

static void sum_rate(struct metrics *metrics, const struct rate *rate, int which)
{
    metrics->has_rate[which] = isfinite(rate->all);
    if (metrics->has_rate[which] && metrics->makespan > 0)
        metrics->rate_used[which] = rate->moved / (rate->all * metrics->makespan);
}

static int finish_run(struct run *run, struct error *error)
{
    bool known = run->workload->idle_watts > 0 || run->workload->busy_watts > 0;
    run->schedule->metrics.joules = known ? run->joules : 0;
    run->schedule->metrics.peak_watts = known ? run->peak : 0;
    if (check_record_is_over(run, error) || metrics_sum(run->schedule, run->workload, run->node_seconds, error) ||
        (run->simulation->shares && accounts_sum(run->schedule, core_shares(run->core), error)))
        return -1;
    for (int i = 0; i < SHARED; i++)
        sum_rate(&run->schedule->metrics, &run->rates[i], i);
    return 0;
}

static void clean_up(struct run *run)
{
    for (size_t i = 0; run->plays && i < run->count; i++)
        play_resize_drop(&run->plays[i]);
    if (run->core)
        core_destroy(run->core);
    ledger_free(&run->ledger);
    for (int i = 0; i < SHARED; i++)
        rate_free(&run->rates[i]);
    run_free_events(run);
    free(run->plays);
    free(run->ids);
}

int simulate(const struct simulation *simulation, struct schedule *schedule, struct error *error)
{
    struct run run = {.simulation = simulation, .workload = simulation->workload, .schedule = schedule};
    int failed;
    *schedule = (struct schedule){.brief = simulation->brief};
    run.count = simulation->workload->count;
    failed = begin_run(&run, error) || play_on(&run, error) || finish_run(&run, error);
    if (failed) {
        if (strncmp(error->text, "policy ", strlen("policy ")))
            error_set(error, error->code, "policy %s at %.10g: %s", policy_called(simulation->policy), run.now,
                      error->text);
        schedule_free(schedule);
    }
    clean_up(&run);
    return failed ? -1 : 0;
}
