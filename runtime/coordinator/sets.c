/* Questions about process sets: see sets.h. */
#include "runtime/coordinator/sets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/json.h"
#include "runtime/coordinator/agreement.h"
#include "runtime/coordinator/changes.h"
#include "runtime/coordinator/fatal.h"
#include "runtime/coordinator/inquiries.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/reinit.h"
#include "runtime/coordinator/sets_changes.h"
#include "runtime/coordinator/sets_names.h"
#include "runtime/coordinator/state.h"
#include "runtime/wire/messages.h"

#define KEY_LIMIT 5.0 /* seconds, after which somebody who waits for a key is looked at */

/* ---- What they are -------------------------------------------------------------------- */

static cJSON *about_list(struct coordinator *c, struct inquiry *inquiry)
{
    cJSON *answer = inquiry_yes(), *names = cJSON_AddArrayToObject(answer, "sets");
    const struct psets *sets = &c->changes.sets;
    for (int i = 0; i < sets->count; i++) {
        const char *name = sets->table[i]->name;
        if (!strncmp(name, PSETS_SELF, strlen(PSETS_SELF)) || !strcmp(name, PSETS_WORLD))
            continue;
        if (inquiry->process < 0 || pset_has(sets->table[i], inquiry->process))
            cJSON_AddItemToArray(names, cJSON_CreateString(name));
    }
    return answer;
}

static void describe(struct coordinator *c, const struct pset *set, int process, cJSON *json)
{
    const struct change *now = &c->changes.now;
    cJSON_AddNumberToObject(json, "size", set->count);
    cJSON_AddNumberToObject(json, "version", set->version);
    cJSON_AddNumberToObject(json, "epoch", set->epoch);
    cJSON_AddBoolToObject(json, "active", set->active);
    cJSON_AddItemToObject(json, "sched", cJSON_Duplicate(set->sched, 1));
    if (process < 0)
        return;
    cJSON_AddBoolToObject(json, "included", pset_has(set, process));
    cJSON_AddBoolToObject(json, "primary", set->count && set->members[0] == process);
    cJSON_AddBoolToObject(json, "dynamic", process_at(c, process)->launch > 0 || set == now->added);
}

static bool is_about_to_change(const struct coordinator *c, const struct pset *set)
{
    return changes_is_between(c) && !strcmp(set->name, PSETS_WORLD);
}

static cJSON *about_info(struct coordinator *c, struct inquiry *inquiry)
{
    struct error why;
    const struct pset *set = sets_of(c, inquiry, inquiry->asked.set, &why);
    if (!set)
        return inquiry_no(why.text);
    if (is_about_to_change(c, set))
        return NULL;
    cJSON *answer = inquiry_yes();
    describe(c, set, inquiry->process, answer);
    return answer;
}

/* The set of those that the process was started with, for a change. */
static cJSON *about_birth(struct coordinator *c, struct inquiry *inquiry)
{
    const struct psets *sets = &c->changes.sets;
    cJSON *answer = inquiry_yes();
    for (int i = sets->count - 1; i >= 0; i--)
        if (sets->table[i]->delta && pset_has(sets->table[i], inquiry->process)) {
            const struct change *now = &c->changes.now;
            const struct pset *set = sets->table[i] == now->both ? now->added : sets->table[i];
            cJSON_AddStringToObject(answer, "set", set->name);
            break;
        }
    return answer;
}

/* All sets, for tools. */
static cJSON *about_all(struct coordinator *c, struct inquiry *inquiry)
{
    (void)inquiry;
    cJSON *answer = inquiry_yes(), *list = cJSON_AddArrayToObject(answer, "psets");
    const struct psets *sets = &c->changes.sets;
    for (int i = 0; i < sets->count; i++) {
        const struct pset *set = sets->table[i];
        if (!strncmp(set->name, PSETS_SELF, strlen(PSETS_SELF)))
            continue;
        cJSON *json = cJSON_CreateObject();
        cJSON_AddStringToObject(json, "name", set->name);
        describe(c, set, -1, json);
        cJSON_AddBoolToObject(json, "delta", set->delta);
        cJSON_AddItemToObject(json, "processes", cJSON_CreateIntArray(set->members, set->count));
        cJSON_AddItemToArray(list, json);
    }
    return answer;
}

