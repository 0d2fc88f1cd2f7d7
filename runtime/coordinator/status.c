/* What the coordinator tells: the job's status, and events as they happen. By schema/control.schema.json. */
#include <string.h>

#include "epop_api/sizes.h"
#include "runtime/coordinator/state.h"
#include "runtime/coordinator/stops.h"

const char *element_name(struct coordinator *c, int pc)
{
    const epop_program_t *program = c->config.program;
    if (pc < 0 || pc >= program->size)
        return "";
    const epop_element_t *element = &program->elements[pc];
    return element->name ? element->name : epop_element_type_name(element->type);
}

static const char *state_text(enum adaptation_state state)
{
    static const char *const text[] = {
        [ADAPTATION_PREPARING] = "preparing", [ADAPTATION_PREPARED] = "prepared", [ADAPTATION_WINDOW] = "window",
        [ADAPTATION_COMMITTED] = "committed", [ADAPTATION_FAILED] = "failed",     [ADAPTATION_CANCELLED] = "cancelled",
    };
    return text[state];
}

const char *process_text(enum process_state state)
{
    static const char *const text[] = {
        [PROCESS_STANDBY] = "standby", [PROCESS_JOINING] = "joining",   [PROCESS_RUNNING] = "running",
        [PROCESS_LEAVING] = "leaving", [PROCESS_RETURNING] = "leaving", [PROCESS_SPENT] = "spent",
        [PROCESS_GONE] = "gone",       [PROCESS_LOST] = "lost",         [PROCESS_HOSTING] = "hosting",
    };
    return text[state];
}

const char *job_state(const struct coordinator *c)
{
    const struct adaptation *a = c->adaptation;
    if (c->finished)
        return "ending";
    if (c->stopping)
        return "stopping";
    if (c->stops.how != NOT_STOPPED)
        return "stopped";
    if (c->paused)
        return "paused";
    if (a && a->state == ADAPTATION_WINDOW)
        return "adapting";
    if (c->agreement != AGREEMENT_NONE)
        return "agreeing";
    if (a)
        return "preparing";
    for (int r = 0; r < c->size; r++)
        if (!c->processes[c->world[r]].here)
            return "starting";
    return "running";
}

static cJSON *element_json(struct coordinator *c)
{
    int pc = c->position.pc;
    if (pc < 0 || pc >= c->config.program->size)
        return cJSON_CreateNull();
    cJSON *json = cJSON_CreateObject();
    position_to_json(&c->position, json);
    cJSON_AddStringToObject(json, "name", element_name(c, pc));
    cJSON_AddStringToObject(json, "type", epop_element_type_name(c->config.program->elements[pc].type));
    return json;
}

static cJSON *processes_json(const struct coordinator *c)
{
    cJSON *list = cJSON_CreateArray();
    for (int p = 0; p < c->process_count; p++) {
        if (c->processes[p].state == PROCESS_GONE)
            continue;
        cJSON *json = cJSON_CreateObject();
        cJSON_AddNumberToObject(json, "process", p);
        cJSON_AddNumberToObject(json, "rank", c->processes[p].rank);
        cJSON_AddStringToObject(json, "host", c->processes[p].host);
        cJSON_AddNumberToObject(json, "pid", c->processes[p].pid);
        cJSON_AddStringToObject(json, "state", process_text(c->processes[p].state));
        cJSON_AddItemToArray(list, json);
    }
    return list;
}

static void add_time(cJSON *times, const char *name, double value)
{
    if (value > 0)
        cJSON_AddNumberToObject(times, name, value);
}

static cJSON *adaptation_json(const struct adaptation *a)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "id", a->id);
    cJSON_AddNumberToObject(json, "from", a->from);
    cJSON_AddNumberToObject(json, "to", a->to);
    cJSON_AddStringToObject(json, "state", state_text(a->state));
    cJSON_AddStringToObject(json, "by", a->by);
    if (a->at.pc >= 0) {
        cJSON_AddNumberToObject(json, "pc", a->at.pc);
        cJSON_AddStringToObject(json, "element", a->element);
        cJSON_AddNumberToObject(json, "iteration", (double)a->at.iteration);
    }
    if (a->reason[0])
        cJSON_AddStringToObject(json, "reason", a->reason);
    cJSON *times = cJSON_AddObjectToObject(json, "times");
    add_time(times, "requested", a->requested);
    add_time(times, "prepared", a->prepared);
    add_time(times, "agreed", a->agreed);
    add_time(times, "committed", a->committed);
    if (a->state == ADAPTATION_COMMITTED)
        cJSON_AddNumberToObject(json, "stall", a->stall);
    return json;
}

