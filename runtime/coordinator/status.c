/* The job's status. */
#include "runtime/coordinator/status.h"
#include "runtime/coordinator/loops.h"

#include <stdbool.h>

#include "epop_api/sizes.h"
#include "runtime/base/batch.h"
#include "runtime/base/clock.h"
#include "runtime/control/supervisor.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/balance.h"
#include "runtime/coordinator/checkpoint.h"
#include "runtime/coordinator/debugging.h"
#include "runtime/coordinator/loops.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/progress.h"
#include "runtime/coordinator/releases.h"
#include "runtime/coordinator/replies.h"
#include "runtime/coordinator/state.h"
#include "runtime/coordinator/survey.h"

/* ---- Size rules ---------------------------------------------------------------------------------- */

static cJSON *accepted_json(const epop_sizes_t *sizes, int most)
{
    cJSON *list = cJSON_CreateArray();
    for (int size = 1; size <= most; size++)
        if (epop_sizes_accept(sizes, size))
            cJSON_AddItemToArray(list, cJSON_CreateNumber(size));
    return list;
}

cJSON *rules_json(const epop_sizes_t *sizes, int most)
{
    char text[160] = "";
    int listed = most < RULES_LARGEST ? most : RULES_LARGEST;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "kind", size_kind_name(sizes->kind));
    cJSON_AddNumberToObject(json, "min", sizes->min);
    cJSON_AddNumberToObject(json, "max", sizes->max);
    if (sizes->kind == EPOP_SIZE_MULTIPLE)
        cJSON_AddNumberToObject(json, "factor", sizes->factor);
    cJSON_AddNumberToObject(json, "preferred", sizes->preferred);
    epop_sizes_text(sizes, text, sizeof text);
    cJSON_AddStringToObject(json, "text", text);
    cJSON_AddItemToObject(json, "accepted", accepted_json(sizes, listed));
    cJSON_AddNumberToObject(json, "listed", listed);
    return json;
}

/* ---- The program ahead --------------------------------------------------------------------------- */

static cJSON *element_json(const struct coordinator *c, int pc)
{
    const epop_element_t *element = &c->config.program->elements[pc];
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "pc", pc);
    cJSON_AddStringToObject(json, "type", epop_element_type_name(element->type));
    cJSON_AddStringToObject(json, "name", names_element(c, pc));
    cJSON_AddItemToObject(json, "sizes",
                          element->sizes ? rules_json(element->sizes, c->config.maximum) : cJSON_CreateNull());
    names_add_scaling(json, c, pc);
    cJSON_AddItemToObject(json, "speeds", speeds_json(&c->speeds, pc, epop_scaling_at(c->config.program, pc)));
    return json;
}

/* By schema/control.schema.json: the elements with their rules and speeds. */
static cJSON *outlook_elements_json(const struct coordinator *c)
{
    cJSON *list = cJSON_CreateArray();
    for (int pc = 0; pc < c->config.program->size; pc++)
        cJSON_AddItemToArray(list, element_json(c, pc));
    return list;
}

/* What the program said of its progress is of the present visit. */
static bool is_of_now(const struct coordinator *c)
{
    const struct position *told = &c->progress.at, *at = &c->position.at;
    return c->progress.known && told->pc == at->pc && told->visit == at->visit;
}

static void add_distance(const struct coordinator *c, cJSON *json)
{
    const epop_progress_t *last = &c->progress.last;
    double left = progress_left(c);
    if (!is_of_now(c) || last->bound <= 0)
        return;
    cJSON_AddNumberToObject(json, "iterations",
                            last->iteration < last->bound ? (double)(last->bound - last->iteration) : 0);
    if (left >= 0)
        cJSON_AddNumberToObject(json, "seconds", left);
}

/* What follows the present element, as far as the structure tells; null: nothing can be said. */
static cJSON *outlook_next_json(const struct coordinator *c)
{
    const epop_program_t *program = c->config.program;
    int pc = c->position.at.pc, next = pc + 1;
    if (pc < 0 || pc >= program->size || program->elements[pc].type == EPOP_BRANCH)
        return cJSON_CreateNull();
    bool end = next == program->size;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "pc", next);
    cJSON_AddStringToObject(json, "type", end ? "END" : epop_element_type_name(program->elements[next].type));
    cJSON_AddStringToObject(json, "name", end ? "end" : names_element(c, next));
    add_distance(c, json);
    return json;
}

/* ---- The status ---------------------------------------------------------------------------------- */

