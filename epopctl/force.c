/*
 * epopctl stop --force. The job is asked, and ends itself; where its control plane does not answer, or that takes too
 * long, its processes on this host are signalled, and Hydra ends those on others. In any case it comes back when they
 * are gone.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "epopctl/client.h"
#include "epopctl/command.h"
#include "epopctl/jobs.h"
#include "runtime/base/array.h"
#include "runtime/base/clock.h"
#include "runtime/base/host.h"
#include "runtime/base/json.h"
#include "runtime/base/proctree.h"
#include "runtime/control/jobs.h"
#include "runtime/wire/messages.h"
#include "terminal/output.h"

/* ---- The family: the processes of a job on this host -------------------------------------------- */

/*
 * The process of rank 0, what started it (Hydra's proxy and its mpiexec), and what they have started, ranks and
 * launches of joining processes. A process that shares no output with the one that started it is the program's own
 * affair, and left out.
 */

/* The job's own process, that of rank 0; mpiexec and proxies; all others. */
enum { FAMILY_JOB = 1, FAMILY_LAUNCHER = 2, FAMILY_OTHER = 4, FAMILY_ALL = 7 };

struct relative {
    struct proc_id id;
    int kind;
    char name[32];
};

struct family {
    struct relative *members;
    size_t count, room;
};

#define ANCESTORS 8 /* a script or two, or a keeper, may stand between the proxy and a rank */

static bool is_mpiexec(const struct proc *proc)
{
    return !strncmp(proc->name, "mpiexec", 7) || !strncmp(proc->name, "mpirun", 6);
}

static bool is_proxy(const struct proc *proc)
{
    return !strcmp(proc->name, "hydra_pmi_proxy");
}

static bool is_proxy_of_ours(void *context, const struct proc *proc)
{
    (void)context;
    return is_proxy(proc) && proc->ours;
}

/* The mpiexec above the proxy above it; the proxy where mpiexec is on another host; itself where there is neither. */
static struct proc_id root_of(const struct proc_id *process)
{
    struct proc proxy, above;
    if (!proctree_upwards(process->number, ANCESTORS, is_proxy_of_ours, NULL, &proxy))
        return *process;
    return !proctree_read(proxy.parent, &above) && is_mpiexec(&above) && above.ours ? above.id : proxy.id;
}

static bool family_has(const struct family *family, const struct proc_id *id)
{
    for (size_t i = 0; i < family->count; i++)
        if (proctree_same(&family->members[i].id, id))
            return true;
    return false;
}

/* Looking for those of a job; the descent's context. */
struct search {
    struct family *family;
    struct proc_id job, root;
};

static int kind_of(const struct search *search, const struct proc *proc)
{
    if (proctree_same(&proc->id, &search->job))
        return FAMILY_JOB;
    return is_mpiexec(proc) || is_proxy(proc) ? FAMILY_LAUNCHER : FAMILY_OTHER;
}

static bool family_begins(void *context, const struct proc *proc)
{
    const struct search *search = context;
    return proctree_same(&proc->id, &search->root) || proctree_same(&proc->id, &search->job) ||
           family_has(search->family, &proc->id);
}

static bool shares_output(pid_t one, pid_t other)
{
    for (int fd = 1; fd <= 2; fd++) {
        char its[256], others[256];
        if (proctree_leads_to(one, fd, its, sizeof its) && proctree_leads_to(other, fd, others, sizeof others) &&
            !strcmp(its, others))
            return true;
    }
    return false;
}

static bool family_follows(void *context, const struct proc *child, const struct proc *parent)
{
    return (kind_of(context, child) | kind_of(context, parent)) & FAMILY_LAUNCHER ||
           shares_output(child->id.number, parent->id.number);
}

static void family_add(void *context, const struct proc *proc)
{
    const struct search *search = context;
    struct family *family = search->family;
    if (proc->ended || family_has(family, &proc->id) ||
        array_reserve(&family->members, &family->room, family->count + 1, sizeof *family->members))
        return;
    struct relative *one = &family->members[family->count++];
    *one = (struct relative){.id = proc->id, .kind = kind_of(search, proc)};
    snprintf(one->name, sizeof one->name, "%.31s", proc->name);
}

/* Those that are there now and not yet in it; *family is zero at first. Empty where the job's process is gone, not this
 * user's, or on another host. */
static void family_find(struct family *family, const struct control_job *job)
{
    struct proc proc;
    if (!job->here || !control_job_alive(job) || proctree_read(job->process.number, &proc) || !proc.ours)
        return;
    struct search search = {.family = family, .job = job->process, .root = root_of(&job->process)};
    const struct descent descent = {family_begins, family_follows, family_add, &search};
    size_t before;
    do {
        before = family->count;
        proctree_descend(&descent);
    } while (family->count > before); /* one of them may have started another meanwhile */
}

static void family_free(struct family *family)
{
    free(family->members);
    *family = (struct family){0};
}

/* One that is still there; NULL: none is. */
static const struct relative *family_left(const struct family *family)
{
    for (size_t i = 0; i < family->count; i++)
        if (proctree_runs(&family->members[i].id))
            return &family->members[i];
    return NULL;
}

/* To those of these kinds that are still there. */
static void family_signal(const struct family *family, int kinds, int number)
{
    for (size_t i = 0; i < family->count; i++)
        if (family->members[i].kind & kinds)
            proctree_signal(&family->members[i].id, number);
}

