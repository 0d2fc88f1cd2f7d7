/* Checkpoints: asked for, made where the ranks hold, written, kept and removed. */
#include "runtime/coordinator/checkpoint.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/coordinator/part.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/progress.h"
#include "runtime/coordinator/replies.h"
#include "runtime/coordinator/state.h"
#include "runtime/wire/messages.h"

static void note_base(struct coordinator *c, const struct checkpoint *last, bool linked);
static void keep(struct coordinator *c, const struct checkpoint *last);
static void complete(struct coordinator *c, struct saving *s);
static void checkpoint_done(struct coordinator *c, struct saving *saving);

/* ---- Files that stay ----------------------------------------------------------------------------- */

void rotation_destroy(struct rotation *r)
{
    free(r->files);
    *r = (struct rotation){0};
}

int rotation_add(struct rotation *r, int number, int base)
{
    if (array_reserve(&r->files, &r->room, r->count + 1, sizeof *r->files))
        return -1;
    r->files[r->count++] = (struct rotation_file){number, base};
    return 0;
}

static bool is_linked_to(const struct rotation *r, size_t first, int number)
{
    for (size_t i = first; i < r->count; i++)
        if (r->files[i].base == number)
            return true;
    return false;
}

int rotation_next(struct rotation *r, int keep)
{
    size_t stay = keep > 0 ? (size_t)keep : r->count;
    for (size_t i = 0; i + stay < r->count; i++) {
        int number = r->files[i].number;
        if (is_linked_to(r, r->count - stay, number))
            continue;
        memmove(r->files + i, r->files + i + 1, (--r->count - i) * sizeof *r->files);
        return number;
    }
    return 0;
}

/* ---- Written while the ranks go on --------------------------------------------------------------- */

static bool behind_is_on(const struct coordinator *c)
{
    return c->checkpoints.behind.on;
}

static void note_failure(struct saving *s, const char *failure)
{
    if (failure && !s->failure[0])
        snprintf(s->failure, sizeof s->failure, "%s", failure);
}

/* The word of one process may come before that of another one, that it has copied its part. */
static struct saving *of_number(struct coordinator *c, int number)
{
    struct checkpoints *k = &c->checkpoints;
    return k->behind.on && k->behind.order.number == number ? &k->behind : &k->now;
}

/* The ranks are about to be told to save so: from here on each of them may say that its part is on disk. */
static void behind_await(struct coordinator *c)
{
    for (int r = 0; r < c->processes.size; r++)
        process_of_rank(c, r)->stores = process_of_rank(c, r)->keeps = c->checkpoints.now.order.number;
}

static bool any_stores(const struct coordinator *c)
{
    bool any = false;
    for (int p = 0; p < c->processes.count; p++)
        any |= process_at(c, p)->stores == c->checkpoints.behind.order.number;
    return any;
}

static bool any_keeps(const struct coordinator *c)
{
    bool any = false;
    for (int p = 0; p < c->processes.count; p++)
        any |= process_at(c, p)->keeps == c->checkpoints.behind.order.number;
    return any;
}

static void send_keep(struct coordinator *c)
{
    const struct saving *s = &c->checkpoints.behind;
    for (int p = 0; p < c->processes.count; p++) {
        if (process_at(c, p)->keeps != s->order.number)
            continue;
        cJSON *message = json_message(ORDER(keep));
        cJSON_AddNumberToObject(message, "number", s->order.number);
        cJSON_AddBoolToObject(message, "complete", !s->failure[0]);
        processes_send(c, p, message);
    }
}

static void behind_finish(struct coordinator *c)
{
    timers_cancel(&c->timers, &c->checkpoints.end);
    checkpoint_done(c, &c->checkpoints.behind);
}

/* Those of one that failed are waited for, too: none then has to wait for its own thread. */
static void all_are_stored(struct coordinator *c)
{
    if (any_keeps(c))
        send_keep(c);
    else
        behind_finish(c);
}

/* All ranks have copied, and go on. */
static void behind_begin(struct coordinator *c)
{
    struct checkpoints *k = &c->checkpoints;
    k->behind = k->now;
    k->now.on = false;
    k->now.waiters = NULL;
    if (!any_stores(c))
        all_are_stored(c);
}

