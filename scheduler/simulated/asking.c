/* Evolving jobs: see asking.h. */
#include "scheduler/simulated/asking.h"

#include "scheduler/simulated/progress.h"

/* Which size this phase needs, where it does not accept the present one; 0: none. */
static int needed(const struct play *play)
{
    const struct phase *phase = progress_phase(play);
    int fits = phase_nodes(phase, play->nodes);
    if (phase_accepts(phase, play->nodes))
        return 0;
    return fits != play->nodes ? fits : phase->range.count ? phase->range.sizes[0] : phase->range.min;
}

int asking(struct run *run, struct play *play, struct error *error)
{
    int asked = play->work->kind == EPOP_EVOLVING ? needed(play) : 0;
    if (asked == play->asked || (asked && !epop_policy_accepts(&play->work->range, asked)))
        return 0;
    play->asked = asked;
    run->news = true;
    return core_asked(run->core, play->work->id, asked, error);
}
