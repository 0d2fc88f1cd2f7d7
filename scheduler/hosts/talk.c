/* Talking with a job's attendant: what it says, and what the job is asked about once a second. */
#include "scheduler/hosts/talk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/json.h"
#include "scheduler/core/sample.h"
#include "scheduler/hosts/balance.h"
#include "scheduler/hosts/launch.h"
#include "scheduler/hosts/life.h"
#include "scheduler/hosts/requeue.h"
#include "scheduler/hosts/resize.h"
#include "scheduler/hosts/state.h"

/* ---- What a job is asked ------------------------------------------------------------------------ */

static const double every = 1, answer_limit = 5, silence = 8; /* seconds */

/* What was measured since this daemon asked last. */
static cJSON *measure_request(void)
{
    cJSON *request = json_message("measure");
    cJSON_AddStringToObject(request, "asker", "epoprm");
    cJSON_AddNumberToObject(request, "keep", 60);
    return request;
}

static int64_t ask_job(struct hosts_job *job, cJSON *request)
{
    int64_t id = hosts_id(job->hosts);
    attend_client_ask(&job->attendant, id, request, answer_limit);
    return id;
}

/* One that did not answer is asked again. */
static void ask_again(evutil_socket_t fd, short what, void *context)
{
    struct hosts_job *job = context;
    (void)fd, (void)what;
    job->asked_measure = 0;
    job->asked_status = ask_job(job, json_message("status"));
    hosts_timer(job->hosts, &job->measure, ask_again, job, silence);
}

/* From now on, on this connection. */
static void begin_measuring(struct hosts_job *job)
{
    ask_again(-1, 0, job);
}

void hosts_talk_stop_measuring(struct hosts_job *job)
{
    hosts_timer_stop(job->measure);
    job->asked_status = job->asked_measure = 0;
}

/* ---- What it is --------------------------------------------------------------------------------- */

/* Where its process sets ask for something. */
static void tell_hints(const struct hosts_job *job)
{
    const struct hints *hints = &job->program.hints;
    char text[HINTS_TEXT];
    if (hints_text(hints, text))
        hosts_tell(job->hosts, job->number, "running", "%s", text);
}

/* An executable shows only now that it is elastic. */
static void learn_program(struct hosts_job *job)
{
    struct error error = {0};
    if (job->kind == EPOP_MOLDABLE && !job->once) {
        job->kind = EPOP_MALLEABLE;
        hosts_must(job->hosts, journal_job_set_kind(job->hosts->journal, job->number, "malleable", &error), &error);
    }
    hosts_tell(job->hosts, job->number, "running", "it can be resized, from %d to %d nodes", job->program.range.min,
               job->program.range.max);
    tell_hints(job);
    hosts_jobs_learned(job);
    hosts_news(job->hosts);
}

/* Before what it has left is told. */
static void tell_weak(struct hosts_job *job, const cJSON *status)
{
    struct error error = {0};
    const epop_policy_job_t *known = core_job(job->hosts->core, job->number);
    bool weak;
    if (!known || !weak_read(&weak, status) || weak == known->weak)
        return;
    hosts_must(job->hosts, core_weak(job->hosts->core, job->number, weak, &error), &error);
    hosts_tell(job->hosts, job->number, "running", "%s",
               weak ? "its phase has weak scaling: more nodes do more work, and it takes as long"
                    : "its phase has strong scaling");
    hosts_news(job->hosts);
}

/* When the element behind the present one begins; nothing is known of those after it. */
static void tell_phase(struct hosts_job *job, const cJSON *status, int phase)
{
    struct error error = {0};
    int ahead = job->program.phase_count - phase;
    double next = json_number(cJSON_GetObjectItemCaseSensitive(status, "next"), "seconds", -1);
    double *begins = calloc((size_t)ahead, sizeof *begins);
    for (int i = 1; begins && i < ahead; i++)
        begins[i] = i == 1 ? next : -1;
    hosts_must(job->hosts, core_phase(job->hosts->core, hosts_now(job->hosts), job->number, phase, begins, &error),
               &error);
    free(begins);
    if (phase != job->phase) {
        job->phase = phase;
        job->samples = 0;
        hosts_news(job->hosts);
    }
}

/* What the policy reckons with changes by more than counting down. */
static bool is_news(double before, double now)
{
    return fabs(now - before) > fmax(2, before / 10);
}

