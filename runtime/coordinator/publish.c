/* Events as they happen: see publish.h. */
#include "runtime/coordinator/publish.h"

#include "runtime/base/clock.h"
#include "runtime/coordinator/changes.h"
#include "runtime/coordinator/names.h"
#include "runtime/coordinator/state.h"

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
                                    .stall = a->stall};
    c->config.ops->note(c->config.context, &told, NULL);
}

void publish_event(struct coordinator *c, const char *event, const struct adaptation *a, const char *reason)
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