/* ---- Of whom they are, for groups and communicators ------------------------------------- */

/* 1: all are; 0: some will be; -1 with text: one will not. */
static int all_there(struct coordinator *c, const struct pset *set, struct error *why)
{
    const struct change *now = &c->changes.now;
    bool on = now->state == CHANGE_ANNOUNCED || now->state == CHANGE_PENDING;
    int there = 1;
    for (int i = 0; i < set->count; i++) {
        int process = set->members[i];
        if (changes_is_there(c, process))
            continue;
        there = 0;
        const struct process *p = process_at(c, process);
        bool comes = on && now->go &&
                     ((now->added && pset_has(now->added, process)) || (p->rank >= 0 && p->state == PROCESS_RUNNING));
        if (comes)
            continue;
        if (on && now->added && pset_has(now->added, process))
            return error_set(why, ERROR_FAILED,
                             "processes of %s have not joined yet: their resource change is not accepted", set->name);
        return error_set(why, ERROR_FAILED, "process %d of %s has left the job", process, set->name);
    }
    return there;
}

static void add_world(struct coordinator *c, cJSON *answer, const struct pset *set)
{
    cJSON_AddNumberToObject(answer, "world", changes_world(c));
    cJSON_AddItemToObject(answer, "members", cJSON_CreateIntArray(set->members, set->count));
}

/* A program that adapts by itself knows its world best: behind a commit the others may not be through yet. */
static cJSON *members_of_guest(struct coordinator *c, const struct pset *set)
{
    char app[PSETS_NAME_MAX];
    cJSON *answer = inquiry_yes();
    snprintf(app, sizeof app, PSETS_APP "%s", c->changes.app);
    cJSON_AddBoolToObject(answer, "whole", !strcmp(set->name, PSETS_WORLD) || !strcmp(set->name, app));
    add_world(c, answer, set);
    return answer;
}

static cJSON *about_members(struct coordinator *c, struct inquiry *inquiry)
{
    struct error why;
    const struct pset *set = sets_of(c, inquiry, inquiry->asked.set, &why);
    if (set && !c->config.sessions)
        return members_of_guest(c, set);
    if (set && is_about_to_change(c, set))
        return NULL;
    int there = set ? all_there(c, set, &why) : -1;
    if (there <= 0)
        return there ? inquiry_no(why.text) : NULL;
    cJSON *answer = inquiry_yes();
    add_world(c, answer, set);
    return answer;
}

/* Those that are to make a communicator, and a set for them alone. False: no list of processes. */
static bool read_group(struct coordinator *c, const struct inquiry *inquiry, struct pset *group)
{
    const struct ints *list = &inquiry->asked.members;
    *group = (struct pset){.name = "the group", .members = malloc((size_t)list->count * sizeof(int) + 1)};
    for (int i = 0; i < list->count; i++) {
        if (!group->members || list->items[i] < 0 || list->items[i] >= c->processes.count)
            return false;
        group->members[group->count++] = list->items[i];
    }
    return group->count;
}

/* They do it in the world that is there when all have come: it stays until they have. */
static cJSON *about_meet(struct coordinator *c, struct inquiry *inquiry)
{
    struct pset group;
    struct error why;
    cJSON *answer = NULL;
    if (!read_group(c, inquiry, &group)) {
        free(group.members);
        return inquiry_no("its processes are not known");
    }
    bool was = inquiry->met;
    bool free_world = c->agreement.state == AGREEMENT_NONE && !changes_want(c);
    int there = was || free_world ? all_there(c, &group, &why) : 0;
    int met = there > 0 ? inquiry_meets(c, inquiry, &group, NULL, &why) : there;
    if (met < 0) {
        answer = inquiry_no(why.text);
    } else if (met) {
        if (!was)
            c->changes.making += group.count;
        answer = inquiry_yes();
        add_world(c, answer, &group);
        cJSON_AddNumberToObject(answer, "number", inquiry->meeting);
    }
    free(group.members);
    return answer;
}

