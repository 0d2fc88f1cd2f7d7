/*
 * Connecting the ranks with the joining ones before they stand still, where the backend can do that beside the program.
 * First the two sides connect: a joiner that dies meanwhile is no harm, who waits for it is given up. When all have
 * done so they make the communicators, which cannot do without any of them: a joiner that dies then ends the job. After
 * that nothing moves between the processes until the window, so that it is no harm again.
 */
#include "runtime/coordinator/state.h"
#include "runtime/member/json.h"
#include "runtime/member/member.h"

/* The joiners first: where they wait they sleep, and the first rank, which is the last one, does not. */
static void tell_all(struct coordinator *c, cJSON *message)
{
    const struct adaptation *a = c->adaptation;
    for (int j = a->joining - 1; j >= 0; j--)
        c->config.ops->send(c->config.context, a->joiners[j], message);
    for (int r = c->size - 1; r >= 0; r--)
        c->config.ops->send(c->config.context, c->world[r], message);
    cJSON_Delete(message);
}

static void begin(struct coordinator *c)
{
    struct plan *plan = adaptation_plan(c);
    if (!plan)
        return;
    cJSON *message = json_message("connect");
    cJSON_AddItemToObject(message, "plan", plan_to_json(plan));
    plan_free(plan);
    tell_all(c, message);
}

static void make_communicators(struct coordinator *c)
{
    struct adaptation *a = c->adaptation;
    a->linking = LINKING_MERGES;
    a->unconnected = c->size + a->joining;
    a->connect_deadline = a->joining ? monotonic_seconds() + c->config.prepare_timeout : 1e300;
}

bool linking_start(struct coordinator *c)
{
    struct adaptation *a = c->adaptation;
    if (!c->config.backend->ahead || !c->config.backend->ahead() || c->ahead_off || is_for_phase(a))
        return false;
    a->deadline = a->margin = 1e300; /* the joiners are ready */
    a->unconnected = c->size + a->joining;
    a->linking = LINKING_CONNECTS;
    a->connect_deadline = monotonic_seconds() + c->config.connect_timeout;
    if (!a->joining)
        make_communicators(c);
    begin(c);
    return true;
}

void linking_linked(struct coordinator *c, const cJSON *message)
{
    struct adaptation *a = c->adaptation;
    if (!a || json_int(message, "adaptation", 0) != a->id || a->linking != LINKING_CONNECTS || --a->unconnected)
        return;
    make_communicators(c);
    tell_all(c, json_message("merge"));
}

void linking_connected(struct coordinator *c, const cJSON *message)
{
    struct adaptation *a = c->adaptation;
    const char *failure = json_text(message, "failure");
    if (failure) {
        adaptation_drop(c, ADAPTATION_FAILED, "failed", failure);
    } else if (--a->unconnected == 0) {
        a->linking = LINKING_DONE;
        adaptation_prepared(c);
    }
}

void linking_timeout(struct coordinator *c)
{
    if (c->adaptation->linking == LINKING_MERGES)
        c->config.ops->fatal(c->config.context, "the ranks did not come together for an adaptation in time");
    else
        adaptation_drop(c, ADAPTATION_FAILED, "timeout", "MPI could not connect the joining processes in time");
}

void linking_off(struct coordinator *c, const struct adaptation *a)
{
    bool lost = a->linking != LINKING_DONE;
    if (a->linking == LINKING_NONE)
        return;
    if (lost && a->joining)
        c->config.backend->kill(c, a); /* what MPI in them waits for will not come */
    cJSON *message = json_message("disconnect");
    cJSON_AddBoolToObject(message, "lost", lost);
    tell_all(c, message);
    c->ahead_off |= lost;
}
