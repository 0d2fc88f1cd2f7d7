/* Promises and invariants: see promise.h. */
#include "scheduler/simulated/promise.h"

#include <inttypes.h>
#include <math.h>

/* Sums of times are rounded: as late as that is on time. */
static double late(double time)
{
    return time + 1e-3 + 1e-9 * fabs(time);
}

bool promise_exact(const struct run *run)
{
    if (!run->simulation->exact || run->simulation->script)
        return false;
    for (const struct work *work = run->workload->works; work < run->workload->works + run->count; work++)
        if (work->limit < work_seconds(work, work->wanted) * (1 - 1e-9) ||
            (work->progress && run->simulation->noise > 0))
            return false;
    return true;
}

int promise_made(struct run *run, struct play *play, const struct decision *decision, struct error *error)
{
    struct event event = {.time = late(fmax(decision->time, run->now)), .kind = EVENT_PROMISE};
    event.index = (size_t)(play - run->plays);
    play->reserved = decision->time;
    if (play->promised)
        return 0;
    play->promised = true;
    play->promise = decision->time;
    play->promise_made = run->now;
    play->promise_nodes = decision->to;
    return run->exact && events_add(&run->events, &event) ? error_memory(error) : 0;
}

/* Nodes that the jobs behind this one have taken since the promise. */
static int taken(const struct run *run, const struct play *play)
{
    int nodes = 0;
    for (const struct play *other = play + 1; other < run->plays + run->count && other->state != PLAY_AHEAD; other++)
        if (other->state == PLAY_RUNS && other->record->start >= play->promise_made)
            nodes += other->nodes;
    return nodes;
}

int promise_event(const struct run *run, const struct play *play, struct error *error)
{
    int behind;
    if (!run->exact || play->state != PLAY_WAITS)
        return 0;
    behind = taken(run, play);
    if (run->ledger.idle + behind < play->promise_nodes)
        return 0;
    return error_set(error, ERROR_FAILED,
                     "job %" PRId64 " was promised %d nodes for %.10g and waits, while %d are idle and jobs submitted "
                     "later have got %d since: a backfilled job delays it",
                     play->work->id, play->promise_nodes, play->promise, run->ledger.idle, behind);
}
