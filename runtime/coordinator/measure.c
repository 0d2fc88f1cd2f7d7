/* Measuring on demand: see measure.h. */
#include "runtime/coordinator/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/coordinator/costs.h"
#include "runtime/coordinator/names.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/progress.h"
#include "runtime/coordinator/reply.h"
#include "runtime/coordinator/state.h"
#include "runtime/wire/messages.h"

#define ANSWER_TIMEOUT 1    /* seconds */
#define KEEP_MOST      3600 /* seconds */

/* ---- Who has asked before --------------------------------------------------------------- */

static void forget_asker(struct measure_asker *asker)
{
    for (size_t p = 0; p < asker->count; p++)
        measured_forget(&asker->told[p]);
    free(asker->told);
    *asker = (struct measure_asker){0};
}

static void forget_askers(struct coordinator *c)
{
    for (int i = 0; i < MEASURE_ASKERS; i++)
        forget_asker(&c->measure.askers[i]);
}

/* Its place, or that of the one that has not asked for longest. */
static struct measure_asker *asker_of(struct coordinator *c, const char *name)
{
    struct measure_asker *oldest = c->measure.askers;
    for (struct measure_asker *a = c->measure.askers; a < c->measure.askers + MEASURE_ASKERS; a++) {
        if (a->asked > 0 && !strcmp(a->name, name))
            return a;
        if (a->asked < oldest->asked)
            oldest = a;
    }
    forget_asker(oldest);
    snprintf(oldest->name, sizeof oldest->name, "%s", name);
    return oldest;
}

/* For all processes that there are. 0, or -1: out of memory. */
static int make_room(const struct coordinator *c, struct measure_asker *asker)
{
    size_t count = (size_t)c->processes.count;
    if (array_reserve(&asker->told, &asker->room, count, sizeof *asker->told))
        return -1;
    for (; asker->count < count; asker->count++)
        asker->told[asker->count] = (struct measured_told){0};
    return 0;
}

/* ---- The answer --------------------------------------------------------------------------- */

/* What the process has said in this round; NULL: nothing. */
static const struct report_gauge *answer_of(const struct coordinator *c, int process)
{
    const struct process *p = process_at(c, process);
    return p->measure_answered == c->measure.round ? p->measure_answer.is : NULL;
}

static const char *name_of(const void *context, int pc)
{
    return names_element(context, pc);
}

/* NULL: out of memory. */
static cJSON *elements_json(struct coordinator *c, struct measure_asker *asker)
{
    struct measured all = {0};
    int failed = make_room(c, asker);
    for (int r = 0; !failed && r < c->processes.size; r++) {
        int p = c->processes.world[r];
        const struct report_gauge *report = answer_of(c, p);
        for (int i = 0; report && !failed && i < report->elements.count; i++)
            failed = measured_add(&all, &asker->told[p], &report->elements.items[i], c->processes.size);
    }
    cJSON *json = failed ? NULL : measured_json(&all, name_of, c);
    measured_free(&all);
    return json;
}

static void add_ranks(const struct coordinator *c, cJSON *json)
{
    cJSON *memory = cJSON_AddArrayToObject(json, "memory"), *missing = cJSON_AddArrayToObject(json, "missing");
    for (int r = 0; r < c->processes.size; r++) {
        int p = c->processes.world[r];
        const struct report_gauge *report = answer_of(c, p);
        if (!report) {
            cJSON_AddItemToArray(missing, cJSON_CreateNumber(r));
            continue;
        }
        cJSON *rank = cJSON_CreateObject();
        cJSON_AddNumberToObject(rank, "rank", r);
        cJSON_AddNumberToObject(rank, "process", p);
        cJSON_AddNumberToObject(rank, "bytes", report->memory);
        cJSON_AddItemToArray(memory, rank);
    }
}

/* What is true by now of a name that has not asked before is all since measuring began. */
static cJSON *measure_json(struct coordinator *c, const char *name)
{
    struct measure_asker *asker = asker_of(c, name);
    double now = wall_seconds(), since = asker->asked > 0 ? asker->asked : c->measure.began;
    cJSON *elements = elements_json(c, asker);
    if (!elements)
        return NULL;
    asker->asked = now;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "version", 1);
    cJSON_AddNumberToObject(json, "began", c->measure.began);
    cJSON_AddNumberToObject(json, "since", since);
    cJSON_AddNumberToObject(json, "time", now);
    cJSON_AddNumberToObject(json, "size", c->processes.size);
    cJSON_AddItemToObject(json, "elements", elements);
    cJSON_AddItemToObject(json, "progress", progress_json(c));
    cJSON_AddItemToObject(json, "adaptations", costs_mean_json(c->adaptations.history, ADAPTATION_HISTORY));
    add_ranks(c, json);
    return json;
}

static cJSON *reply_to(struct coordinator *c, const char *asker)
{
    cJSON *measure = measure_json(c, asker);
    if (!measure)
        return reply_refusal("failed", "out of memory");
    cJSON *reply = cJSON_CreateObject();
    cJSON_AddBoolToObject(reply, "ok", 1);
    cJSON_AddItemToObject(reply, "measure", measure);
    return reply;
}

/* What is kept of processes only as long as it is of use. */
static void forget_processes(struct coordinator *c)
{
    for (int p = 0; p < c->processes.count; p++) {
        message_free(&process_at(c, p)->measure_answer);
    }
    for (struct measure_asker *a = c->measure.askers; a < c->measure.askers + MEASURE_ASKERS; a++)
        for (size_t p = 0; p < a->count; p++)
            if (process_at(c, (int)p)->state == PROCESS_GONE)
                measured_forget(&a->told[p]);
}