/* The processes of these sets, each once, as a set for them alone. -1 with text. */
static int join_sets(struct coordinator *c, const struct inquiry *inquiry, struct pset *all, struct error *why)
{
    const struct texts *names = &inquiry->asked.more;
    *all = (struct pset){.name = "the sets", .members = malloc(sizeof(int) * (size_t)c->processes.count)};
    if (!all->members)
        return error_memory(why);
    if (names->count == 1)
        snprintf(all->name, sizeof all->name, "%s", names->items[0]);
    for (int i = 0; i < names->count; i++) {
        const struct pset *set = sets_of(c, inquiry, names->items[i], why);
        for (int m = 0; set && m < set->count; m++)
            if (!pset_has(all, set->members[m]))
                all->members[all->count++] = set->members[m];
        if (!set)
            return -1;
    }
    return all->count ? 0 : error_set(why, ERROR_FAILED, "no process set is named");
}

static cJSON *about_barrier(struct coordinator *c, struct inquiry *inquiry)
{
    struct pset all;
    struct error why;
    int met = join_sets(c, inquiry, &all, &why);
    if (!met)
        met = inquiry_meets(c, inquiry, &all, NULL, &why);
    free(all.members);
    return met < 0 ? inquiry_no(why.text) : met ? inquiry_yes() : NULL;
}

static cJSON *about_made(struct coordinator *c, struct inquiry *inquiry)
{
    (void)inquiry;
    c->changes.making--;
    return inquiry_yes();
}

/* ---- Operations --------------------------------------------------------------------------- */

enum { SETS_MOST = 256 };

static cJSON *named(struct pset *const *sets, int count)
{
    cJSON *answer = inquiry_yes(), *names = cJSON_AddArrayToObject(answer, "sets");
    for (int i = 0; i < count; i++)
        cJSON_AddItemToArray(names, cJSON_CreateString(sets[i]->name));
    return answer;
}

/* The further operands. False with text. */
static bool find_more(struct coordinator *c, const struct inquiry *inquiry, struct pset **more, struct error *why)
{
    const struct texts *names = &inquiry->asked.more;
    bool found = true;
    for (int i = 0; found && i < names->count; i++)
        found = (more[i] = sets_of(c, inquiry, names->items[i], why));
    return found;
}

static cJSON *about_op(struct coordinator *c, struct inquiry *inquiry)
{
    const struct report_ask *asked = &inquiry->asked;
    struct error why;
    const bool active = asked->active > 0;
    struct pset *more[SETS_MOST];
    struct pset_request r = {.op = (enum pset_op)asked->type,
                             .more = more,
                             .more_count = asked->more.count,
                             .target = asked->target,
                             .app = c->changes.app,
                             .active = asked->active < 0 ? NULL : &active,
                             .sched = asked->sched};
    bool operands = r.op != PSET_OP_NULL;
    if (operands && r.op != PSET_OP_UNION && r.op != PSET_OP_DIFFERENCE && r.op != PSET_OP_INTERSECTION)
        return inquiry_no("no such operation: there are union, difference and intersection");
    if (asked->more.count > SETS_MOST)
        return inquiry_no("an operation is on 256 process sets at most");
    if (operands && (!(r.a = sets_of(c, inquiry, asked->a, &why)) || !(r.b = sets_of(c, inquiry, asked->b, &why)) ||
                     !find_more(c, inquiry, more, &why)))
        return inquiry_no(why.text);
    struct pset *result = psets_operate(&c->changes.sets, &r, &why);
    return result ? named(&result, 1) : inquiry_no(why.text);
}

