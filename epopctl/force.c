/*
 * epopctl stop --force. The job is asked, and ends itself; where its control plane does not answer, or that takes too
 * long, its processes on this host are signalled, and Hydra ends those on others. In any case it comes back when they
 * are gone.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "epopctl/client.h"
#include "epopctl/command.h"
#include "epopctl/family.h"
#include "epopctl/jobs.h"
#include "epopctl/output.h"
#include "runtime/base/clock.h"
#include "runtime/base/host.h"
#include "runtime/base/json.h"
#include "runtime/wire/messages.h"

/* Of the usual time limit; with a shorter one each takes less, so that the last step is always taken. */
#define USUAL      10.0
#define ATTACH_MS  2000
#define ANSWER_MS  1500
#define ENDING     5.0 /* seconds that a job has to end itself after its answer */
#define SECOND     1.1 /* between the two SIGTERM that end a job at once: within a second they are one */
#define TERMINATED 2.0 /* for that end, with its records; a second later it ends without its coordinator */
#define KILLED     1.5 /* for Hydra to end the rest, on all hosts */
#define RESERVED   (SECOND + TERMINATED + KILLED + 0.2) /* of the time limit, for ending it by signals */

struct forcing {
    const struct control_job *job;
    struct ctl_family family;
    double deadline, pace; /* pace: 1, or less where there is less time than usual */
    bool signalled;
};

/* Who asks, for the line that the job says. */
static cJSON *force_request(void)
{
    char host[HOST_OWN_MAX] = "?", text[100];
    cJSON *request = json_message(REQUEST(stop));
    gethostname(host, sizeof host - 1);
    snprintf(text, sizeof text, "pid %ld on %.40s", (long)getpid(), host);
    cJSON_AddTrueToObject(request, "force");
    cJSON_AddStringToObject(request, "asker", text);
    return request;
}

/* The job's own process may be one that cannot be looked at. */
static bool is_left(const struct forcing *f)
{
    return ctl_family_left(&f->family) || control_job_alive(f->job);
}

/* Is everything gone, within so many seconds at the usual pace? */
static bool gone(const struct forcing *f, double seconds)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    double end = monotonic_seconds() + f->pace * seconds;
    while (is_left(f)) {
        if (monotonic_seconds() > end || monotonic_seconds() > f->deadline)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

/* True if it takes the request, or went meanwhile. */
static bool ask(const struct forcing *f)
{
    cJSON *request = force_request(), *answer = NULL;
    int code = ctl_connect_quietly(f->job, (int)(f->pace * ATTACH_MS));
    bool connected = code == CTL_DONE;
    if (connected)
        answer = ctl_ask_quietly(request, (int)(f->pace * ANSWER_MS), &code);
    bool taken = json_true(answer, "ok") || (connected && code == CTL_NO_JOB);
    cJSON_Delete(answer);
    cJSON_Delete(request);
    return taken;
}

static bool is_late(const struct forcing *f)
{
    return monotonic_seconds() > f->deadline;
}

/* By its process, which may end the job in order; then by Hydra, which misses that one; then each by itself. */
static bool end_by_signals(struct forcing *f)
{
    static const struct {
        int kinds, number;
        double seconds;
    } steps[] = {{CTL_JOB, SIGTERM, SECOND},
                 {CTL_JOB, SIGTERM, TERMINATED},
                 {CTL_JOB, SIGKILL, KILLED},
                 {CTL_ALL, SIGKILL, KILLED}};
    f->signalled = true;
    ctl_family_find(&f->family, f->job);
    ctl_family_signal(&f->family, CTL_ALL, SIGCONT);
    for (size_t i = 0; i < sizeof steps / sizeof *steps && !is_late(f); i++) {
        ctl_family_find(&f->family, f->job);
        ctl_family_signal(&f->family, steps[i].kinds, steps[i].number);
        if (gone(f, steps[i].seconds))
            return true;
    }
    return gone(f, USUAL);
}

/* As far as that leaves time for more. */
static bool ends_itself(const struct forcing *f)
{
    double left = (f->deadline - monotonic_seconds()) / f->pace;
    return gone(f, fmin(ENDING, left - RESERVED));
}

static bool end_here(struct forcing *f)
{
    ctl_family_find(&f->family, f->job);
    ctl_family_signal(&f->family, CTL_JOB | CTL_LAUNCHER, SIGCONT);
    return (ask(f) && ends_itself(f)) || gone(f, 0) || end_by_signals(f);
}

static int conclude(const struct ctl_arguments *arguments, const char *reason, const char *note)
{
    cJSON *answer = cJSON_CreateObject();
    cJSON_AddBoolToObject(answer, "ok", !reason);
    cJSON_AddStringToObject(answer, "code", reason ? "timeout" : "done");
    if (reason || note)
        cJSON_AddStringToObject(answer, reason ? "reason" : "note", reason ? reason : note);
    if (arguments->json)
        term_print_json(answer);
    else if (reason)
        ctl_complain("%s", reason);
    else
        printf("ended%s%s\n", note ? "; " : "", note ? note : "");
    cJSON_Delete(answer);
    return reason ? CTL_TIMEOUT : CTL_DONE;
}

static int force_here(const struct ctl_arguments *arguments, struct forcing *f)
{
    char reason[300];
    bool ended = end_here(f);
    const struct ctl_relative *left = ctl_family_left(&f->family);
    if (ended)
        return conclude(arguments, NULL, f->signalled ? "it did not end by itself, and was ended by signals" : NULL);
    snprintf(reason, sizeof reason, "%.120s is still there after %g s: %s, pid %ld", f->job->id,
             arguments->timeout_ms / 1e3, left ? left->name : "its rank 0", left ? left->pid : f->job->pid);
    return conclude(arguments, reason, NULL);
}

/* Its processes cannot be looked at. */
static int force_elsewhere(const struct ctl_arguments *arguments, struct forcing *f)
{
    char reason[600], place[CONTROL_PLACE_MAX];
    if (ask(f) && !ctl_wait_end((int)((f->deadline - monotonic_seconds()) * 1e3)))
        return conclude(arguments, NULL, NULL);
    control_job_place(f->job, place);
    snprintf(reason, sizeof reason, "%.120s does not answer, or does not end: try it where it runs, on %s", f->job->id,
             place);
    return conclude(arguments, reason, NULL);
}

int ctl_force(const struct ctl_arguments *arguments)
{
    struct control_job job;
    double seconds = arguments->timeout_ms / 1e3;
    struct forcing f = {.job = &job, .deadline = monotonic_seconds() + seconds, .pace = fmin(1, seconds / USUAL)};
    int code = ctl_job_select(arguments->job, &job);
    if (code != CTL_DONE)
        return code;
    code = job.here ? force_here(arguments, &f) : force_elsewhere(arguments, &f);
    control_job_listed(&job); /* its address file goes with it */
    ctl_family_free(&f.family);
    return code;
}
