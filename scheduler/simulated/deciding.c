/* Decisions: see deciding.h. */
#include "scheduler/simulated/deciding.h"

#include <inttypes.h>
#include <math.h>
#include <time.h>

#include "scheduler/simulated/promise.h"
#include "scheduler/simulated/recording.h"
#include "scheduler/simulated/replay.h"
#include "scheduler/simulated/resizing.h"
#include "scheduler/simulated/running.h"

enum { ROUNDS_MAX = 1000 };
static const double moved = 1e-6; /* seconds: less is no time */

static double cpu_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int ask(struct run *run, struct decisions *decisions, struct error *error)
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
        return running_start(run, play, decision, error);
    case DECISION_RESIZE:
        run->exact = false;
        return resizing_begin(run, play, decision, error);
    case DECISION_RESERVE:
        break;
    }
    return promise_made(run, play, decision, error);
}

static int take(struct run *run, const struct decision *decision, struct error *error)
{
    struct play *play = run_find(run, decision->job);
    if (!play)
        return error_set(error, ERROR_FAILED, "the core decides on job %" PRId64 ", which there is not", decision->job);
    if (is_told(play, decision))
        return 0;
    if (record_decision(run->schedule, run->now, decision))
        return error_memory(error);
    if (replay_compare(run, error))
        return -1;
    run->unchecked += decision->count;
    return carry_out(run, play, decision, error);
}

/* Jobs that this plan starts while one that was submitted earlier waits on. */
static void count_backfilled(struct run *run, const struct decisions *decisions)
{
    while (run->first_waiting < run->count && run->plays[run->first_waiting].state != PLAY_WAITS &&
           run->plays[run->first_waiting].state != PLAY_AHEAD)
        run->first_waiting++;
    for (int i = 0; i < decisions->count; i++)
        if (decisions->items[i].kind == DECISION_START &&
            run_find(run, decisions->items[i].job) > run->plays + run->first_waiting)
            run->schedule->metrics.backfilled++;
}

static int compare_with_core(const struct run *run, struct error *error)
{
    const epop_policy_state_t *state = core_state(run->core, run->now);
    if (!state)
        return error_memory(error);
    if (state->idle == run->ledger.idle && state->down == run->ledger.down)
        return 0;
    return error_set(error, ERROR_FAILED, "to the core %d nodes are idle and %d down, in truth %d and %d", state->idle,
                     state->down, run->ledger.idle, run->ledger.down);
}

int deciding(struct run *run, struct error *error)
{
    struct decisions decisions;
    run->news = false;
    if (count_rounds(run, error) || ask(run, &decisions, error))
        return -1;
    run->wake = decisions.wake;
    for (int i = 0; i < decisions.count; i++)
        if (take(run, &decisions.items[i], error))
            return -1;
    count_backfilled(run, &decisions);
    return compare_with_core(run, error);
}