static cJSON *about_split(struct coordinator *c, struct inquiry *inquiry)
{
    const struct ints *parts = &inquiry->asked.parts;
    struct pset *made[SETS_MOST], *set;
    struct error why;
    if (!(set = sets_of(c, inquiry, inquiry->asked.a, &why)))
        return inquiry_no(why.text);
    if (parts->count > SETS_MOST)
        return inquiry_no("a process set is split into 256 parts at most");
    if (psets_split(&c->changes.sets, c->changes.app, set, parts->items, parts->count, made, &why))
        return inquiry_no(why.text);
    return named(made, parts->count);
}

/* ---- Dictionaries ----------------------------------------------------------------------------- */

static cJSON *about_set(struct coordinator *c, struct inquiry *inquiry)
{
    const struct named_texts *data = &inquiry->asked.data;
    struct error why;
    struct pset *set = sets_of(c, inquiry, inquiry->asked.set, &why);
    if (!set)
        return inquiry_no(why.text);
    for (int i = 0; i < data->count; i++)
        json_put_text(set->data, data->items[i].name, data->items[i].value);
    return inquiry_yes();
}

/* A change takes it, or has: such a process may have left its loop already, and the others do not wait for it. */
static bool leaves(const struct coordinator *c, int process)
{
    const struct change *now = &c->changes.now;
    enum process_state state = process_at(c, process)->state;
    bool taken = now->taken && now->go && now->state != CHANGE_ABORTED && pset_has(now->taken, process);
    return taken || state == PROCESS_LEAVING || (state == PROCESS_GONE && !process_at(c, process)->ended);
}

/* What a set is to the process that asks, by the keys of its attributes, as texts. */
static cJSON *attributes(struct coordinator *c, const struct pset *set, int process)
{
    static const struct {
        const char *key, *said;
    } truths[] = {{"mpi_ps_active", "active"},
                  {"mpi_included", "included"},
                  {"mpi_primary", "primary"},
                  {"mpi_dyn", "dynamic"}},
      numbers[] = {{"mpi_size", "size"}, {"mpi_ps_version", "version"}, {"mpi_ps_epoch", "epoch"}};
    cJSON *of = cJSON_CreateObject(), *all = cJSON_Duplicate(set->sched, 1);
    char text[32];
    describe(c, set, process, of);
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++)
        json_put_text(all, truths[i].key, json_true(of, truths[i].said) ? "True" : "False");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        snprintf(text, sizeof text, "%d", json_int(of, numbers[i].said, 0));
        json_put_text(all, numbers[i].key, text);
    }
    cJSON_Delete(of);
    return all;
}

/* The first key that is not there, or NULL; what is, into data. */
static const char *look_up(struct coordinator *c, const struct inquiry *inquiry, const struct pset *set, cJSON *data)
{
    const struct texts *keys = &inquiry->asked.keys;
    const char *missing = NULL;
    cJSON *own = attributes(c, set, inquiry->process);
    for (int i = keys->count - 1; i >= 0; i--) {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(own, keys->items[i]);
        if (!value)
            value = cJSON_GetObjectItemCaseSensitive(set->data, keys->items[i]);
        if (!value)
            missing = keys->items[i];
        else
            json_put_text(data, keys->items[i], value->valuestring);
    }
    cJSON_Delete(own);
    return missing;
}

enum { NEVER = 1 };

