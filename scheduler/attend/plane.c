/* The job's control plane: looked for in the directories of address files, attached to, asked. */
#include "scheduler/attend/plane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/control/rundir.h"
#include "runtime/wire/loop.h"
#include "runtime/wire/messages.h"
#include "runtime/wire/socket.h"

/* Seconds between looks for the address file: at first, and when the job has none after 10 s; after an attempt that
 * failed. */
static const double soon = 0.02, seldom = 0.5, young = 10, again = 1;

/* ---- Finding the job ---------------------------------------------------------------------------- */

/* The directories as they are: nothing is read where nothing has changed. */
static long long look_at_directories(void)
{
    char paths[CONTROL_RUNDIRS_MAX][256];
    int count = control_rundirs(paths);
    long long sum = count;
    for (int i = 0; i < count; i++) {
        struct stat status;
        if (!stat(paths[i], &status))
            sum = sum * 31 + status.st_mtim.tv_sec * 1000000000LL + status.st_mtim.tv_nsec;
    }
    return sum;
}

static bool is_it(const struct plane *plane, const struct control_job *job)
{
    if (!plane->batch)
        return !strcmp(job->id, plane->id);
    return !strcmp(job->batch, plane->batch) && strcmp(job->id, plane->over);
}

static bool find_job(struct plane *plane)
{
    struct control_job *jobs;
    int count = control_jobs(&jobs);
    bool found = false;
    for (int i = 0; i < count && !found; i++)
        if ((found = is_it(plane, &jobs[i])))
            plane->job = jobs[i];
    free(jobs);
    return found;
}

static void look_again_in(struct plane *plane, double seconds)
{
    wire_timer_set(plane->look, seconds);
}

static void seek_job(struct plane *plane, double seconds)
{
    if (plane->link)
        wire_link_close(plane->link);
    plane->link = NULL;
    plane->state = PLANE_SEEKS;
    plane->seen = -1;
    if (!plane->closed)
        look_again_in(plane, seconds);
}

/* ---- The link ----------------------------------------------------------------------------------- */

static void leave_job(struct plane *plane, bool lost)
{
    plane->lost = lost;
    snprintf(plane->over, sizeof plane->over, "%s", plane->job.id);
    seek_job(plane, soon);
}

static void on_attached(void *context, const struct error *why_not)
{
    struct plane *plane = context;
    if (why_not && wire_link_unreached(plane->link)) {
        leave_job(plane, true);
        return;
    }
    if (why_not) {
        seek_job(plane, again);
        return;
    }
    cJSON *watch = json_message(REQUEST(watch));
    plane->state = PLANE_ATTACHED;
    plane->lost = false;
    plane_ask(plane, 0, watch);
    cJSON_Delete(watch);
    plane->ops->attached(plane->context, plane->job.id);
}

static void on_message(void *context, const cJSON *event)
{
    struct plane *plane = context;
    plane->ops->event(plane->context, event);
}

static void on_ended(void *context, bool lost)
{
    struct plane *plane = context;
    leave_job(plane, lost);
    plane->ops->detached(plane->context);
}

static void begin_attaching(struct plane *plane)
{
    static const struct wire_link_ops ops = {.attached = on_attached, .message = on_message, .ended = on_ended};
    struct error unheard;
    plane->state = PLANE_ATTACHES;
    plane->link = wire_link_open(plane->base, plane->job.uri, plane->job.token, WIRE_TOOL, -1, &ops, plane,
                                 wire_host_seconds(), &unheard);
    if (!plane->link)
        seek_job(plane, again);
}

/* A change within the clock's tick of a look would be missed, so a look is repeated once. */
static void look_for_job(evutil_socket_t fd, short what, void *context)
{
    struct plane *plane = context;
    long long now = look_at_directories();
    bool changed = now != plane->seen;
    (void)fd, (void)what;
    look_again_in(plane, monotonic_seconds() - plane->since < young ? soon : seldom);
    if (!changed && plane->unchanged++ > 1)
        return;
    if (changed)
        plane->unchanged = 0;
    plane->seen = now;
    if (!find_job(plane))
        return;
    evtimer_del(plane->look);
    begin_attaching(plane);
}

/* ---- Asking it ---------------------------------------------------------------------------------- */

struct call {
    struct plane *plane;
    int64_t number; /* 0: nobody waits for it */
};

/* NULL: the job is gone, which is told of all that wait at once. */
static void on_answered(void *context, cJSON *answer, const struct error *why)
{
    struct call *call = context;
    (void)why;
    if (answer && call->number)
        call->plane->ops->answer(call->plane->context, call->number, answer);
    else
        cJSON_Delete(answer);
    free(call);
}

int plane_open(struct plane *plane, struct error *error)
{
    plane->look = evtimer_new(plane->base, look_for_job, plane);
    if (!plane->look)
        return error_memory(error);
    plane->since = monotonic_seconds();
    seek_job(plane, 0);
    return 0;
}

void plane_close(struct plane *plane)
{
    plane->closed = true;
    seek_job(plane, 0);
    evtimer_del(plane->look);
}

int plane_ask(struct plane *plane, int64_t number, const cJSON *request)
{
    struct call *call = plane->state == PLANE_ATTACHED ? calloc(1, sizeof *call) : NULL;
    if (!call)
        return -1;
    *call = (struct call){plane, number};
    if (!wire_link_ask(plane->link, request, 0, on_answered, call))
        return 0;
    free(call);
    return -1;
}
