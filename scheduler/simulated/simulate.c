/* A workload in virtual time: see simulate.h. */
#include "scheduler/simulated/simulate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/simulated/deciding.h"
#include "scheduler/simulated/faults.h"
#include "scheduler/simulated/measuring.h"
#include "scheduler/simulated/metrics.h"
#include "scheduler/simulated/promise.h"
#include "scheduler/simulated/replay.h"
#include "scheduler/simulated/resizing.h"
#include "scheduler/simulated/run.h"
#include "scheduler/simulated/running.h"

enum { IDLE_ROUNDS_MAX = 1000, WAKES_MAX = 1000000, PROGRESS_EVERY = 256 };

/* ---- The beginning ------------------------------------------------------------------------ */

static bool is_a_phase(const struct phase *phase, int most)
{
    double least = phase_iteration(phase, 1), largest = phase_iteration(phase, most);
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
    *play->record = (struct job_record){.work = work, .start = -1, .end = -1, .outcome = OUTCOME_NEVER};
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
    return ledger_init(&run->ledger, workload->nodes, error);
}

static int name_schedule(struct run *run, struct error *error)
{
    const char *spec = run->simulation->policy->spec, *comma = spec ? strchr(spec, ',') : NULL;
    run->schedule->policy = strdup(run->simulation->policy->table.name);
    run->schedule->options = strdup(comma ? comma + 1 : "");
    return run->schedule->policy && run->schedule->options ? 0 : error_memory(error);
}

static int begin(struct run *run, struct error *error)
{
    if (name_schedule(run, error) || begin_jobs(run, error) || begin_core(run, error) || faults_begin(run, error))
        return -1;
    run->exact = promise_exact(run);
    run->wake = INFINITY;
    run->round_began = run->now - 1;
    return 0;
}

/* ---- What happens ------------------------------------------------------------------------- */

static int happen(struct run *run, const struct event *event, struct error *error)
{
    struct play *play = event->kind == EVENT_NODE ? NULL : &run->plays[event->index];
    switch (event->kind) {
    case EVENT_PHASE:
        return running_phase(run, play, error);
    case EVENT_RESIZE:
        return resizing_event(run, play, error);
    case EVENT_MEASURE:
        return measuring_event(run, play, error);
    case EVENT_SUBMIT:
        return running_submit(run, play, error);
    case EVENT_PROMISE:
        return promise_event(run, play, error);
    case EVENT_NODE:
    case EVENT_KINDS:
        break;
    }
    return faults_event(run, event->index, error);
}

static bool is_past(const struct run *run, const struct event *event)
{
    return event->kind != EVENT_NODE && event->stamp != run->plays[event->index].stamps[event->kind];
}

/* The next event that is to happen. */
static const struct event *next_event(struct run *run)
{
    const struct event *event;
    while ((event = events_first(&run->events)) && is_past(run, event))
        events_drop(&run->events);
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

/* All that is due now; the nodes are counted when as many may have changed as there are. */
static int happen_all(struct run *run, struct error *error)
{
    const struct event *first;
    while ((first = next_event(run)) && first->time <= run->now) {
        struct event event = *first;
        events_drop(&run->events);
        if (happen(run, &event, error))
            return -1;
        run->unchecked++;
    }
    if (run->unchecked < run->workload->nodes)
        return 0;
    run->unchecked = 0;
    return ledger_count(&run->ledger, error);
}

static int stuck(const struct run *run, struct error *error)
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
        return stuck(run, error);
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

static int play(struct run *run, struct error *error)
{
    double time = run->now;
    for (long steps = 0; run->over < run->count; steps++) {
        if (next_time(run, &time, error) || move_to(run, time, error) || happen_all(run, error))
            return -1;
        if ((run->news || run->wake <= run->now) && deciding(run, error))
            return -1;
        tell_progress(run, steps);
    }
    return ledger_count(&run->ledger, error);
}

/* ---- The end ------------------------------------------------------------------------------ */

static int finish(struct run *run, struct error *error)
{
    bool known = run->workload->idle_watts > 0 || run->workload->busy_watts > 0;
    run->schedule->metrics.joules = known ? run->joules : 0;
    run->schedule->metrics.peak_watts = known ? run->peak : 0;
    if (replay_end(run, error))
        return -1;
    return metrics_sum(run->schedule, run->workload, run->node_seconds, error);
}

static void clean_up(struct run *run)
{
    for (size_t i = 0; run->plays && i < run->count; i++)
        resizing_drop(&run->plays[i]);
    if (run->core)
        core_destroy(run->core);
    ledger_free(&run->ledger);
    events_free(&run->events);
    free(run->plays);
    free(run->ids);
}

int simulate(const struct simulation *simulation, struct schedule *schedule, struct error *error)
{
    struct run run = {.simulation = simulation, .workload = simulation->workload, .schedule = schedule};
    int failed;
    *schedule = (struct schedule){0};
    run.count = simulation->workload->count;
    failed = begin(&run, error) || play(&run, error) || finish(&run, error);
    if (failed) {
        if (strncmp(error->text, "policy ", strlen("policy ")))
            error_set(error, error->code, "policy %s at %.10g: %s", policy_called(simulation->policy), run.now,
                      error->text);
        schedule_free(schedule);
    }
    clean_up(&run);
    return failed ? -1 : 0;
}