/* All have answered, or the time is over. */
static void finish(struct coordinator *c)
{
    c->measure.open = false;
    timers_cancel(&c->timers, &c->measure.limit);
    for (int i = 0; i < c->measure.waiting_count; i++)
        reply_send(c, &c->measure.waiting[i].handle, reply_to(c, c->measure.waiting[i].asker));
    c->measure.waiting_count = 0;
    forget_processes(c);
}

/* One that is not attached yet is waited for like the others. */
static void check(struct coordinator *c)
{
    int size = c->processes.size;
    for (int i = 0; i < size; i++) {
        int rank = (c->measure.awaited + i) % size;
        if (!answer_of(c, c->processes.world[rank])) {
            c->measure.awaited = rank;
            return;
        }
    }
    finish(c);
}

void measure_give_up(struct coordinator *c)
{
    if (c->measure.open)
        finish(c);
}

static void timeout(void *context)
{
    measure_give_up(context);
}

/* ---- The question --------------------------------------------------------------------------- */

/* Once in each round; when nothing is open, for an answer that nobody waits for, so that it measures. */
static bool is_to_ask(const struct coordinator *c, int process, int round)
{
    const struct process *p = process_at(c, process);
    return p->attached && !(round && p->measure_asked == round);
}

static void ask(struct coordinator *c, const int *processes, int count)
{
    int round = c->measure.open ? c->measure.round : 0, asked = 0;
    int *list = malloc(sizeof *list * (size_t)(count ? count : 1));
    for (int i = 0; list && i < count; i++)
        if (is_to_ask(c, processes[i], round)) {
            process_at(c, processes[i])->measure_asked = round;
            list[asked++] = processes[i];
        }
    cJSON *message = json_message(ORDER(gauge));
    cJSON_AddNumberToObject(message, "round", round);
    processes_send_all(c, list, asked, message);
    cJSON_Delete(message);
    free(list);
}

static void ask_world(struct coordinator *c)
{
    ask(c, c->processes.world, c->processes.size);
}

static void begin(struct coordinator *c)
{
    if (c->measure.open)
        return;
    c->measure.open = true;
    c->measure.round++;
    timers_set(&c->timers, &c->measure.limit, ANSWER_TIMEOUT);
    ask_world(c);
}

void measure_came(struct coordinator *c, int process, const struct report_gauge *report)
{
    struct process *p = process_at(c, process);
    const struct shape_gauge_progress *seen = report->progress;
    if (!c->measure.open || report->round != c->measure.round)
        return;
    if (seen && p->rank == 0)
        progress_came(c, &POSITION_OF(seen), seen->bound, seen->age);
    message_free(&p->measure_answer);
    if (!message_keep(&p->measure_answer, KIND_REPORT, report->said))
        return; /* as one that does not answer */
    p->measure_answered = c->measure.round;
    check(c);
}

/* One that was waited for may have left. */
void measure_follow(struct coordinator *c)
{
    if (c->measure.on)
        ask_world(c);
    if (c->measure.open)
        check(c);
}

void measure_attached(struct coordinator *c, int process)
{
    if (c->measure.on && process_at(c, process)->rank >= 0)
        ask(c, &process, 1);
}

/* ---- On and off ------------------------------------------------------------------------------ */

static void switch_off(void *context)
{
    struct coordinator *c = context;
    c->measure.on = false;
    for (int p = 0; p < c->processes.count; p++)
        if (process_at(c, p)->attached)
            processes_send(c, p, json_message(ORDER(gauge_off)));
}

/* As long as the most patient of those who asked wants. */
static void keep_on(struct coordinator *c, double seconds)
{
    double until = monotonic_seconds() + (seconds < KEEP_MOST ? seconds : KEEP_MOST);
    if (!c->measure.on) {
        forget_askers(c); /* also one that was answered when it was off already */
        c->measure.on = true;
        c->measure.began = wall_seconds();
        c->measure.until = 0;
    }
    if (until > c->measure.until)
        c->measure.until = until;
    timers_set(&c->timers, &c->measure.idle, c->measure.until - monotonic_seconds());
}

void measure_request(struct coordinator *c, void *handle, const struct request_measure *request)
{
    const char *why = c->ending.finished                            ? "the job is ending"
                      : c->measure.waiting_count == MEASURE_WAITING ? "too many ask at a time; try again"
                                                                    : NULL;
    if (why) {
        reply_send(c, &handle, reply_refusal("refused", why));
        return;
    }
    int i = c->measure.waiting_count++;
    c->measure.waiting[i].handle = handle;
    snprintf(c->measure.waiting[i].asker, MEASURE_NAME, "%s", request->asker ? request->asker : "");
    keep_on(c, request->keep);
    begin(c);
}

void measure_abandoned(struct coordinator *c, const void *handle)
{
    for (int i = 0; i < c->measure.waiting_count; i++)
        if (c->measure.waiting[i].handle == handle) {
            reply_send(c, &c->measure.waiting[i].handle, reply_refusal("failed", "the requester has gone"));
            c->measure.waiting[i] = c->measure.waiting[--c->measure.waiting_count];
            return;
        }
}

void measure_init(struct coordinator *c)
{
    timer_init(&c->measure.limit, timeout, c, NULL);
    timer_init(&c->measure.idle, switch_off, c, NULL);
}

void measure_destroy(struct coordinator *c)
{
    forget_askers(c);
}
