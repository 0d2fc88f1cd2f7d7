/* Answers, events, and the last words. */
#include "runtime/coordinator/replies.h"

#include <stdlib.h>

#include "runtime/base/clock.h"
#include "runtime/coordinator/changes.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/state.h"

cJSON *reply_accepted(const char *code)
{
    cJSON *reply = cJSON_CreateObject();
    cJSON_AddBoolToObject(reply, "ok", 1);
    cJSON_AddStringToObject(reply, "code", code);
    return reply;
}

cJSON *reply_refusal(const char *code, const char *reason)
{
    cJSON *reply = cJSON_CreateObject();
    cJSON_AddBoolToObject(reply, "ok", 0);
    cJSON_AddStringToObject(reply, "code", code);
    cJSON_AddStringToObject(reply, "reason", reason);
    return reply;
}

void reply_send(struct coordinator *c, void **handle, cJSON *reply)
{
    if (*handle)
        c->config.ops->answer(c->config.context, *handle, reply);
    *handle = NULL;
    cJSON_Delete(reply);
}

/* ---- Who waits ----------------------------------------------------------------------------------- */

int waiters_add(struct waiter **list, void *handle, bool vacated)
{
    struct waiter *w = malloc(sizeof *w);
    if (!w)
        return -1;
    *w = (struct waiter){handle, vacated, *list};
    *list = w;
    return 0;
}

struct waiter *waiters_for_end(struct waiter **list)
{
    struct waiter *taken = NULL;
    while (*list) {
        struct waiter *w = *list;
        if (!w->vacated) {
            list = &w->next;
            continue;
        }
        *list = w->next;
        w->next = taken;
        taken = w;
    }
    return taken;
}

void waiters_answer(struct coordinator *c, struct waiter **list, cJSON *reply)
{
    while (*list) {
        struct waiter *w = *list;
        *list = w->next;
        reply_send(c, &w->handle, cJSON_Duplicate(reply, 1));
        free(w);
    }
    cJSON_Delete(reply);
}

void waiters_abandoned(struct coordinator *c, struct waiter **list, const void *handle)
{
    while (*list && (*list)->handle != handle)
        list = &(*list)->next;
    if (!*list)
        return;
    struct waiter *gone = *list;
    *list = gone->next;
    reply_send(c, &gone->handle, reply_refusal("failed", "the requester has gone"));
    free(gone);
}

/* ---- What things are called ---------------------------------------------------------------------- */

const char *names_element(const struct coordinator *c, int pc)
{
    const epop_program_t *program = c->config.program;
    if (pc < 0 || pc >= program->size)
        return "";
    const epop_element_t *element = &program->elements[pc];
    return element->name ? element->name : epop_element_type_name(element->type);
}

cJSON *names_element_json(const struct coordinator *c, const struct position *at)
{
    if (at->pc < 0 || at->pc >= c->config.program->size)
        return cJSON_CreateNull();
    cJSON *json = cJSON_CreateObject();
    position_to_json(at, json);
    cJSON_AddStringToObject(json, "name", names_element(c, at->pc));
    cJSON_AddStringToObject(json, "type", epop_element_type_name(c->config.program->elements[at->pc].type));
    return json;
}

void names_add_scaling(cJSON *json, const struct coordinator *c, int pc)
{
    epop_scaling scaling = epop_scaling_at(c->config.program, pc);
    if (scaling != EPOP_SCALING_STRONG)
        cJSON_AddStringToObject(json, "scaling", epop_scaling_name(scaling));
}

const char *names_process_state(enum process_state state)
{
    static const char *const text[] = {
        [PROCESS_STANDBY] = "standby", [PROCESS_JOINING] = "joining",   [PROCESS_RUNNING] = "running",
        [PROCESS_LEAVING] = "leaving", [PROCESS_RETURNING] = "leaving", [PROCESS_SPENT] = "spent",
        [PROCESS_GONE] = "gone",       [PROCESS_LOST] = "lost",         [PROCESS_HOSTING] = "hosting",
    };
    return text[state];
}

const char *names_adaptation_state(enum adaptation_state state)
{
    static const char *const text[] = {
        [ADAPTATION_PREPARING] = "preparing", [ADAPTATION_PREPARED] = "prepared", [ADAPTATION_WINDOW] = "window",
        [ADAPTATION_COMMITTED] = "committed", [ADAPTATION_FAILED] = "failed",     [ADAPTATION_CANCELLED] = "cancelled",
    };
    return text[state];
}

const char *names_requester(enum requester by)
{
    static const char *const text[] = {
        [BY_EPOPCTL] = "epopctl", [BY_PROGRAM] = "program", [BY_PHASE] = "phase", [BY_OPTION] = "option"};
    return text[by];
}