/* No longer than its limit lets it run. */
static void tell_left(struct hosts_job *job, const cJSON *status)
{
    struct error error = {0};
    struct core *core = job->hosts->core;
    const epop_policy_job_t *known = core_job(core, job->number);
    double left, now = hosts_now(job->hosts);
    if (!known || !left_read(&left, status))
        return;
    core_state(core, now);
    double before = known->left;
    if (left >= 0)
        left = fmax(0, fmin(left, hosts_jobs_limit_left(job, now)));
    hosts_must(job->hosts, core_told(core, now, job->number, left, &error), &error);
    if (is_news(before, known->left))
        hosts_news(job->hosts);
}

/* ---- How fast it is ----------------------------------------------------------------------------- */

/* The policy hears of the first figures at a size, and then less and less often. */
static void count_sample(struct hosts_job *job)
{
    job->samples++;
    if (!(job->samples & (job->samples - 1)))
        hosts_news(job->hosts);
}

/* Other parts of the program do not count now. */
static bool is_of_now(const struct hosts_job *job, const epop_policy_sample_t *sample)
{
    const epop_policy_job_t *known = core_job(job->hosts->core, job->number);
    return known && sample->phase == known->phase && sample->nodes == job->size;
}

/* Only sizes of whole nodes say how fast nodes are. */
static void take_sample(void *context, const epop_policy_sample_t *measured)
{
    struct hosts_job *job = context;
    struct error error = {0};
    double change = 0;
    epop_policy_sample_t sample = *measured;
    sample.nodes = hosts_jobs_nodes(job->hosts, measured->nodes);
    if (hosts_jobs_ranks(job, sample.nodes) != measured->nodes)
        return;
    hosts_must(job->hosts, core_measured(job->hosts->core, job->number, &sample, &change, &error), &error);
    if (hosts_balance_sampled(job) && is_of_now(job, &sample))
        count_sample(job);
    if (change > 0) {
        job->samples = 0;
        hosts_tell(job->hosts, job->number, "running", SAMPLES_CHANGED, change);
    }
}

/* Until it is measured. */
static void tell_speeds(struct hosts_job *job, const cJSON *status)
{
    const epop_policy_job_t *known = core_job(job->hosts->core, job->number);
    if (known && !known->sample_count)
        samples_read_speeds(status, take_sample, job);
}

/* What the program itself has asked for. The first time shows that it is one that does. */
static void tell_asked(struct hosts_job *job, const cJSON *status)
{
    struct error error = {0};
    int ranks = json_int(status, "asks", 0), nodes = ranks > 0 ? hosts_jobs_nodes(job->hosts, ranks) : 0;
    const epop_policy_job_t *known = core_job(job->hosts->core, job->number);
    nodes = known ? epop_policy_fit(&known->range, nodes) : 0; /* as much of it as can be had */
    if (!nodes || known->kind < EPOP_MALLEABLE || known->asked == nodes)
        return;
    if (job->kind != EPOP_EVOLVING) {
        job->kind = EPOP_EVOLVING;
        hosts_must(job->hosts, journal_job_set_kind(job->hosts->journal, job->number, "evolving", &error), &error);
        hosts_jobs_learned(job);
    }
    hosts_must(job->hosts, core_asked(job->hosts->core, job->number, nodes, &error), &error);
    hosts_tell(job->hosts, job->number, "running", "it asks for %d node%s", nodes, nodes == 1 ? "" : "s");
    hosts_news(job->hosts);
}

/* ---- Its answers -------------------------------------------------------------------------------- */

/* Of a rigid one nothing else is of use. */
static void take_status(struct hosts_job *job, const cJSON *status)
{
    tell_weak(job, status);
    tell_left(job, status);
    if (job->kind == EPOP_RIGID)
        return;
    int phase = json_int(cJSON_GetObjectItemCaseSensitive(status, "element"), "pc", -1);
    if (hosts_program_read(job, status))
        learn_program(job);
    hosts_balance_status(job, status);
    if (phase >= 0 && phase < job->program.phase_count)
        tell_phase(job, status, phase);
    tell_speeds(job, status);
    tell_asked(job, status);
}

/* Of a program that says nothing of its phases, the one that counts. Another one begins anew. */
static void take_loop(struct hosts_job *job, int loop)
{
    struct error error = {0};
    if (loop == job->loop)
        return;
    job->loop = loop;
    job->samples = 0;
    hosts_must(job->hosts, core_loop(job->hosts->core, job->number, loop, &error), &error);
    if (loop)
        hosts_tell(job->hosts, job->number, "running", "it is in its loop %d", loop);
    hosts_news(job->hosts);
}

static void take_measure(struct hosts_job *job, const cJSON *measure)
{
    take_loop(job, json_int(measure, "loop", 0));
    samples_read(measure, take_sample, job);
}

