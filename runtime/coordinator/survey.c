/*
 * Where every process is. Their control threads answer, also when the program's hang; one that does not, since it is
 * stopped or its host is gone, is listed without an answer when the time is over.
 */
#include "runtime/coordinator/state.h"
#include "runtime/member/json.h"
#include "runtime/member/member.h"

#define ANSWER_TIMEOUT 2 /* seconds */

/* What runs the program, or is to join, or leaves. */
static bool is_listed(const struct coordinator *c, int process)
{
    const struct process *p = &c->processes[process];
    return p->rank >= 0 || p->state == PROCESS_JOINING || p->state == PROCESS_LEAVING;
}

void survey_begin(struct coordinator *c)
{
    if (c->survey.open)
        return;
    c->survey.open = true;
    c->survey.round++;
    c->survey.deadline = monotonic_seconds() + ANSWER_TIMEOUT;
    for (int p = 0; p < c->process_count; p++) {
        if (!is_listed(c, p) || !c->processes[p].here)
            continue;
        cJSON *message = json_message("where");
        cJSON_AddNumberToObject(message, "round", c->survey.round);
        send_to(c, p, message);
        c->processes[p].surveyed = c->survey.round;
    }
}

void survey_request(struct coordinator *c, void *handle)
{
    if (c->finished || c->survey.asker_count == ASKERS) {
        answer(c, &handle, refusal("refused", c->finished ? "the job is ending" : "too many ask at a time; try again"));
        return;
    }
    c->survey.askers[c->survey.asker_count++] = handle;
    survey_begin(c);
}

void survey_abandon(struct coordinator *c, const void *handle)
{
    for (int i = 0; i < c->survey.asker_count; i++)
        if (c->survey.askers[i] == handle) {
            answer(c, &c->survey.askers[i], refusal("failed", "the requester has gone"));
            c->survey.askers[i] = c->survey.askers[--c->survey.asker_count];
            return;
        }
}

/* ---- The answer ------------------------------------------------------------------------ */

static bool answered(const struct coordinator *c, int process)
{
    return c->processes[process].place && c->processes[process].placed == c->survey.round;
}

static cJSON *element_json(struct coordinator *c, const struct position *at)
{
    if (at->pc < 0 || at->pc >= c->config.program->size)
        return cJSON_CreateNull();
    cJSON *json = cJSON_CreateObject();
    position_to_json(at, json);
    cJSON_AddStringToObject(json, "name", element_name(c, at->pc));
    cJSON_AddStringToObject(json, "type", epop_element_type_name(c->config.program->elements[at->pc].type));
    return json;
}

static void add_answer(struct coordinator *c, cJSON *json, const cJSON *place)
{
    const struct position at = position_from_json(place);
    const char *activity = json_text(place, "activity");
    cJSON_AddStringToObject(json, "activity", activity ? activity : "running");
    cJSON_AddItemToObject(json, "element", element_json(c, &at));
    cJSON_AddNumberToObject(json, "seconds", json_number(place, "seconds", 0));
    if (!json_text(place, "mpi"))
        return;
    cJSON_AddStringToObject(json, "mpi", json_text(place, "mpi"));
    cJSON_AddNumberToObject(json, "mpi_seconds", json_number(place, "mpi_seconds", 0));
}

static cJSON *process_json(struct coordinator *c, int process)
{
    const struct process *p = &c->processes[process];
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "process", process);
    cJSON_AddNumberToObject(json, "rank", p->rank);
    cJSON_AddStringToObject(json, "host", p->host);
    cJSON_AddNumberToObject(json, "pid", p->pid);
    cJSON_AddStringToObject(json, "state", process_text(p->state));
    if (answered(c, process))
        add_answer(c, json, p->place);
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
    cJSON_AddStringToObject(json, "state", job_state(c));
    cJSON_AddNumberToObject(json, "size", c->size);
    cJSON_AddNumberToObject(json, "time", wall_seconds());
    list = cJSON_AddArrayToObject(json, "processes");
    for (int r = 0; r < c->size; r++)
        cJSON_AddItemToArray(list, process_json(c, c->world[r]));
    for (int p = 0; p < c->process_count; p++)
        if (c->processes[p].rank < 0 && is_listed(c, p))
            cJSON_AddItemToArray(list, process_json(c, p));
    return json;
}

/* All have answered, or the time is over. */
static void finish(struct coordinator *c)
{
    c->survey.open = false;
    for (int i = 0; i < c->survey.asker_count; i++) {
        cJSON *reply = cJSON_CreateObject();
        cJSON_AddBoolToObject(reply, "ok", 1);
        cJSON_AddItemToObject(reply, "where", survey_json(c));
        answer(c, &c->survey.askers[i], reply);
    }
    c->survey.asker_count = 0;
    watchdog_surveyed(c);
}

void survey_came(struct coordinator *c, int process, const cJSON *message)
{
    struct process *p = &c->processes[process];
    if (!c->survey.open || json_int(message, "round", 0) != c->survey.round)
        return;
    cJSON_Delete(p->place);
    p->place = cJSON_Duplicate(message, 1);
    p->placed = c->survey.round;
    for (int other = 0; other < c->process_count; other++)
        if (c->processes[other].surveyed == c->survey.round && !answered(c, other))
            return;
    finish(c);
}

void survey_give_up(struct coordinator *c)
{
    if (c->survey.open)
        finish(c);
}
