/* How far a job is: see progress.h. */
#include "scheduler/simulated/progress.h"

const struct phase *progress_phase(const struct play *play)
{
    return &play->work->phases[play->phase];
}

int progress_begin(struct run *run, struct play *play, int phase, struct error *error)
{
    play->phase = phase;
    play->done = 0;
    return progress_go_on(run, play, error);
}

void progress_update(const struct run *run, struct play *play)
{
    double most = progress_phase(play)->iterations;
    if (play->resize.stage != RESIZE_STANDS)
        play->done += (run->now - play->since) / play->pace;
    if (play->done > most)
        play->done = most;
    play->since = run->now;
}

int progress_go_on(struct run *run, struct play *play, struct error *error)
{
    const struct phase *phase = progress_phase(play);
    play->since = run->now;
    play->pace = phase_iteration(phase, play->nodes);
    return run_expect(run, play, EVENT_PHASE, run->now + (phase->iterations - play->done) * play->pace, error);
}

void progress_stand(struct run *run, struct play *play)
{
    progress_update(run, play);
    run_forget(play, EVENT_PHASE);
}

static double of_the_present(const struct play *play)
{
    return (progress_phase(play)->iterations - play->done) * play->pace;
}

double progress_left(const struct play *play)
{
    double left = of_the_present(play);
    for (int i = play->phase + 1; i < play->work->phase_count; i++)
        left += play->work->phases[i].iterations * phase_iteration(&play->work->phases[i], play->nodes);
    return left;
}

void progress_begins(const struct play *play, double factor, double *begins)
{
    double at = of_the_present(play) * factor;
    *begins++ = 0;
    for (int i = play->phase + 1; i < play->work->phase_count; i++) {
        *begins++ = at;
        at += play->work->phases[i].iterations * phase_iteration(&play->work->phases[i], play->nodes) * factor;
    }
}