static cJSON *adaptations_json(const struct coordinator *c)
{
    cJSON *list = cJSON_CreateArray();
    int past = c->adaptations - (c->adaptation != NULL);
    for (int id = past > HISTORY ? past - HISTORY + 1 : 1; id <= past; id++)
        cJSON_AddItemToArray(list, adaptation_json(&c->history[id % HISTORY]));
    if (c->adaptation)
        cJSON_AddItemToArray(list, adaptation_json(c->adaptation));
    return list;
}

static cJSON *sizes_json(const epop_sizes_t *sizes)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "kind", size_kind_name(sizes->kind));
    cJSON_AddNumberToObject(json, "min", sizes->min);
    cJSON_AddNumberToObject(json, "max", sizes->max);
    cJSON_AddNumberToObject(json, "preferred", sizes->preferred);
    return json;
}

static int count_standby(const struct coordinator *c)
{
    int standby = 0;
    for (int p = 0; p < c->process_count; p++)
        standby += c->processes[p].state == PROCESS_STANDBY;
    return standby;
}

cJSON *status_json(struct coordinator *c)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "version", 1);
    cJSON_AddStringToObject(json, "job", c->job);
    cJSON_AddStringToObject(json, "program", c->config.program->name);
    cJSON_AddStringToObject(json, "path", c->path);
    cJSON_AddStringToObject(json, "state", job_state(c));
    cJSON_AddNumberToObject(json, "size", c->size);
    cJSON_AddNumberToObject(json, "standby", count_standby(c));
    cJSON_AddNumberToObject(json, "maximum", c->config.maximum);
    cJSON_AddStringToObject(json, "backend", c->config.backend->name);
    cJSON_AddItemToObject(json, "element", element_json(c));
    cJSON_AddItemToObject(json, "progress", progress_json(c));
    if (c->mtct >= 0)
        cJSON_AddNumberToObject(json, "mtct", c->mtct);
    cJSON_AddItemToObject(json, "sizes", sizes_json(&c->config.program->sizes));
    cJSON_AddItemToObject(json, "processes", processes_json(c));
    cJSON_AddItemToObject(json, "adaptations", adaptations_json(c));
    if (c->config.rollcall)
        cJSON_AddItemToObject(json, "breaks", stops_json(c));
    cJSON_AddNumberToObject(json, "started", c->started);
    cJSON_AddNumberToObject(json, "uptime", wall_seconds() - c->started);
    return json;
}

/* For those who keep the history; not what epopctl alone is interested in. */
static void note(struct coordinator *c, const struct adaptation *a, const char *reason)
{
    if (!a) {
        c->config.ops->note(c->config.context, NULL, reason);
        return;
    }
    const epop_adaptation_t told = {.id = a->id,
                                    .from = a->from,
                                    .to = a->to,
                                    .state = state_text(a->state),
                                    .by = a->by,
                                    .pc = a->at.pc,
                                    .visit = a->at.visit,
                                    .iteration = a->at.iteration,
                                    .reason = a->reason,
                                    .requested = a->requested,
                                    .prepared = a->prepared,
                                    .agreed = a->agreed,
                                    .committed = a->committed,
                                    .stall = a->stall};
    c->config.ops->note(c->config.context, &told, NULL);
}

void publish(struct coordinator *c, const char *event, const struct adaptation *a, const char *reason)
{
    if (c->config.ops->note && (a || reason))
        note(c, a, reason);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "event", event);
    cJSON_AddNumberToObject(json, "time", wall_seconds());
    if (a) {
        cJSON_AddNumberToObject(json, "adaptation", a->id);
        cJSON_AddNumberToObject(json, "from", a->from);
        cJSON_AddNumberToObject(json, "to", a->to);
        if (a->at.pc >= 0) {
            cJSON_AddNumberToObject(json, "pc", a->at.pc);
            cJSON_AddStringToObject(json, "element", a->element);
            cJSON_AddNumberToObject(json, "iteration", (double)a->at.iteration);
        }
        if (a->state == ADAPTATION_COMMITTED)
            cJSON_AddNumberToObject(json, "stall", a->stall);
    }
    if (reason)
        cJSON_AddStringToObject(json, "reason", reason);
    c->config.ops->publish(c->config.context, json);
    cJSON_Delete(json);
}
