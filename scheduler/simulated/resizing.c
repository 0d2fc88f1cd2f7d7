/* Resizes in virtual time: see resizing.h. */
#include "scheduler/simulated/resizing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/simulated/asking.h"
#include "scheduler/simulated/measuring.h"
#include "scheduler/simulated/progress.h"
#include "scheduler/simulated/recording.h"

static int check(const struct play *play, const struct decision *decision, struct error *error)
{
    const struct work *work = play->work;
    int difference = decision->to - decision->from;
    if (work->kind < EPOP_MALLEABLE || !epop_policy_accepts(&work->range, decision->to))
        return error_set(error, ERROR_FAILED, "job %" PRId64 " is resized to %d nodes, which it does not accept",
                         work->id, decision->to);
    if (play->resize.stage != RESIZE_NONE || decision->from != play->nodes || abs(difference) != decision->count)
        return error_set(error, ERROR_FAILED, "job %" PRId64 " is resized from %d nodes to %d by %d while it has %d%s",
                         work->id, decision->from, decision->to, decision->count, play->nodes,
                         play->resize.stage == RESIZE_NONE ? "" : " and is in a resize");
    return 0;
}

/* The nodes that a growth gets are the job's from the decision on. */
static int take(struct run *run, struct play *play, struct error *error)
{
    const struct play_resize *resize = &play->resize;
    if (resize->to < play->nodes)
        return 0;
    if (ledger_take(&run->ledger, play->work->id, resize->nodes, resize->count, error))
        return -1;
    return record_more(play->record, run->now, resize->nodes, resize->count) ? error_memory(error) : 0;
}

static int give(struct run *run, struct play *play, struct error *error)
{
    const struct play_resize *resize = &play->resize;
    if (ledger_give(&run->ledger, play->work->id, resize->nodes, resize->count, error))
        return -1;
    return record_fewer(play->record, run->now, resize->nodes, resize->count) ? error_memory(error) : 0;
}

int resizing_begin(struct run *run, struct play *play, const struct decision *decision, struct error *error)
{
    struct play_resize *resize = &play->resize;
    size_t size = (size_t)decision->count * sizeof *resize->nodes;
    if (check(play, decision, error))
        return -1;
    if (!(resize->nodes = malloc(size)))
        return error_memory(error);
    memcpy(resize->nodes, decision->nodes, size);
    resize->count = decision->count;
    resize->to = decision->to;
    resize->decided = run->now;
    resize->number++;
    resize->stage = RESIZE_PREPARES;
    if (take(run, play, error))
        return -1;
    return run_expect(run, play, EVENT_RESIZE, run->now + run->simulation->latency, error);
}

static double stand_still(const struct run *run, const struct play *play)
{
    const struct core_costs *costs = &run->simulation->costs;
    int from = play->nodes, to = play->resize.to;
    return costs->base + costs->per_node * (from > to ? from : to) +
           costs->per_byte * play->work->bytes / (from < to ? from : to);
}

static int stand(struct run *run, struct play *play, struct error *error)
{
    double stall = stand_still(run, play);
    progress_stand(run, play);
    measuring_stop(play);
    play->resize.stage = RESIZE_STANDS;
    play->resize.stands = run->now;
    return run_expect(run, play, EVENT_RESIZE, run->now + stall, error);
}

static bool is_in_the_script(const struct run *run, const struct play *play)
{
    const struct script *script = run->simulation->script;
    for (size_t i = 0; script && i < script->resize_count; i++)
        if (script->resizes[i].job == play->work->id && script->resizes[i].number == play->resize.number)
            return true;
    return false;
}

/* It is prepared, and an elastic phase can be interrupted between any two iterations. */
static int gate(struct run *run, struct play *play, struct error *error)
{
    const struct phase *phase = progress_phase(play);
    char why[200];
    if (is_in_the_script(run, play))
        return resizing_refuse(run, play, "by the script", error);
    if (!phase->elastic) {
        play->resize.stage = RESIZE_WAITS;
        return 0;
    }
    if (phase_accepts(phase, play->resize.to))
        return stand(run, play, error);
    snprintf(why, sizeof why, "its phase %s does not accept them", phase->name ? phase->name : "");
    return resizing_refuse(run, play, why, error);
}

static int commit(struct run *run, struct play *play, struct error *error)
{
    struct play_resize *resize = &play->resize;
    int from = play->nodes, to = resize->to;
    double stall = run->now - resize->stands, latency = run->now - resize->decided;
    if (!phase_accepts(progress_phase(play), to))
        return error_set(error, ERROR_FAILED, "job %" PRId64 " has got %d nodes, which its phase does not accept",
                         play->work->id, to);
    if (to < from && give(run, play, error))
        return -1;
    resizing_drop(play);
    play->nodes = to;
    play->record->resizes++;
    play->record->stalled += stall;
    run->schedule->metrics.stalled += stall * (from > to ? from : to);
    *(from < to ? &run->schedule->metrics.grown : &run->schedule->metrics.shrunk) += 1;
    run->news = true;
    if (core_committed(run->core, run->now, play->work->id, latency, stall, error))
        return -1;
    if (progress_go_on(run, play, error) || measuring_begin(run, play, error))
        return -1;
    return asking(run, play, error);
}

int resizing_event(struct run *run, struct play *play, struct error *error)
{
    return play->resize.stage == RESIZE_STANDS ? commit(run, play, error) : gate(run, play, error);
}

int resizing_phase(struct run *run, struct play *play, struct error *error)
{
    return play->resize.stage == RESIZE_WAITS ? gate(run, play, error) : 0;
}

int resizing_refuse(struct run *run, struct play *play, const char *why, struct error *error)
{
    int to = play->resize.to;
    if (to > play->nodes && give(run, play, error))
        return -1;
    resizing_drop(play);
    run->schedule->metrics.refused++;
    run->news = true;
    if (core_refused(run->core, run->now, play->work->id, error))
        return -1;
    return run_note(run, error, "resize of job %" PRId64 " to %d nodes is refused: %s", play->work->id, to, why);
}

void resizing_drop(struct play *play)
{
    free(play->resize.nodes);
    play->resize.nodes = NULL;
    play->resize.stage = RESIZE_NONE;
    run_forget(play, EVENT_RESIZE);
}

bool resizing_awaits(const struct play *play, int node)
{
    const struct play_resize *resize = &play->resize;
    if ((resize->stage != RESIZE_PREPARES && resize->stage != RESIZE_WAITS) || resize->to < play->nodes)
        return false;
    for (int i = 0; i < resize->count; i++)
        if (resize->nodes[i] == node)
            return true;
    return false;
}