void behind_stored(struct coordinator *c, int process, const struct report_stored *report)
{
    struct process *p = process_at(c, process);
    int number = report->number;
    if (!number || p->stores != number)
        return;
    p->stores = 0;
    note_failure(of_number(c, number), report->failure);
    if (behind_is_on(c) && !any_stores(c))
        all_are_stored(c);
}

void behind_kept(struct coordinator *c, int process, const struct report_kept *report)
{
    struct process *p = process_at(c, process);
    int number = report->number;
    if (!number || p->keeps != number)
        return;
    p->keeps = 0;
    note_failure(of_number(c, number), report->failure);
    if (behind_is_on(c) && !any_keeps(c))
        behind_finish(c);
}

void behind_lost(struct coordinator *c, int process)
{
    struct process *p = process_at(c, process);
    char text[160];
    bool stored = p->keeps && !p->stores;
    if (!behind_is_on(c) || p->keeps != c->checkpoints.behind.order.number)
        return;
    p->stores = p->keeps = 0;
    snprintf(text, sizeof text, "a process that was writing its part (pid %d on %s) is gone", p->pid, p->host);
    note_failure(&c->checkpoints.behind, text);
    if (!stored && !any_stores(c))
        all_are_stored(c);
    else if (stored && !any_stores(c) && !any_keeps(c))
        behind_finish(c);
}

/* ---- The end ------------------------------------------------------------------------------------- */

static void ring_end(void *context)
{
    struct coordinator *c = context;
    struct saving *s = &c->checkpoints.behind;
    char text[160];
    snprintf(text, sizeof text, "it was not on disk %g s after the end of the program",
             c->config.checkpoint.end_timeout);
    note_failure(s, text);
    send_keep(c);
    for (int p = 0; p < c->processes.count; p++)
        process_at(c, p)->stores = process_at(c, p)->keeps = 0;
    checkpoint_done(c, s);
}

static void behind_init(struct coordinator *c)
{
    timer_init(&c->checkpoints.end, ring_end, c, NULL);
}

bool behind_holds_end(struct coordinator *c)
{
    if (behind_is_on(c) && !c->checkpoints.end.set)
        timers_set(&c->timers, &c->checkpoints.end, c->config.checkpoint.end_timeout);
    return behind_is_on(c);
}

bool behind_is_awaited(const struct coordinator *c)
{
    return behind_is_on(c) && c->checkpoints.end.set;
}

/* ---- Asking -------------------------------------------------------------------------------------- */

static bool can_be(const struct coordinator *c, enum save_level level, struct error *why)
{
    if (c->stop.asked || c->ending.finished)
        return error_set(why, ERROR_FAILED, "the job is ending"), false;
    return !c->config.ops->saves || c->config.ops->saves(c->config.context, level, why);
}

void checkpoint_request(struct coordinator *c, void *handle, const struct request_checkpoint *request)
{
    struct error why = {0};
    if (!can_be(c, SAVE_FILE, &why)) {
        reply_send(c, &handle, reply_refusal("refused", why.text));
        return;
    }
    c->checkpoints.levels[SAVE_FILE].asked = true;
    if (!request->wait)
        reply_send(c, &handle, reply_accepted("accepted"));
    else if (waiters_add(&c->checkpoints.levels[SAVE_FILE].waiters, handle, false))
        fatal_memory(c);
}

static void checkpoint_fail(struct coordinator *c, const char *reason)
{
    publish_checkpoint(c, NULL, reason);
    char text[1000];
    snprintf(text, sizeof text, "there is no checkpoint: %.900s", reason);
    c->config.ops->say(c->config.context, text, false);
}

/* It has nobody who waits for an answer, so a refusal is said. */
static void checkpoint_ask(struct coordinator *c, enum save_level level)
{
    struct error why = {0};
    if (c->stop.asked || c->ending.finished)
        return;
    c->checkpoints.levels[level].asked = can_be(c, level, &why);
    if (!c->checkpoints.levels[level].asked)
        checkpoint_fail(c, why.text);
}