static cJSON *processes_json(const struct coordinator *c)
{
    cJSON *list = cJSON_CreateArray();
    for (int p = 0; p < c->processes.count; p++) {
        if (process_at(c, p)->state == PROCESS_GONE)
            continue;
        cJSON *json = cJSON_CreateObject();
        cJSON_AddNumberToObject(json, "process", p);
        cJSON_AddNumberToObject(json, "rank", process_at(c, p)->rank);
        cJSON_AddStringToObject(json, "host", process_at(c, p)->host);
        cJSON_AddNumberToObject(json, "pid", process_at(c, p)->pid);
        cJSON_AddStringToObject(json, "state", names_process_state(process_at(c, p)->state));
        if (process_at(c, p)->slurm_job)
            cJSON_AddNumberToObject(json, "slurm_job", process_at(c, p)->slurm_job);
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
    cJSON_AddStringToObject(json, "state", names_adaptation_state(a->state));
    cJSON_AddStringToObject(json, "by", names_requester(a->by));
    names_add_balance(json, a);
    if (a->at.pc >= 0) {
        cJSON_AddNumberToObject(json, "pc", a->at.pc);
        cJSON_AddStringToObject(json, "element", a->element);
        cJSON_AddNumberToObject(json, "iteration", (double)a->at.iteration);
    }
    if (a->reason[0])
        cJSON_AddStringToObject(json, "reason", a->reason);
    cJSON *times = cJSON_AddObjectToObject(json, "times");
    add_time(times, "requested", a->requested);
    add_time(times, "ahead", a->ahead);
    add_time(times, "prepared", a->prepared);
    add_time(times, "agreed", a->agreed);
    add_time(times, "committed", a->committed);
    if (a->state == ADAPTATION_COMMITTED) {
        cJSON_AddNumberToObject(json, "stall", a->stall);
        cJSON_AddNumberToObject(json, "bytes", (double)a->bytes);
        if (a->ahead_bytes)
            cJSON_AddNumberToObject(json, "ahead", (double)a->ahead_bytes);
    }
    return json;
}

static cJSON *adaptations_json(const struct coordinator *c)
{
    cJSON *list = cJSON_CreateArray();
    int past = c->adaptations.count - !!c->adaptations.pending;
    for (int id = past > ADAPTATION_HISTORY ? past - ADAPTATION_HISTORY + 1 : 1; id <= past; id++)
        cJSON_AddItemToArray(list, adaptation_json(&c->adaptations.history[id % ADAPTATION_HISTORY]));
    if (c->adaptations.pending)
        cJSON_AddItemToArray(list, adaptation_json(c->adaptations.pending));
    return list;
}

static int count_standby(const struct coordinator *c)
{
    int standby = 0;
    for (int p = 0; p < c->processes.count; p++)
        standby += process_at(c, p)->state == PROCESS_STANDBY;
    return standby;
}

static void add_hints(const struct coordinator *c, cJSON *status)
{
    struct pset_hints hints;
    if (!psets_hints(&c->changes.sets, &hints))
        return;
    cJSON *json = cJSON_AddObjectToObject(status, "hints");
    cJSON_AddNumberToObject(json, "min", hints.least);
    if (hints.most)
        cJSON_AddNumberToObject(json, "max", hints.most);
    if (hints.preferred)
        cJSON_AddNumberToObject(json, "preferred", hints.preferred);
}

cJSON *status_json(struct coordinator *c)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "version", 2);
    cJSON_AddStringToObject(json, "job", c->job);
    cJSON_AddStringToObject(json, "program", c->config.program->name);
    cJSON_AddStringToObject(json, "path", c->path);
    cJSON_AddItemToObject(json, "arguments", cJSON_Duplicate(c->arguments, true));
    if (batch_job())
        cJSON_AddStringToObject(json, "batch", batch_job());
    cJSON_AddStringToObject(json, "state", job_state_name(job_state(c)));
    cJSON_AddNumberToObject(json, "size", c->processes.size);
    cJSON_AddNumberToObject(json, "standby", count_standby(c));
    cJSON_AddNumberToObject(json, "maximum", c->config.maximum);
    cJSON_AddStringToObject(json, "backend", c->config.backend->name);
    cJSON_AddItemToObject(json, "element", names_element_json(c, &c->position.at));
    loops_add_present(json, c);
    cJSON_AddItemToObject(json, "progress", progress_json(c));
    if (c->progress.mpi_share >= 0)
        cJSON_AddNumberToObject(json, "mpi_share", c->progress.mpi_share);
    cJSON_AddItemToObject(json, "sizes", rules_json(&c->config.program->sizes, c->config.maximum));
    cJSON_AddItemToObject(json, "elements", outlook_elements_json(c));
    add_hints(c, json);
    cJSON_AddItemToObject(json, "next", outlook_next_json(c));
    cJSON_AddItemToObject(json, "processes", processes_json(c));
    cJSON_AddItemToObject(json, "adaptations", adaptations_json(c));
    if (releases_count(c))
        cJSON_AddNumberToObject(json, "queued", releases_count(c));
    if (c->requests.asks)
        cJSON_AddNumberToObject(json, "asks", c->requests.asks);
    if (balance_can_help(c))
        cJSON_AddTrueToObject(json, "balances");
    cJSON_AddItemToObject(json, "costs", costs_json(c->adaptations.history, ADAPTATION_HISTORY));
    if (c->checkpoints.behind.on)
        cJSON_AddItemToObject(json, "writing", checkpoint_writing_json(c));
    if (c->checkpoints.last.number)
        cJSON_AddItemToObject(json, "checkpoint", checkpoint_json(c));
    if (c->config.checkpoint.from)
        cJSON_AddItemToObject(json, "restarted", checkpoint_restarted_json(c));
    if (supervisor_list())
        cJSON_AddItemToObject(json, "recoveries", cJSON_Duplicate(supervisor_list(), true));
    if (c->config.rollcall)
        cJSON_AddItemToObject(json, "breaks", halts_json(c));
    cJSON_AddNumberToObject(json, "started", c->started);
    cJSON_AddNumberToObject(json, "uptime", wall_seconds() - c->started);
    return json;
}
