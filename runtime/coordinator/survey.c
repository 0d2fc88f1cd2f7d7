/* Where every process is: see survey.h. */
#include "runtime/coordinator/survey.h"

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/coordinator/job_state.h"
#include "runtime/coordinator/names.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/reply.h"
#include "runtime/coordinator/state.h"
#include "runtime/wire/messages.h"

#define ANSWER_TIMEOUT 2 /* seconds */

/* What runs the program, or is to join, or leaves. */
static bool is_listed(const struct coordinator *c, int process)
{
    const struct process *p = process_at(c, process);
    return p->rank >= 0 || p->state == PROCESS_JOINING || p->state == PROCESS_LEAVING;
}

void survey_begin(struct coordinator *c)
{
    if (c->survey.open)
        return;
    c->survey.open = true;
    c->survey.round++;
    timers_set(&c->timers, &c->survey.limit, ANSWER_TIMEOUT);
    for (int p = 0; p < c->processes.count; p++) {
        if (!is_listed(c, p) || !process_at(c, p)->attached)
            continue;
        cJSON *message = json_message(ORDER(locate));
        cJSON_AddNumberToObject(message, "round", c->survey.round);
        processes_send(c, p, message);
        process_at(c, p)->survey_asked = c->survey.round;
    }
}

void survey_request(struct coordinator *c, void *handle)
{
    if (c->ending.finished || c->survey.asker_count == SURVEY_ASKERS) {
        reply_send(
            c, &handle,
            reply_refusal("refused", c->ending.finished ? "the job is ending" : "too many ask at a time; try again"));
        return;
    }
    c->survey.askers[c->survey.asker_count++] = handle;
    survey_begin(c);
}

void survey_abandoned(struct coordinator *c, const void *handle)
{
    for (int i = 0; i < c->survey.asker_count; i++)
        if (c->survey.askers[i] == handle) {
            reply_send(c, &c->survey.askers[i], reply_refusal("failed", "the requester has gone"));
            c->survey.askers[i] = c->survey.askers[--c->survey.asker_count];
            return;
        }
}

/* ---- The answer ------------------------------------------------------------------------ */

static bool answered(const struct coordinator *c, int process)
{
    return process_at(c, process)->survey_answer.is && process_at(c, process)->survey_answered == c->survey.round;
}

static void add_answer(struct coordinator *c, cJSON *json, const struct report_located *place)
{
    const struct position at = POSITION_OF(place);
    cJSON_AddStringToObject(json, "activity", place->activity);
    cJSON_AddItemToObject(json, "element", names_element_json(c, &at));
    cJSON_AddNumberToObject(json, "seconds", place->seconds);
    if (!place->mpi)
        return;
    cJSON_AddStringToObject(json, "mpi", place->mpi);
    cJSON_AddNumberToObject(json, "mpi_seconds", place->mpi_seconds);
}

static cJSON *process_json(struct coordinator *c, int process)
{
    const struct process *p = process_at(c, process);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "process", process);
    cJSON_AddNumberToObject(json, "rank", p->rank);
    cJSON_AddStringToObject(json, "host", p->host);
    cJSON_AddNumberToObject(json, "pid", p->pid);
    cJSON_AddStringToObject(json, "state", names_process_state(p->state));
    if (answered(c, process))
        add_answer(c, json, p->survey_answer.is);
    else
        cJSON_AddStringToObject(json, "activity", "no answer");
    return json;
}

/* Ranks in their order, then the others. */
cJSON *survey_json(struct coordinator *c)
{
    cJSON *json = cJSON_CreateObject(), *list;
    cJSON_AddNumberToObject(json, "version", 1);
    cJSON_AddStringToObject(json, "job", c->job);
    cJSON_AddStringToObject(json, "program", c->config.program->name);
    cJSON_AddStringToObject(json, "state", job_state_name(job_state(c)));
    cJSON_AddNumberToObject(json, "size", c->processes.size);
    cJSON_AddNumberToObject(json, "time", wall_seconds());
    list = cJSON_AddArrayToObject(json, "processes");
    for (int r = 0; r < c->processes.size; r++)
        cJSON_AddItemToArray(list, process_json(c, c->processes.world[r]));
    for (int p = 0; p < c->processes.count; p++)
        if (process_at(c, p)->rank < 0 && is_listed(c, p))
            cJSON_AddItemToArray(list, process_json(c, p));
    return json;
}

/* All have answered, or the time is over. */
static void finish(struct coordinator *c)
{
    c->survey.open = false;
    timers_cancel(&c->timers, &c->survey.limit);
    for (int i = 0; i < c->survey.asker_count; i++) {
        cJSON *reply = cJSON_CreateObject();
        cJSON_AddBoolToObject(reply, "ok", 1);
        cJSON_AddItemToObject(reply, "where", survey_json(c));
        reply_send(c, &c->survey.askers[i], reply);
    }
    c->survey.asker_count = 0;
    for (int i = 0; i < c->survey.listener_count; i++)
        c->survey.listeners[i](c);
}

void survey_came(struct coordinator *c, int process, const struct report_located *report)
{
    struct process *p = process_at(c, process);
    if (!c->survey.open || report->round != c->survey.round)
        return;
    message_free(&p->survey_answer);
    if (!message_keep(&p->survey_answer, KIND_REPORT, report->said))
        return; /* as one that does not answer */
    p->survey_answered = c->survey.round;
    for (int other = 0; other < c->processes.count; other++)
        if (process_at(c, other)->survey_asked == c->survey.round && !answered(c, other))
            return;
    finish(c);
}

void survey_give_up(struct coordinator *c)
{
    if (c->survey.open)
        finish(c);
}

static void timeout(void *context)
{
    survey_give_up(context);
}

void survey_tell(struct coordinator *c, void (*surveyed)(struct coordinator *c))
{
    c->survey.listeners[c->survey.listener_count++] = surveyed;
}

void survey_init(struct coordinator *c)
{
    timer_init(&c->survey.limit, timeout, c, NULL);
}