/* ---- Ending it ---------------------------------------------------------------------------------- */

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
    struct family family;
    double deadline, pace; /* pace: 1, or less where there is less time than usual */
    bool signalled;
};

/* Who asks, for the line that the job says. */
static cJSON *force_request(void)
{
    char text[100];
    cJSON *request = json_message(REQUEST(stop));
    snprintf(text, sizeof text, "pid %ld on %.40s", (long)getpid(), host_own());
    cJSON_AddTrueToObject(request, "force");
    cJSON_AddStringToObject(request, "asker", text);
    return request;
}

/* The job's own process may be one that cannot be looked at. */
static bool is_left(const struct forcing *f)
{
    return family_left(&f->family) || control_job_alive(f->job);
}

/* Is everything gone, within so many seconds at the usual pace? */
static bool is_gone_within(const struct forcing *f, double seconds)
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
static bool ask_to_end(const struct forcing *f)
{
    cJSON *request = force_request(), *answer = NULL;
    int code = ctl_connect_quietly(f->job, (int)(f->pace * ATTACH_MS));
    bool connected = code == COMMAND_DONE;
    if (connected)
        answer = ctl_ask_quietly(request, (int)(f->pace * ANSWER_MS), &code);
    bool taken = json_true(answer, "ok") || (connected && code == COMMAND_NO_JOB);
    cJSON_Delete(answer);
    cJSON_Delete(request);
    return taken;
}

static bool is_past_deadline(const struct forcing *f)
{
    return monotonic_seconds() > f->deadline;
}

/* By its process, which may end the job in order; then by Hydra, which misses that one; then each by itself. */
static bool end_by_signals(struct forcing *f)
{
    static const struct {
        int kinds, number;
        double seconds;
    } steps[] = {{FAMILY_JOB, SIGTERM, SECOND},
                 {FAMILY_JOB, SIGTERM, TERMINATED},
                 {FAMILY_JOB, SIGKILL, KILLED},
                 {FAMILY_ALL, SIGKILL, KILLED}};
    f->signalled = true;
    family_find(&f->family, f->job);
    family_signal(&f->family, FAMILY_ALL, SIGCONT);
    for (size_t i = 0; i < sizeof steps / sizeof *steps && !is_past_deadline(f); i++) {
        family_find(&f->family, f->job);
        family_signal(&f->family, steps[i].kinds, steps[i].number);
        if (is_gone_within(f, steps[i].seconds))
            return true;
    }
    return is_gone_within(f, USUAL);
}

/* As far as that leaves time for more. */
static bool ends_itself(const struct forcing *f)
{
    double left = (f->deadline - monotonic_seconds()) / f->pace;
    return is_gone_within(f, fmin(ENDING, left - RESERVED));
}

static bool end_here(struct forcing *f)
{
    family_find(&f->family, f->job);
    family_signal(&f->family, FAMILY_JOB | FAMILY_LAUNCHER, SIGCONT);
    return (ask_to_end(f) && ends_itself(f)) || is_gone_within(f, 0) || end_by_signals(f);
}

static int conclude_force(const struct options *arguments, const char *reason, const char *note)
{
    cJSON *answer = cJSON_CreateObject();
    cJSON_AddBoolToObject(answer, "ok", !reason);
    cJSON_AddStringToObject(answer, "code", reason ? "timeout" : "done");
    if (reason || note)
        cJSON_AddStringToObject(answer, reason ? "reason" : "note", reason ? reason : note);
    if (arguments->json)
        term_print_json(answer);
    else if (reason)
        term_complain("%s", reason);
    else
        printf("ended%s%s\n", note ? "; " : "", note ? note : "");
    cJSON_Delete(answer);
    return reason ? COMMAND_TIMEOUT : COMMAND_DONE;
}

static int force_here(const struct options *arguments, struct forcing *f)
{
    char reason[300];
    bool ended = end_here(f);
    const struct relative *left = family_left(&f->family);
    if (ended)
        return conclude_force(arguments, NULL,
                              f->signalled ? "it did not end by itself, and was ended by signals" : NULL);
    snprintf(reason, sizeof reason, "%.120s is still there after %g s: %s, pid %d", f->job->id,
             arguments->timeout_ms / 1e3, left ? left->name : "its rank 0",
             left ? left->id.number : f->job->process.number);
    return conclude_force(arguments, reason, NULL);
}

/* Its processes cannot be looked at. */
static int force_elsewhere(const struct options *arguments, struct forcing *f)
{
    char reason[600], place[CONTROL_PLACE_MAX];
    if (ask_to_end(f) && !ctl_wait_end((int)((f->deadline - monotonic_seconds()) * 1e3)))
        return conclude_force(arguments, NULL, NULL);
    control_job_place(f->job, place);
    snprintf(reason, sizeof reason, "%.120s does not answer, or does not end: try it where it runs, on %s", f->job->id,
             place);
    return conclude_force(arguments, reason, NULL);
}

int ctl_force(const struct options *arguments)
{
    struct control_job job;
    double seconds = arguments->timeout_ms / 1e3;
    struct forcing f = {.job = &job, .deadline = monotonic_seconds() + seconds, .pace = fmin(1, seconds / USUAL)};
    int code = ctl_job_select(arguments->job, &job);
    if (code != COMMAND_DONE)
        return code;
    code = job.here ? force_here(arguments, &f) : force_elsewhere(arguments, &f);
    control_job_listed(&job); /* its address file goes with it */
    family_free(&f.family);
    return code;
}
