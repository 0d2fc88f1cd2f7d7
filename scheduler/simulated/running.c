/* Jobs in virtual time: see running.h. */
#include "scheduler/simulated/running.h"

#include <inttypes.h>
#include <stdlib.h>

#include "scheduler/simulated/asking.h"
#include "scheduler/simulated/measuring.h"
#include "scheduler/simulated/progress.h"
#include "scheduler/simulated/recording.h"
#include "scheduler/simulated/resizing.h"

/* What a program tells ahead: of one phase only, there is nothing to tell. */
static epop_policy_phase_t *phases_of(const struct work *work)
{
    epop_policy_phase_t *phases = calloc((size_t)work->phase_count, sizeof *phases);
    for (int i = 0; phases && i < work->phase_count; i++) {
        phases[i] = (epop_policy_phase_t){.name = work->phases[i].name, .elastic = work->phases[i].elastic};
        phases[i].range = work->phases[i].range.max ? work->phases[i].range : work->range;
    }
    return phases;
}

static int submit(struct run *run, const struct work *work, struct error *error)
{
    struct core_job job = {.id = work->id, .name = work->name, .user = work->user, .kind = work->kind};
    epop_policy_phase_t *phases = phases_of(work);
    if (!phases)
        return error_memory(error);
    job.wanted = work->wanted;
    job.range = work->range;
    job.limit = work->limit;
    job.bytes = work->bytes;
    job.phases = phases;
    job.phase_count = work->phase_count;
    int failed = core_submit(run->core, run->now, &job, error);
    free(phases);
    return failed;
}

int running_submit(struct run *run, struct play *play, struct error *error)
{
    struct error refused = {0};
    run->news = true;
    if (!submit(run, play->work, &refused)) {
        play->state = PLAY_WAITS;
        run->waiting++;
        return 0;
    }
    if (refused.code == ERROR_MEMORY)
        return error_memory(error);
    play->state = PLAY_OVER;
    run->over++;
    return run_note(run, error, "%s; it is never started", refused.text);
}

static int check(const struct play *play, const struct decision *decision, struct error *error)
{
    const struct work *work = play->work;
    if (play->state != PLAY_WAITS)
        return error_set(error, ERROR_FAILED, "job %" PRId64 " is started, and does not wait", work->id);
    if (decision->to != decision->count || !epop_policy_accepts(&work->range, decision->to))
        return error_set(error, ERROR_FAILED,
                         "job %" PRId64 " is started at %d nodes (%d given), which it does not accept", work->id,
                         decision->to, decision->count);
    return 0;
}

static int begin(struct run *run, struct play *play, int phase, struct error *error)
{
    if (progress_begin(run, play, phase, error) || measuring_begin(run, play, error))
        return -1;
    return asking(run, play, error);
}

int running_start(struct run *run, struct play *play, const struct decision *decision, struct error *error)
{
    if (check(play, decision, error) ||
        ledger_take(&run->ledger, play->work->id, decision->nodes, decision->count, error))
        return -1;
    if (record_more(play->record, run->now, decision->nodes, decision->count))
        return error_memory(error);
    play->state = PLAY_RUNS;
    play->nodes = decision->to;
    play->record->start = run->now;
    run->waiting--;
    run->running++;
    return begin(run, play, 0, error);
}

/* It holds nothing any more. */
static int stop(struct run *run, struct play *play, struct error *error)
{
    const struct stay *held = record_held(play->record);
    resizing_drop(play);
    run_forget(play, EVENT_PHASE);
    run_forget(play, EVENT_MEASURE);
    if (ledger_give(&run->ledger, play->work->id, held->nodes, held->count, error))
        return -1;
    record_none(play->record, run->now);
    play->nodes = play->asked = 0;
    run->news = true;
    run->running--;
    return 0;
}

static int end(struct run *run, struct play *play, struct error *error)
{
    if (stop(run, play, error))
        return -1;
    play->state = PLAY_OVER;
    play->record->end = run->now;
    play->record->outcome = OUTCOME_DONE;
    run->over++;
    return core_ended(run->core, run->now, play->work->id, error);
}

int running_phase(struct run *run, struct play *play, struct error *error)
{
    int next = play->phase + 1;
    play->done = progress_phase(play)->iterations;
    play->since = run->now;
    if (measuring_end(run, play, error))
        return -1;
    if (next == play->work->phase_count)
        return end(run, play, error);
    run->news |= play->work->kind >= EPOP_MALLEABLE;
    if (core_phase(run->core, run->now, play->work->id, next, NULL, error) || begin(run, play, next, error))
        return -1;
    return resizing_phase(run, play, error);
}

int running_requeue(struct run *run, struct play *play, struct error *error)
{
    if (stop(run, play, error))
        return -1;
    play->state = PLAY_WAITS;
    play->record->start = -1;
    play->record->requeues++;
    run->schedule->metrics.requeues++;
    run->waiting++;
    if (core_requeued(run->core, run->now, play->work->id, error))
        return -1;
    return run_note(run, error, "job %" PRId64 " begins anew", play->work->id);
}