/* It waits for a key. NULL: it goes on. */
static cJSON *wait_for_key(struct coordinator *c, struct inquiry *inquiry, const struct pset *set, const char *key)
{
    char text[900];
    snprintf(text, sizeof text, "nobody can set the key %.200s of %.200s any more: all processes wait for keys", key,
             set->name);
    if (inquiry_is_late(inquiry) && inquiries_all_wait(c, "get"))
        inquiry_decide(c, inquiry, NEVER);
    if (inquiry->verdict == NEVER)
        return inquiry_no(text);
    if (inquiry_is_late(inquiry) && !inquiry->said) {
        inquiry->said = true;
        snprintf(text, sizeof text, "note: process %d waits for the key %.200s of %.200s, which nobody has set so far",
                 inquiry->process, key, set->name);
        c->config.ops->say(c->config.context, text, false);
    }
    if (!inquiry->limit || inquiry_is_late(inquiry))
        inquiry_look_again(inquiry, KEY_LIMIT);
    return NULL;
}

/* Whoever is missing a key waits for it, if it says so. A process that is not joined by then never will be told. */
static cJSON *about_get(struct coordinator *c, struct inquiry *inquiry)
{
    struct error why;
    const struct pset *set = sets_of(c, inquiry, inquiry->asked.set, &why),
                      *with = set ? sets_of(c, inquiry, inquiry->asked.with, &why) : NULL;
    int met = !with ? -1 : leaves(c, inquiry->process) ? 1 : inquiry_meets(c, inquiry, with, leaves, &why);
    if (met <= 0)
        return met ? inquiry_no(why.text) : NULL;
    cJSON *answer = inquiry_yes();
    const char *missing = look_up(c, inquiry, set, cJSON_AddObjectToObject(answer, "data"));
    if (!missing || !inquiry->asked.wait)
        return answer;
    cJSON_Delete(answer);
    return wait_for_key(c, inquiry, set, missing);
}

/* ---- Who asks what ------------------------------------------------------------------------------ */

static const struct subject {
    const char *about;
    inquiry_answer *answer;
    bool tools; /* may ask it, too */
} subjects[] = {
    {"list", about_list, true},
    {"all", about_all, true},
    {"birth", about_birth, false},
    {"info", about_info, true},
    {"members", about_members, false},
    {"meet", about_meet, false},
    {"made", about_made, false},
    {"barrier", about_barrier, false},
    {"op", about_op, true},
    {"split", about_split, true},
    {"set", about_set, true},
    {"get", about_get, false},
    {"change", sets_change_query, false},
    {"request", sets_change_request, false},
    {"accept", sets_change_accept, false},
    {"confirm", sets_change_confirm, false},
    {"close", sets_change_close, false},
    {"leaving", sets_change_leaving, false},
    {"cancel", sets_change_cancel, false},
    {"malleable", reinit_malleable, false},
    {"reinit", reinit_begin, false},
    {"spawn", reinit_spawn, false},
    {"spawned", reinit_spawned, false},
};

/* One whose joining is off has nothing to do in the job. */
static bool is_off(const struct coordinator *c, const struct inquiry *inquiry)
{
    return inquiry->process >= 0 && process_at(c, inquiry->process)->state == PROCESS_RETURNING;
}

static cJSON *answer(struct coordinator *c, struct inquiry *inquiry)
{
    const char *about = inquiry->asked.about;
    if (c->ending.finished || is_off(c, inquiry))
        return inquiry_no(c->ending.finished ? "the job has ended" : "its joining is off");
    for (size_t i = 0; about && i < sizeof subjects / sizeof *subjects; i++)
        if (!strcmp(about, subjects[i].about) && (subjects[i].tools || inquiry->process >= 0))
            return subjects[i].answer(c, inquiry);
    return inquiry_no("nothing is known about that");
}

void sets_ask(struct coordinator *c, int process, const struct report_ask *report)
{
    c->changes.seen = true;
    if (inquiries_add(c, process, report))
        fatal_memory(c);
    inquiries_look(c, answer);
}

void sets_request(struct coordinator *c, void *handle, const struct request_psets *request)
{
    if (inquiries_add_request(c, handle, request))
        fatal_memory(c);
    inquiries_look(c, answer);
}

void sets_advance(struct coordinator *c)
{
    inquiries_look(c, answer);
}
