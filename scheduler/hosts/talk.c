/* Messages of attendants: see hosts_talk.h. */
#include "scheduler/hosts/talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/json.h"
#include "scheduler/hosts/end.h"
#include "scheduler/hosts/launch.h"
#include "scheduler/hosts/measure.h"
#include "scheduler/hosts/resize.h"
#include "scheduler/hosts/tell.h"

static void attach(struct hosts_job *job)
{
    if (job->attached)
        return;
    job->attached = true;
    if (job->state != JOB_ENDING && job->kind != EPOP_RIGID)
        hosts_measure_begin(job);
    hosts_resize_ask(job);
}

static void run(struct hosts_job *job)
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
        run(job);
    if (json_true(message, "attached"))
        attach(job);
    if (job->state == JOB_ENDING)
        hosts_end_ask(job, NULL, NULL);
}

static void take_event(struct hosts_job *job, const char *event, const cJSON *message)
{
    if (!strcmp(event, "hello")) {
        take_hello(job, message);
    } else if (!strcmp(event, "attached")) {
        run(job);
        attach(job);
    } else if (!strcmp(event, "job")) {
        hosts_resize_event(job, cJSON_GetObjectItemCaseSensitive(message, "what"));
    } else if (!strcmp(event, "ended")) {
        const cJSON *ended = cJSON_GetObjectItemCaseSensitive(message, "ended");
        hosts_end(job, ended ? ended : message, NULL);
    }
}

static void take(void *context, const cJSON *message)
{
    struct hosts_job *job = context;
    const char *event = json_text(message, "event");
    const cJSON *answer = cJSON_GetObjectItemCaseSensitive(message, "answer");
    int64_t id = json_int64(message, "id", 0);
    if (event)
        take_event(job, event, message);
    else if (cJSON_IsObject(answer) && id && id == job->resize.id)
        hosts_resize_answer(job, answer);
    else if (cJSON_IsObject(answer))
        hosts_measure_answer(job, id, answer);
}

/* It left its word when it ended, if the job ended. */
static void gone(void *context)
{
    struct hosts_job *job = context;
    cJSON *ended = hosts_launch_ended(job);
    job->greeted = job->attached = job->resize.sent = false;
    hosts_measure_stop(job);
    if (ended)
        hosts_end(job, ended, NULL);
    cJSON_Delete(ended);
}

void hosts_talk_begin(struct hosts_job *job)
{
    char *path;
    if (asprintf(&path, "%s/socket", job->directory) < 0)
        path = NULL;
    job->attendant.take = take;
    job->attendant.gone = gone;
    job->attendant.context = job;
    struct error error = {0};
    hosts_must(job->hosts,
               !path || attend_client_open(&job->attendant, job->hosts->base, path) ? error_memory(&error) : 0, &error);
    free(path);
}