void names_add_balance(cJSON *json, const struct adaptation *a)
{
    if (a->balance)
        cJSON_AddTrueToObject(json, "balance");
    if (a->imbalance > 0)
        cJSON_AddNumberToObject(json, "imbalance", a->imbalance);
}

/* ---- Events -------------------------------------------------------------------------------------- */

/* For those who keep the history; not what epopctl alone is interested in. */
static void publish_note(struct coordinator *c, const struct adaptation *a, const char *reason)
{
    if (!a) {
        c->config.ops->note(c->config.context, NULL, reason);
        return;
    }
    const epop_adaptation_t told = {.id = a->id,
                                    .from = a->from,
                                    .to = a->to,
                                    .state = names_adaptation_state(a->state),
                                    .by = names_requester(a->by),
                                    .pc = a->at.pc,
                                    .visit = a->at.visit,
                                    .iteration = a->at.iteration,
                                    .reason = a->reason,
                                    .requested = a->requested,
                                    .prepared = a->prepared,
                                    .agreed = a->agreed,
                                    .committed = a->committed,
                                    .stall = a->stall,
                                    .balance = a->balance,
                                    .imbalance = a->imbalance};
    c->config.ops->note(c->config.context, &told, NULL);
}

void publish_event(struct coordinator *c, const char *event, const struct adaptation *a, const char *reason)
{
    if (c->config.ops->note && (a || reason))
        publish_note(c, a, reason);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "event", event);
    cJSON_AddNumberToObject(json, "time", wall_seconds());
    if (a) {
        cJSON_AddNumberToObject(json, "adaptation", a->id);
        cJSON_AddNumberToObject(json, "from", a->from);
        cJSON_AddNumberToObject(json, "to", a->to);
        names_add_balance(json, a);
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

void publish_vacated(struct coordinator *c, const char *host)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "event", "vacated");
    cJSON_AddNumberToObject(json, "time", wall_seconds());
    cJSON_AddStringToObject(json, "host", host);
    c->config.ops->publish(c->config.context, json);
    cJSON_Delete(json);
}

static void add_set(cJSON *json, const char *key, const struct pset *set)
{
    if (set)
        cJSON_AddStringToObject(json, key, set->name);
}

void publish_change(struct coordinator *c, const struct change *change, const char *reason)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "event", "change");
    cJSON_AddNumberToObject(json, "time", wall_seconds());
    cJSON_AddNumberToObject(json, "adaptation", change->adaptation);
    cJSON_AddStringToObject(json, "change", changes_type_name(change->type));
    cJSON_AddStringToObject(json, "state", changes_state_name(change->state));
    add_set(json, "added", change->added);
    add_set(json, "taken", change->taken);
    add_set(json, "bound", change->bound);
    if (reason)
        cJSON_AddStringToObject(json, "reason", reason);
    c->config.ops->publish(c->config.context, json);
    cJSON_Delete(json);
}

static void note_checkpoint(struct coordinator *c)
{
    const struct checkpoint *last = &c->checkpoints.last;
    const epop_checkpoint_t told = {.number = last->number,
                                    .level = save_level_name(last->level),
                                    .path = last->path,
                                    .pc = last->at.pc,
                                    .visit = last->at.visit,
                                    .iteration = last->at.iteration,
                                    .bytes = last->bytes,
                                    .time = last->time,
                                    .seconds = last->seconds,
                                    .stall = last->stall};
    c->config.ops->note_checkpoint(c->config.context, &told);
}

void publish_checkpoint(struct coordinator *c, cJSON *checkpoint, const char *reason)
{
    if (checkpoint && c->config.ops->note_checkpoint)
        note_checkpoint(c);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "event", checkpoint ? "checkpointed" : "unsaved");
    cJSON_AddNumberToObject(json, "time", wall_seconds());
    if (checkpoint)
        cJSON_AddItemToObject(json, "checkpoint", checkpoint);
    if (reason)
        cJSON_AddStringToObject(json, "reason", reason);
    c->config.ops->publish(c->config.context, json);
    cJSON_Delete(json);
}

/* ---- The last words ------------------------------------------------------------------------------ */

void fatal(struct coordinator *c, const char *text)
{
    c->config.ops->fatal(c->config.context, text);
}

void fatal_memory(struct coordinator *c)
{
    fatal(c, "out of memory in the coordinator");
}

void fatal_fault(struct coordinator *c, int process, const char *text)
{
    bool ends_anyway = c->stop.asked || c->stop.forced || c->events.interrupted || c->events.terminations;
    if (c->config.ops->fault && !ends_anyway)
        c->config.ops->fault(c->config.context, process >= 0 ? process_at(c, process)->rank : -1);
    fatal(c, text);
}
