/* Measured jobs: see measuring.h. */
#include "scheduler/simulated/measuring.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/base/hash.h"
#include "scheduler/simulated/progress.h"

static const double first_sample = 5; /* iterations */

static int expect_next(struct run *run, struct play *play, struct error *error)
{
    play->sample_at = play->measured_from + ldexp(first_sample, play->samples);
    if (play->sample_at >= progress_phase(play)->iterations)
        return run_forget(play, EVENT_MEASURE), 0; /* its end comes before */
    return run_expect(run, play, EVENT_MEASURE, run->now + (play->sample_at - play->done) * play->pace, error);
}

int measuring_begin(struct run *run, struct play *play, struct error *error)
{
    play->measured_from = play->done;
    play->samples = 0;
    return play->work->progress ? expect_next(run, play, error) : 0;
}

void measuring_stop(struct play *play)
{
    run_forget(play, EVENT_MEASURE);
}

/* Bits that depend on the seed, on what is measured and on nothing else: not on what other jobs do. */
static uint64_t bits(const struct run *run, const struct play *play, int which)
{
    int64_t key[] = {(int64_t)run->simulation->seed, play->work->id, play->phase, play->nodes, play->samples, which};
    uint64_t hash = hash_bytes(HASH_BEGIN, key, sizeof key);
    hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ hash >> 27) * UINT64_C(0x94d049bb133111eb);
    return hash ^ hash >> 31;
}

static double uniform(uint64_t value)
{
    return ((double)(value >> 11) + 0.5) / 9007199254740992.0; /* 2^53 */
}

/* A factor around 1, normally distributed; not so far off that a time would be negative. */
static double noisy(const struct run *run, const struct play *play, int which)
{
    double radius = sqrt(-2 * log(uniform(bits(run, play, which)))), turn = uniform(bits(run, play, which + 1));
    double factor = 1 + run->simulation->noise * radius * cos(8 * atan(1) * turn);
    return factor < 0.01 ? 0.01 : factor;
}

static epop_policy_sample_t take(const struct run *run, const struct play *play, double factor)
{
    const struct phase *phase = progress_phase(play);
    double mtct = speedup_mtct(&phase->speedup, phase_nodes(phase, play->nodes)),
           spread = run->simulation->noise * mtct;
    epop_policy_sample_t sample = {.phase = play->phase, .nodes = play->nodes};
    sample.iterations = play->done - play->measured_from;
    sample.seconds = play->pace * factor;
    sample.mtct = mtct * noisy(run, play, 2);
    sample.trend = mtct * noisy(run, play, 4);
    sample.variance = spread * spread;
    sample.lo = fmax(0, fmin(sample.mtct, mtct - 2 * spread));
    sample.hi = fmax(sample.mtct, mtct + 2 * spread);
    return sample;
}

/* When each phase begins, at this size. */
static int tell_phases(struct run *run, const struct play *play, double factor, struct error *error)
{
    int ahead = play->work->phase_count - play->phase;
    double *begins = malloc((size_t)ahead * sizeof *begins);
    if (!begins)
        return error_memory(error);
    progress_begins(play, factor, begins);
    int failed = core_phase(run->core, run->now, play->work->id, play->phase, begins, error);
    free(begins);
    return failed;
}

static int tell(struct run *run, struct play *play, struct error *error)
{
    double factor = noisy(run, play, 0);
    epop_policy_sample_t sample = take(run, play, factor);
    if (core_measured(run->core, play->work->id, &sample, error) ||
        core_told(run->core, run->now, play->work->id, progress_left(play) * factor, error))
        return -1;
    return play->work->phase_count > 1 ? tell_phases(run, play, factor, error) : 0;
}

int measuring_event(struct run *run, struct play *play, struct error *error)
{
    progress_update(run, play);
    play->done = play->sample_at;
    if (tell(run, play, error))
        return -1;
    run->news |= !play->samples && play->work->kind >= EPOP_MALLEABLE;
    play->samples++;
    return expect_next(run, play, error);
}

int measuring_end(struct run *run, struct play *play, struct error *error)
{
    run_forget(play, EVENT_MEASURE);
    return play->work->progress && play->done - play->measured_from >= 1 ? tell(run, play, error) : 0;
}
