/* The steps to a job's end: see ending.h. */
#include "scheduler/attend/ending.h"

#include "runtime/base/json.h"
#include "runtime/wire/loop.h"
#include "runtime/wire/messages.h"

/* Seconds for the answer to force, for the end that it makes, which is that of a job that fails, and after SIGTERM. */
static const double taken = 1.5, forced = 6, terminated = 2;
enum { OWN_NUMBER = -1 };

static void take(struct ending *e, enum ending_step step, double seconds)
{
    e->step = step;
    wire_timer_set(e->next, seconds);
}

static int stop(struct ending *e, bool force)
{
    cJSON *request = json_message(REQUEST(stop));
    if (force) {
        cJSON_AddTrueToObject(request, "force");
        cJSON_AddStringToObject(request, "asker", "its resource manager");
    }
    int failed = plane_ask(e->plane, OWN_NUMBER, request);
    cJSON_Delete(request);
    return failed;
}

static void terminate(struct ending *e, double seconds)
{
    if (e->terminate)
        e->terminate(e->context);
    take(e, ENDING_TERMINATE, seconds);
}

static void force(struct ending *e)
{
    if (stop(e, true))
        terminate(e, terminated);
    else
        take(e, ENDING_FORCE, taken);
}

static void go_on(evutil_socket_t fd, short what, void *context)
{
    struct ending *e = context;
    (void)fd, (void)what;
    if (e->step == ENDING_STOP)
        force(e);
    else if (e->step == ENDING_FORCE)
        terminate(e, terminated);
    else if (e->step == ENDING_TERMINATE) {
        e->step = ENDING_KILL;
        if (e->kill)
            e->kill(e->context);
    }
}

int ending_open(struct ending *e, struct event_base *base, struct plane *plane)
{
    e->plane = plane;
    e->next = evtimer_new(base, go_on, e);
    return e->next ? 0 : -1;
}

static void hurry(struct ending *e, double grace)
{
    bool waits = e->step == ENDING_STOP || e->step == ENDING_TERMINATE;
    if (waits && grace < wire_timer_left(e->next))
        wire_timer_set(e->next, grace);
}

void ending_begin(struct ending *e, double grace)
{
    if (e->step != ENDING_NOT)
        hurry(e, grace);
    else if (stop(e, false))
        terminate(e, grace);
    else
        take(e, ENDING_STOP, grace);
}

void ending_answered(struct ending *e, const cJSON *answer)
{
    if (e->step == ENDING_STOP && !json_true(answer, "ok"))
        force(e);
    else if (e->step == ENDING_FORCE && !json_true(answer, "ok"))
        terminate(e, terminated);
    else if (e->step == ENDING_FORCE)
        take(e, ENDING_FORCE, forced);
}

void ending_over(struct ending *e)
{
    e->step = ENDING_OVER;
    evtimer_del(e->next);
}
