/* The job's state in a word: see job_state.h. */
#include "runtime/coordinator/job_state.h"

#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/state.h"
#include "runtime/coordinator/stops.h"

enum job_state job_state(const struct coordinator *c)
{
    if (c->ending.finished)
        return JOB_IS_ENDING;
    if (c->stop.asked)
        return JOB_IS_STOPPING;
    if (stops_are_on(c))
        return JOB_IS_STOPPED;
    if (c->checkpoints.now.on)
        return JOB_IS_SAVING;
    if (c->pause.on)
        return JOB_IS_PAUSED;
    if (adaptation_is(c, ADAPTATION_WINDOW))
        return JOB_IS_ADAPTING;
    if (c->agreement.state != AGREEMENT_NONE)
        return JOB_IS_AGREEING;
    if (adaptation_pending(c))
        return JOB_IS_PREPARING;
    return processes_all_attached(c) ? JOB_IS_RUNNING : JOB_IS_STARTING;
}

const char *job_state_name(enum job_state state)
{
    static const char *const names[] = {
        [JOB_IS_STARTING] = "starting", [JOB_IS_RUNNING] = "running",   [JOB_IS_PREPARING] = "preparing",
        [JOB_IS_AGREEING] = "agreeing", [JOB_IS_ADAPTING] = "adapting", [JOB_IS_PAUSED] = "paused",
        [JOB_IS_SAVING] = "saving",     [JOB_IS_STOPPED] = "stopped",   [JOB_IS_STOPPING] = "stopping",
        [JOB_IS_ENDING] = "ending"};
    return names[state];
}

bool job_is_over(const struct coordinator *c)
{
    return c->ending.finished;
}