/* A rank asks before it says that it holds: so the wish of those that come later is the same, and not the next. */
void checkpoint_program(struct coordinator *c)
{
    if (!c->checkpoints.levels[SAVE_FILE].asked)
        checkpoint_ask(c, SAVE_FILE);
}

static void checkpoint_abandoned(struct coordinator *c, const void *handle)
{
    waiters_abandoned(c, &c->checkpoints.now.waiters, handle);
    waiters_abandoned(c, &c->checkpoints.behind.waiters, handle);
    for (int level = 0; level < SAVE_LEVELS; level++)
        waiters_abandoned(c, &c->checkpoints.levels[level].waiters, handle);
}

/* ---- From one to the next ------------------------------------------------------------------------ */

static void set_next(struct coordinator *c, enum save_level level)
{
    if (c->config.checkpoint.every[level] > 0)
        timers_set(&c->timers, &c->checkpoints.levels[level].next, c->config.checkpoint.every[level]);
}

static void ring_file(void *context)
{
    checkpoint_ask(context, SAVE_FILE);
}

static void ring_memory(void *context)
{
    checkpoint_ask(context, SAVE_MEMORY);
}

static void checkpoint_init(struct coordinator *c)
{
    c->checkpoints.last.number = 0;
    c->checkpoints.number = c->config.checkpoint.number;
    for (size_t i = 0; i < c->config.checkpoint.count; i++)
        rotation_add(&c->checkpoints.rotation, c->config.checkpoint.files[i].number,
                     c->config.checkpoint.files[i].base);
    timer_init(&c->checkpoints.levels[SAVE_FILE].next, ring_file, c, &c->preparing);
    timer_init(&c->checkpoints.levels[SAVE_MEMORY].next, ring_memory, c, &c->preparing);
    behind_init(c);
    for (int level = 0; level < SAVE_LEVELS; level++)
        set_next(c, (enum save_level)level);
}

static void checkpoint_destroy(struct coordinator *c)
{
    rotation_destroy(&c->checkpoints.rotation);
}

/* ---- At the gate --------------------------------------------------------------------------------- */

/* A file, while no other is written. */
static bool may_begin(const struct coordinator *c, enum save_level level)
{
    return c->checkpoints.levels[level].asked && !(level == SAVE_FILE && behind_is_on(c));
}

bool checkpoint_is_due(const struct coordinator *c)
{
    bool due = false;
    for (int level = 0; level < SAVE_LEVELS; level++)
        due |= may_begin(c, (enum save_level)level);
    return due && !c->checkpoints.now.on;
}

bool checkpoint_is_deferred(const struct coordinator *c)
{
    return c->checkpoints.levels[SAVE_FILE].asked && behind_is_on(c);
}

bool checkpoint_is_on(const struct coordinator *c)
{
    return c->checkpoints.now.on;
}

/* In the directory of all. */
static void name_file(const struct coordinator *c, int number, char name[SAVE_PATH])
{
    snprintf(name, SAVE_PATH, "%s-%04d.h5", c->config.checkpoint.name, number);
}

static void path_of_file(const struct coordinator *c, int number, char path[SAVE_PATH])
{
    snprintf(path, SAVE_PATH, "%s/%s-%04d.h5", c->config.checkpoint.directory, c->config.checkpoint.name, number);
}

/* Constant arrays are so as long as one visit of a phase lasts. */
static bool base_holds(const struct coordinator *c, enum save_level level)
{
    const struct position *base = &c->checkpoints.base[level].at, *at = &c->checkpoints.now.at;
    return c->checkpoints.base[level].number && base->pc == at->pc && base->visit == at->visit;
}

/* In memory it is the checkpoint before, by its number: it has all that it linked to itself. */
static void name_base(struct coordinator *c, enum save_level level, char name[SAVE_PATH])
{
    int *base = &c->checkpoints.base[level].number;
    if (!base_holds(c, level))
        *base = 0;
    if (*base && level == SAVE_FILE)
        name_file(c, *base, name);
    else if (*base)
        snprintf(name, SAVE_PATH, "%d", *base);
}