/* One to a request that nobody waits for any more is nothing. */
static void take_answer(struct hosts_job *job, int64_t id, const cJSON *answer)
{
    const cJSON *status = cJSON_GetObjectItemCaseSensitive(answer, "job");
    const cJSON *measure = cJSON_GetObjectItemCaseSensitive(answer, "measure");
    if (!id || (id != job->asked_status && id != job->asked_measure))
        return;
    attend_client_forget(&job->attendant, id);
    if (id == job->asked_status && job->state != JOB_ENDING) {
        if (status)
            take_status(job, status);
        job->asked_status = 0;
        job->asked_measure = job->kind == EPOP_RIGID ? 0 : ask_job(job, measure_request());
    } else {
        if (measure)
            take_measure(job, measure);
        job->asked_measure = 0;
    }
    if (!job->asked_measure)
        hosts_timer(job->hosts, &job->measure, ask_again, job, every);
}

/* ---- What its attendant says -------------------------------------------------------------------- */

static void be_attached(struct hosts_job *job)
{
    if (job->attached)
        return;
    job->attached = true;
    if (job->state != JOB_ENDING)
        begin_measuring(job);
    hosts_resize_ask(job);
    hosts_requeue_ask(job);
}

static void be_running(struct hosts_job *job)
{
    if (job->state != JOB_STARTING)
        return;
    hosts_tell_state(job, JOB_RUNNING, "running", "it runs on %d node%s", job->size, job->size == 1 ? "" : "s");
    hosts_stop_at("running");
}

static void take_hello(struct hosts_job *job, const cJSON *message)
{
    const char *state = json_text(message, "state");
    const cJSON *ended = cJSON_GetObjectItemCaseSensitive(message, "ended");
    job->greeted = true;
    if (cJSON_IsObject(ended)) {
        hosts_end(job, ended, NULL);
        return;
    }
    if (!(state && !strcmp(state, "starting")))
        be_running(job);
    if (json_true(message, "attached"))
        be_attached(job);
    if (job->state == JOB_ENDING)
        hosts_end_ask(job, NULL, NULL);
}

static void take_event(struct hosts_job *job, const char *event, const cJSON *message)
{
    if (!strcmp(event, "hello")) {
        take_hello(job, message);
    } else if (!strcmp(event, "attached")) {
        be_running(job);
        be_attached(job);
    } else if (!strcmp(event, "job")) {
        const cJSON *what = cJSON_GetObjectItemCaseSensitive(message, "what");
        const char *name = json_text(what, "event");
        job->told_to_stop |= name && !strcmp(name, "stopping");
        hosts_resize_event(job, what);
        hosts_balance_event(job, what);
    } else if (!strcmp(event, "ended")) {
        const cJSON *ended = cJSON_GetObjectItemCaseSensitive(message, "ended");
        hosts_end(job, ended ? ended : message, NULL);
    }
}

static void take_message(void *context, const cJSON *message)
{
    struct hosts_job *job = context;
    const char *event = json_text(message, "event");
    const cJSON *answer = cJSON_GetObjectItemCaseSensitive(message, "answer");
    int64_t id = json_int64(message, "id", 0);
    if (event)
        take_event(job, event, message);
    else if (cJSON_IsObject(answer) && id && id == job->resize.id)
        hosts_resize_answer(job, answer);
    else if (cJSON_IsObject(answer) && hosts_requeue_answer(job, id, answer))
        hosts_end_ask(job, "waiting", job->reason);
    else if (cJSON_IsObject(answer) && id && id == job->balance.id)
        hosts_balance_answer(job, answer);
    else if (cJSON_IsObject(answer))
        take_answer(job, id, answer);
}

/* It left its word when it ended, if the job ended. */
static void lose_attendant(void *context)
{
    struct hosts_job *job = context;
    cJSON *ended = hosts_launch_ended(job);
    job->greeted = job->attached = job->resize.sent = job->watched = false;
    job->asked_checkpoint = 0;
    hosts_talk_stop_measuring(job);
    hosts_balance_lose(job);
    if (ended)
        hosts_end(job, ended, NULL);
    cJSON_Delete(ended);
}

void hosts_talk_begin(struct hosts_job *job)
{
    char *path;
    if (asprintf(&path, "%s/socket", job->directory) < 0)
        path = NULL;
    job->attendant.take = take_message;
    job->attendant.gone = lose_attendant;
    job->attendant.context = job;
    struct error error = {0};
    hosts_must(job->hosts,
               !path || attend_client_open(&job->attendant, job->hosts->base, path) ? error_memory(&error) : 0, &error);
    free(path);
}
