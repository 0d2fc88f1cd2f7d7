/*
 * Connecting ahead of the window: see preconnect.h. First the two sides connect: a joiner that dies meanwhile is no
 * harm, who waits for it is given up. When all have done so they make the communicators, which cannot do without any of
 * them: a joiner that dies then ends the job. After that nothing moves between the processes until the window, so that
 * it is no harm again.
 */
#include "runtime/coordinator/preconnect.h"

#include "runtime/base/json.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/fatal.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/state.h"
#include "runtime/wire/messages.h"

/* The joiners first: where they wait they sleep, and the first rank, which is the last one, does not. */
static void tell_all(struct coordinator *c, cJSON *message)
{
    const struct adaptation *a = adaptation_pending(c);
    for (int j = a->joining - 1; j >= 0; j--)
        processes_send_copy(c, a->joiners[j], message);
    for (int r = c->processes.size - 1; r >= 0; r--)
        processes_send_copy(c, c->processes.world[r], message);
    cJSON_Delete(message);
}

static void begin(struct coordinator *c)
{
    struct plan *plan = adaptation_plan(c);
    if (!plan)
        return;
    cJSON *message = json_message(ORDER(connect));
    cJSON_AddItemToObject(message, "plan", plan_to_json(plan));
    plan_free(plan);
    tell_all(c, message);
}

static void make_communicators(struct coordinator *c)
{
    struct adaptation *a = adaptation_pending(c);
    a->preconnect = PRECONNECT_MERGES;
    a->unconnected = c->processes.size + a->joining;
    if (a->joining)
        timers_set(&c->timers, &c->preconnect.limit, c->config.prepare_timeout);
}

bool preconnect_start(struct coordinator *c)
{
    struct adaptation *a = adaptation_pending(c);
    bool possible = c->config.backend->flags & BACKEND_PRECONNECTS && c->config.backend->preconnects();
    if (!possible || c->preconnect.off || a->by == BY_PHASE)
        return false;
    timers_cancel(&c->timers, &c->adaptations.prepare_limit); /* the joiners are ready */
    if (a->joining) {
        a->unconnected = c->processes.size + a->joining;
        a->preconnect = PRECONNECT_CONNECTS;
        timers_set(&c->timers, &c->preconnect.limit, c->config.connect_timeout);
    } else {
        make_communicators(c);
    }
    begin(c);
    return true;
}

void preconnect_linked(struct coordinator *c, int process, const struct report_linked *report)
{
    struct adaptation *a = adaptation_of(c, report->adaptation);
    (void)process;
    if (!a || a->preconnect != PRECONNECT_CONNECTS || --a->unconnected)
        return;
    make_communicators(c);
    tell_all(c, json_message(ORDER(merge)));
}

void preconnect_connected(struct coordinator *c, const char *failure)
{
    struct adaptation *a = adaptation_pending(c);
    if (failure) {
        adaptation_fail(c, failure);
    } else if (--a->unconnected == 0) {
        timers_cancel(&c->timers, &c->preconnect.limit);
        a->preconnect = PRECONNECT_DONE;
        adaptation_prepared(c);
    }
}

static void timeout(void *context)
{
    struct coordinator *c = context;
    bool merges = adaptation_pending(c)->preconnect == PRECONNECT_MERGES;
    if (!merges && adaptation_connects_on(c, &c->preconnect.limit, BACKEND_CONNECT_LONGEST))
        return;
    if (merges)
        fatal_fault(c, "the ranks did not come together for an adaptation in time");
    else
        adaptation_drop(c, ADAPTATION_FAILED, "timeout", "MPI could not connect the joining processes in time");
}

void preconnect_off(struct coordinator *c, const struct adaptation *a)
{
    bool lost = a->preconnect != PRECONNECT_DONE;
    if (a->preconnect == PRECONNECT_NONE)
        return;
    timers_cancel(&c->timers, &c->preconnect.limit);
    if (lost && a->joining)
        c->config.backend->kill(c, a); /* what MPI in them waits for will not come */
    cJSON *message = json_message(ORDER(disconnect));
    cJSON_AddBoolToObject(message, "lost", lost);
    tell_all(c, message);
    c->preconnect.off |= lost;
}

void preconnect_new_world(struct coordinator *c)
{
    c->preconnect.off = false;
}

bool preconnect_goes_on(const struct coordinator *c)
{
    const struct adaptation *a = adaptation_pending(c);
    return a && (a->preconnect == PRECONNECT_CONNECTS || a->preconnect == PRECONNECT_MERGES);
}

void preconnect_init(struct coordinator *c)
{
    timer_init(&c->preconnect.limit, timeout, c, &c->limits);
}