/* A file has all data in the order of the whole; in memory each rank has its own. */
static void checkpoint_new_world(struct coordinator *c)
{
    c->checkpoints.base[SAVE_MEMORY].number = 0;
}

static void make_order(struct coordinator *c, enum save_level level)
{
    struct save_order *order = &c->checkpoints.now.order;
    *order = (struct save_order){.level = level,
                                 .number = ++c->checkpoints.number,
                                 .restarts = c->config.checkpoint.restarts,
                                 .behind = level == SAVE_FILE && c->config.checkpoint.behind};
    if (level == SAVE_FILE)
        path_of_file(c, order->number, order->path);
    name_base(c, level, order->base);
}

/* Since when all that now hold have not computed. */
static double held_since(const struct coordinator *c)
{
    double since = monotonic_seconds();
    for (int r = 0; r < c->processes.size && !c->pause.on; r++)
        if (process_of_rank(c, r)->held < since)
            since = process_of_rank(c, r)->held;
    return since;
}

/* A file before memory, which comes next at the same probe. */
void checkpoint_begin(struct coordinator *c, const struct position *at)
{
    struct checkpoints *k = &c->checkpoints;
    enum save_level level = may_begin(c, SAVE_FILE) ? SAVE_FILE : SAVE_MEMORY;
    k->now = (struct saving){.on = true,
                             .missing = c->processes.size,
                             .since = monotonic_seconds(),
                             .held = held_since(c),
                             .at = *at,
                             .waiters = k->levels[level].waiters};
    k->levels[level].asked = false;
    k->levels[level].waiters = NULL;
    timers_cancel(&c->timers, &k->levels[level].next);
    make_order(c, level);
    if (k->now.order.behind)
        behind_await(c);
    processes_send_world(c, save_order_to_json(&k->now.order));
}

/* ---- Done ---------------------------------------------------------------------------------------- */

/* A file that links to no other has all that is constant itself, if anything is; in memory each has it. */
static void note_base(struct coordinator *c, const struct checkpoint *last, bool linked)
{
    int *base = &c->checkpoints.base[last->level].number;
    if (linked && *base && last->level == SAVE_FILE)
        return;
    c->checkpoints.base[last->level].at = last->at;
    *base = last->number;
}

static void keep(struct coordinator *c, const struct checkpoint *last)
{
    struct checkpoints *k = &c->checkpoints;
    char path[SAVE_PATH];
    int number;
    if (rotation_add(&k->rotation, last->number, k->base[SAVE_FILE].number))
        fatal_memory(c);
    while ((number = rotation_next(&k->rotation, c->config.checkpoint.keep))) {
        path_of_file(c, number, path);
        if (c->config.ops->forget)
            c->config.ops->forget(c->config.context, path);
    }
}

static void complete(struct coordinator *c, struct saving *s)
{
    struct checkpoints *k = &c->checkpoints;
    k->last = (struct checkpoint){.level = s->order.level,
                                  .number = s->order.number,
                                  .at = s->at,
                                  .time = wall_seconds(),
                                  .behind = s->order.behind,
                                  .seconds = monotonic_seconds() - s->since,
                                  .stall = s->stall,
                                  .bytes = s->bytes};
    snprintf(k->last.path, sizeof k->last.path, "%s", s->order.path);
    note_base(c, &k->last, s->linked);
    if (k->last.level == SAVE_FILE)
        keep(c, &k->last);
    publish_checkpoint(c, checkpoint_json(c), NULL);
    cJSON *reply = reply_accepted("done");
    cJSON_AddItemToObject(reply, "checkpoint", checkpoint_json(c));
    waiters_answer(c, &s->waiters, reply);
}

/* Its number is used again, unless a later one is there already. */
static void failed(struct coordinator *c, struct saving *s)
{
    struct checkpoints *k = &c->checkpoints;
    if (k->number == s->order.number)
        k->number--;
    k->base[s->order.level].number = 0;
    checkpoint_fail(c, s->failure);
    waiters_answer(c, &s->waiters, reply_refusal("failed", s->failure));
}

