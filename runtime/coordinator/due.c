/* Deadlines, the next agreement and the end: see due.h. */
#include "runtime/coordinator/due.h"

#include "runtime/coordinator/rollcall.h"
#include "runtime/coordinator/stops.h"
#include "runtime/member/json.h"
#include "runtime/member/member.h"

static bool world_is_here(const struct coordinator *c)
{
    for (int r = 0; r < c->size; r++)
        if (!c->processes[c->world[r]].here)
            return false;
    return true;
}

/* But for those that were called off and may never come, and those that have a number, and are not started: the end of
 * the program forestalls that. */
static bool all_are_here(const struct coordinator *c, bool in_time)
{
    bool to_start = c->adaptation && !c->adaptation->started;
    for (int p = 0; p < c->process_count; p++) {
        enum process_state state = c->processes[p].state;
        bool comes =
            state != PROCESS_GONE && (in_time || state != PROCESS_RETURNING) && !(to_start && state == PROCESS_JOINING);
        if (!c->processes[p].here && comes)
            return false;
    }
    return true;
}

static int count_ended(const struct coordinator *c)
{
    int ended = 0;
    for (int r = 0; r < c->size; r++)
        ended += c->processes[c->world[r]].ended;
    return ended;
}

/* Is there a reason to bring all ranks together? */
static bool wants_agreement(const struct coordinator *c)
{
    const struct adaptation *a = c->adaptation;
    if (a && (a->state == ADAPTATION_WINDOW || is_for_phase(a)))
        return false;
    if (c->stopping)
        return !c->stop_sent;
    if (c->pausing)
        return !c->paused;
    return a && a->state == ADAPTATION_PREPARED && monotonic_seconds() >= c->last_commit + c->config.min_interval;
}

static void finish(struct coordinator *c)
{
    if (c->adaptation)
        adaptation_drop(c, ADAPTATION_CANCELLED, "failed", "the program has ended");
    answer(c, &c->pause_handle, refusal("failed", "the program has ended"));
    stops_refuse_waiting(c, "the program has ended");
    c->finished = true;
    position_give_up(c);
    survey_give_up(c);
    int status =
        c->config.ops->ended ? c->config.ops->ended(c->config.context, c->stop_sent ? c->stopped_by : NULL) : 0;
    publish(c, "finished", NULL, NULL);
    for (int p = 0; p < c->process_count; p++) {
        cJSON *message = json_message("finish");
        cJSON_AddNumberToObject(message, "status", status);
        send_to(c, p, message);
    }
}

/* The launcher's exit status would be a matter of chance if a signal just killed the processes. */
void due_check_signals(struct coordinator *c)
{
    if (c->interrupted)
        c->config.ops->fatal(c->config.context, "interrupted (SIGINT)");
    else if (c->terminations > 1)
        c->config.ops->fatal(c->config.context, "told to end for a second time (SIGTERM): ends at once");
    else if (c->terminations)
        request_stop(c, "SIGTERM");
}

void due_advance(struct coordinator *c)
{
    double now = monotonic_seconds();
    struct adaptation *a = c->adaptation;
    due_check_signals(c);
    dump_look(c);
    if (c->survey.open && now > c->survey.deadline)
        survey_give_up(c);
    if (c->finished)
        return;
    watchdog_look(c);
    progress_show(c);
    if (c->waiting && now > c->position_deadline)
        position_give_up(c);
    if (c->stops.how != NOT_STOPPED)
        return; /* while the ranks are stopped nothing else is due */
    if (now >= rollcall_deadline(c))
        rollcall_check(c);
    if (a && a->state == ADAPTATION_PREPARING && !c->paused && now > a->deadline)
        adaptation_drop(c, ADAPTATION_FAILED, "timeout", "the joining processes were not ready in time");
    if (c->agreement == AGREEMENT_FREEZING && now > c->freeze_deadline)
        agreement_timeout(c);
    if (a && c->adaptation == a && a->state == ADAPTATION_WINDOW && a->unconnected && now > a->connect_deadline)
        adaptation_connect_timeout(c);
    if (linking_goes_on(c) && now > c->adaptation->connect_deadline)
        linking_timeout(c);
    if (c->check_later)
        agreement_check(c);

    if (c->adaptation == a && (linking_goes_on(c) || (a && a->state == ADAPTATION_WINDOW)))
        return; /* ranks that are through may have ended already; the others will say that they are through */
    /* A process that is not attached yet would not hear of the end, and find nobody to attach to. */
    bool ended = count_ended(c) == c->size;
    if (ended && !c->end_deadline)
        c->end_deadline = now + c->config.finish_timeout;
    if (ended && all_are_here(c, now < c->end_deadline))
        finish(c);
    else if (c->agreement == AGREEMENT_NONE && wants_agreement(c) && world_is_here(c))
        agreement_start(c);
    else if (c->agreement == AGREEMENT_GATE && !c->paused)
        agreement_decide(c);
}

double due_wait(const struct coordinator *c)
{
    double now = monotonic_seconds(), wait = dump_wait(c);
    const struct adaptation *a = c->adaptation;
    if (c->survey.open && c->survey.deadline - now < wait)
        wait = c->survey.deadline - now;
    if (watchdog_wait(c) < wait)
        wait = watchdog_wait(c);
    if (c->end_deadline > now && c->end_deadline - now < wait)
        wait = c->end_deadline - now;
    if (progress_wait(c) < wait)
        wait = progress_wait(c);
    if (c->waiting && c->position_deadline - now < wait)
        wait = c->position_deadline - now;
    if (c->stops.how != NOT_STOPPED)
        return wait > 0 ? wait + 0.001 : 0.001;
    if (rollcall_deadline(c) - now < wait)
        wait = rollcall_deadline(c) - now;
    if (a && a->state == ADAPTATION_PREPARING && !c->paused && a->deadline - now < wait)
        wait = a->deadline - now;
    if (c->agreement == AGREEMENT_FREEZING && c->freeze_deadline - now < wait)
        wait = c->freeze_deadline - now;
    if (a && (linking_goes_on(c) || (a->state == ADAPTATION_WINDOW && a->unconnected)) &&
        a->connect_deadline - now < wait)
        wait = a->connect_deadline - now;
    if (a && c->agreement == AGREEMENT_GATE && !c->paused && a->ping_deadline - now < wait)
        wait = a->ping_deadline - now;
    double apart = c->last_commit + c->config.min_interval - now;
    if (a && a->state == ADAPTATION_PREPARED && apart > 0 && apart < wait)
        wait = apart;
    return wait > 0 ? wait + 0.001 : 0.001;
}
