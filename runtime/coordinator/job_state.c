/* The job's state in a word: see job_state.h. */
#include "runtime/coordinator/job_state.h"

#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/state.h"
#include "runtime/coordinator/stops.h"

const char *job_state_name(const struct coordinator *c)
{
    if (c->ending.finished)
        return "ending";
    if (c->stop.asked)
        return "stopping";
    if (stops_are_on(c))
        return "stopped";
    if (c->pause.on)
        return "paused";
    if (adaptation_is(c, ADAPTATION_WINDOW))
        return "adapting";
    if (c->agreement.state != AGREEMENT_NONE)
        return "agreeing";
    if (adaptation_pending(c))
        return "preparing";
    return processes_all_attached(c) ? "running" : "starting";
}

bool job_is_over(const struct coordinator *c)
{
    return c->ending.finished;
}