/* All that is left to do is to say how it went. */
static void checkpoint_done(struct coordinator *c, struct saving *saving)
{
    saving->on = false;
    if (saving->failure[0])
        failed(c, saving);
    else
        complete(c, saving);
    set_next(c, saving->order.level);
}

/* What comes next is decided when all that has arrived is taken. */
static void all_have_saved(struct coordinator *c)
{
    struct saving *s = &c->checkpoints.now;
    double now = monotonic_seconds();
    s->stall = now - s->held;
    if (!c->pause.on)
        progress_stood(c, now - s->since);
    if (s->order.behind && !s->uncopied)
        behind_begin(c);
    else
        checkpoint_done(c, s);
}

void checkpoint_saved(struct coordinator *c, int process, const struct report_saved *report)
{
    struct saving *s = &c->checkpoints.now;
    const char *failure = report->failure;
    if (!s->on || report->number != s->order.number || process_at(c, process)->rank < 0)
        return;
    s->bytes += report->bytes;
    s->linked |= report->linked;
    s->uncopied |= !!failure;
    if (failure && !s->failure[0])
        snprintf(s->failure, sizeof s->failure, "%s", failure);
    if (!--s->missing)
        all_have_saved(c);
}

void checkpoint_end(struct coordinator *c, const char *code, const char *reason)
{
    for (int level = 0; level < SAVE_LEVELS; level++) {
        if (c->checkpoints.levels[level].asked)
            publish_checkpoint(c, NULL, reason);
        c->checkpoints.levels[level].asked = false;
        waiters_answer(c, &c->checkpoints.levels[level].waiters, reply_refusal(code, reason));
        set_next(c, (enum save_level)level);
    }
}

/* ---- For people ---------------------------------------------------------------------------------- */

static void add_place(const struct coordinator *c, cJSON *json, const struct position *at)
{
    cJSON_AddNumberToObject(json, "pc", at->pc);
    cJSON_AddStringToObject(json, "element", names_element(c, at->pc));
    cJSON_AddNumberToObject(json, "iteration", (double)at->iteration);
}

cJSON *checkpoint_writing_json(const struct coordinator *c)
{
    const struct saving *s = &c->checkpoints.behind;
    if (!s->on)
        return NULL;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "number", s->order.number);
    cJSON_AddStringToObject(json, "path", s->order.path);
    add_place(c, json, &s->at);
    cJSON_AddNumberToObject(json, "bytes", (double)s->bytes);
    cJSON_AddNumberToObject(json, "seconds", monotonic_seconds() - s->since);
    cJSON_AddNumberToObject(json, "stall", s->stall);
    return json;
}

cJSON *checkpoint_json(const struct coordinator *c)
{
    const struct checkpoint *last = &c->checkpoints.last;
    if (!last->number)
        return NULL;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "number", last->number);
    cJSON_AddStringToObject(json, "level", save_level_name(last->level));
    if (last->path[0])
        cJSON_AddStringToObject(json, "path", last->path);
    add_place(c, json, &last->at);
    cJSON_AddNumberToObject(json, "time", last->time);
    cJSON_AddNumberToObject(json, "bytes", (double)last->bytes);
    cJSON_AddNumberToObject(json, "seconds", last->seconds);
    cJSON_AddNumberToObject(json, "stall", last->stall);
    if (last->behind)
        cJSON_AddTrueToObject(json, "behind");
    return json;
}

cJSON *checkpoint_restarted_json(const struct coordinator *c)
{
    const struct checkpoint_config *config = &c->config.checkpoint;
    if (!config->from)
        return NULL;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "from", config->from);
    cJSON_AddNumberToObject(json, "number", config->from_number);
    add_place(c, json, &config->from_at);
    return json;
}

static void checkpoint_is_off(struct coordinator *c, const char *reason)
{
    checkpoint_end(c, "failed", reason);
}

const struct part checkpoint_part = {.init = checkpoint_init,
                                     .new_world = checkpoint_new_world,
                                     .abandoned = checkpoint_abandoned,
                                     .end = checkpoint_is_off,
                                     .destroy = checkpoint_destroy};
