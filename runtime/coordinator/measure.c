/* Measuring on demand. */
#include "runtime/coordinator/measure.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/array.h"
#include "runtime/base/child.h"
#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/base/paths.h"
#include "runtime/base/say.h"
#include "runtime/coordinator/loops.h"
#include "runtime/coordinator/part.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/progress.h"
#include "runtime/coordinator/replies.h"
#include "runtime/coordinator/state.h"
#include "runtime/wire/messages.h"

/* ---- What was measured --------------------------------------------------------------------------- */

void measured_forget(struct measured_told *told)
{
    free(told->sums);
    *told = (struct measured_told){0};
}

void measured_free(struct measured *measured)
{
    for (size_t i = 0; i < measured->count; i++)
        free(measured->elements[i].who);
    free(measured->elements);
    *measured = (struct measured){0};
}

/* Puts the sums in the place of those told before, which it returns; -1: out of memory. Sums of another life
 * began at zero. */
static int replace(struct measured_told *told, const struct measured_sums *sums, struct measured_sums *before)
{
    size_t i = 0;
    while (i < told->count && (told->sums[i].pc != sums->pc || told->sums[i].size != sums->size))
        i++;
    *before = (struct measured_sums){.pc = sums->pc, .size = sums->size};
    if (i == told->count) {
        if (array_reserve(&told->sums, &told->room, told->count + 1, sizeof *told->sums))
            return -1;
        told->count++;
    } else if (told->sums[i].life == sums->life) {
        *before = told->sums[i];
    }
    told->sums[i] = *sums;
    return 0;
}

/* The element's place; NULL: out of memory. */
static struct measured_element *place_of(struct measured *measured, int pc, int size)
{
    for (size_t i = 0; i < measured->count; i++)
        if (measured->elements[i].sums.pc == pc && measured->elements[i].sums.size == size)
            return &measured->elements[i];
    if (array_reserve(&measured->elements, &measured->room, measured->count + 1, sizeof *measured->elements))
        return NULL;
    struct measured_element *new = &measured->elements[measured->count++];
    *new = (struct measured_element){.sums = {.pc = pc, .size = size}};
    return new;
}

/* Two loops of one rank that cannot be told apart are one. 0, or -1: out of memory. */
static int add_rank(struct measured_element *element, int rank, int64_t iterations, double load)
{
    if (element->ranks && element->who[element->ranks - 1].rank == rank) {
        element->who[element->ranks - 1].iterations += iterations;
        element->who[element->ranks - 1].load += load;
        return 0;
    }
    if (array_reserve(&element->who, &element->who_room, (size_t)element->ranks + 1, sizeof *element->who))
        return -1;
    element->who[element->ranks++] = (struct measured_rank){rank, iterations, load};
    return 0;
}

int measured_add(struct measured *measured, struct measured_told *told, const struct shape_gauge_element *e, int pc,
                 int size, int rank)
{
    struct measured_sums now = {
        .pc = e->pc, .size = e->size, .life = e->life, .iterations = e->iterations, .loop = e->loop, .mpi = e->mpi};
    struct measured_sums before;
    struct spread mtct;
    if (replace(told, &now, &before))
        return -1;
    int64_t iterations = now.iterations - before.iterations;
    if (now.size != size && !iterations)
        return 0;
    struct measured_element *element = place_of(measured, pc, now.size);
    double loop = now.loop - before.loop, mpi = now.mpi - before.mpi;
    if (!element || add_rank(element, rank, iterations, loop > mpi ? loop - mpi : 0))
        return -1;
    spread_from_message(&mtct, e->mtct);
    spread_merge(&element->mtct, &mtct);
    element->all_iterations += iterations;
    if (iterations > element->sums.iterations)
        element->sums.iterations = iterations;
    element->sums.loop += loop;
    element->sums.mpi += mpi;
    return 0;
}

static int compare_ranks(const void *one, const void *other)
{
    const struct measured_rank *a = one, *b = other;
    return a->rank - b->rank;
}

int measured_join(struct measured *measured, size_t first, size_t second)
{
    struct measured_element *into = &measured->elements[first], *from = &measured->elements[second];
    size_t ranks = (size_t)into->ranks + (size_t)from->ranks;
    if (array_reserve(&into->who, &into->who_room, ranks, sizeof *into->who))
        return -1;
    memcpy(into->who + into->ranks, from->who, (size_t)from->ranks * sizeof *from->who);
    qsort(into->who, ranks, sizeof *into->who, compare_ranks);
    into->ranks = (int)ranks;
    into->all_iterations += from->all_iterations;
    if (from->sums.iterations > into->sums.iterations)
        into->sums.iterations = from->sums.iterations;
    into->sums.loop += from->sums.loop;
    into->sums.mpi += from->sums.mpi;
    spread_merge(&into->mtct, &from->mtct);
    free(from->who);
    *from = measured->elements[--measured->count];
    return 0;
}

static int measured_compare(const void *one, const void *other)
{
    const struct measured_element *a = one, *b = other;
    return a->sums.pc != b->sums.pc ? a->sums.pc - b->sums.pc : a->sums.size - b->sums.size;
}

void measured_sort(struct measured *measured)
{
    if (measured->count)
        qsort(measured->elements, measured->count, sizeof *measured->elements, measured_compare);
}

double measured_imbalance(const struct measured_element *element)
{
    double most = 0, sum = 0;
    for (int i = 0; i < element->ranks; i++) {
        most = element->who[i].load > most ? element->who[i].load : most;
        sum += element->who[i].load;
    }
    return sum > 0 ? most * element->ranks / sum : 0;
}

/* A pair for each rank, as with thousands of them names would be most of it. */
static void add_loads(cJSON *json, const struct measured_element *element)
{
    double imbalance = measured_imbalance(element);
    cJSON *loads = cJSON_AddArrayToObject(json, "loads");
    for (int i = 0; i < element->ranks; i++)
        cJSON_AddItemToArray(loads,
                             cJSON_CreateDoubleArray((const double[]){element->who[i].rank, element->who[i].load}, 2));
    if (imbalance > 0)
        cJSON_AddNumberToObject(json, "imbalance", imbalance);
}

void measured_add_sums(cJSON *json, const struct measured_element *element, int size)
{
    cJSON_AddNumberToObject(json, "iterations", (double)element->sums.iterations);
    if (element->sums.loop > 0)
        cJSON_AddNumberToObject(json, "rate", (double)element->all_iterations / element->sums.loop);
    cJSON_AddNumberToObject(json, "loop_seconds", element->sums.loop);
    cJSON_AddNumberToObject(json, "mpi_seconds", element->sums.mpi);
    cJSON_AddItemToObject(json, "mtct", spread_json(&element->mtct));
    if (element->sums.size == size)
        add_loads(json, element);
}

static cJSON *element_json(const struct measured_element *element, int size, const char *name)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "pc", element->sums.pc);
    cJSON_AddStringToObject(json, "name", name);
    cJSON_AddNumberToObject(json, "size", element->sums.size);
    cJSON_AddNumberToObject(json, "ranks", element->ranks);
    measured_add_sums(json, element, size);
    return json;
}

cJSON *measured_json(struct measured *measured, int size, const char *(*name)(const void *context, int pc),
                     const void *context)
{
    cJSON *list = cJSON_CreateArray();
    measured_sort(measured);
    for (size_t i = 0; i < measured->count; i++)
        cJSON_AddItemToArray(list,
                             element_json(&measured->elements[i], size, name(context, measured->elements[i].sums.pc)));
    return list;
}

/* ---- Asking for it ------------------------------------------------------------------------------- */

#define ANSWER_TIMEOUT 1    /* seconds */
#define KEEP_MOST      3600 /* seconds */

/* ---- Who has asked before ------------------------------------------------------------------------ */

static void forget_process(struct measured_process *told)
{
    measured_forget(&told->elements);
    measured_forget(&told->loops);
}

void measure_asker_forget(struct measure_asker *asker)
{
    for (size_t p = 0; p < asker->count; p++)
        forget_process(&asker->told[p]);
    free(asker->told);
    *asker = (struct measure_asker){0};
}

static void forget_askers(struct coordinator *c)
{
    for (int i = 0; i < MEASURE_ASKERS; i++)
        measure_asker_forget(&c->measure.askers[i]);
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
    measure_asker_forget(oldest);
    snprintf(oldest->name, sizeof oldest->name, "%s", name);
    return oldest;
}

int measure_make_room(const struct coordinator *c, struct measure_asker *asker)
{
    size_t count = (size_t)c->processes.count;
    if (array_reserve(&asker->told, &asker->room, count, sizeof *asker->told))
        return -1;
    for (; asker->count < count; asker->count++)
        asker->told[asker->count] = (struct measured_process){0};
    return 0;
}

/* ---- The answer ---------------------------------------------------------------------------------- */

const struct report_gauge *measure_answer_of(const struct coordinator *c, int process)
{
    const struct process *p = process_at(c, process);
    return p->measure_answered == c->measure.round ? p->measure_answer.is : NULL;
}

static const char *name_of(const void *context, int pc)
{
    return names_element(context, pc);
}

int measure_gather(struct coordinator *c, struct measure_asker *asker, struct measured *all)
{
    int failed = measure_make_room(c, asker);
    for (int r = 0; !failed && r < c->processes.size; r++) {
        int p = c->processes.world[r];
        const struct report_gauge *report = measure_answer_of(c, p);
        for (int i = 0; report && !failed && i < report->elements.count; i++)
            failed = measured_add(all, &asker->told[p].elements, &report->elements.items[i],
                                  report->elements.items[i].pc, c->processes.size, r);
    }
    return failed;
}

/* NULL: out of memory. */
static cJSON *elements_json(struct coordinator *c, struct measure_asker *asker)
{
    struct measured all = {0};
    int failed = measure_gather(c, asker, &all);
    cJSON *json = failed ? NULL : measured_json(&all, c->processes.size, name_of, c), *one;
    cJSON_ArrayForEach(one, json) names_add_scaling(one, c, json_int(one, "pc", -1));
    measured_free(&all);
    return json;
}

static void add_ranks(const struct coordinator *c, cJSON *json)
{
    cJSON *memory = cJSON_AddArrayToObject(json, "memory"), *missing = cJSON_AddArrayToObject(json, "missing");
    for (int r = 0; r < c->processes.size; r++) {
        int p = c->processes.world[r];
        const struct report_gauge *report = measure_answer_of(c, p);
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
    cJSON *elements = elements_json(c, asker), *loops = elements ? loops_json(c, asker) : NULL;
    if (!loops) {
        cJSON_Delete(elements);
        return NULL;
    }
    asker->asked = now;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "version", 1);
    cJSON_AddNumberToObject(json, "began", c->measure.began);
    cJSON_AddNumberToObject(json, "since", since);
    cJSON_AddNumberToObject(json, "time", now);
    cJSON_AddNumberToObject(json, "size", c->processes.size);
    cJSON_AddItemToObject(json, "elements", elements);
    cJSON_AddItemToObject(json, "loops", loops);
    if (c->measure.loops.counts)
        cJSON_AddNumberToObject(json, "loop", c->measure.loops.counts);
    cJSON_AddItemToObject(json, "progress", progress_json(c));
    cJSON_AddItemToObject(json, "adaptations", costs_mean_json(c->adaptations.history, ADAPTATION_HISTORY));
    add_ranks(c, json);
    return json;
}

/* NULL: it has said nothing of it. */
static cJSON *graph_json(const struct coordinator *c, int rank)
{
    const struct report_gauge *report =
        rank < c->processes.size ? measure_answer_of(c, c->processes.world[rank]) : NULL;
    cJSON *graph = report ? cJSON_Duplicate(cJSON_GetObjectItem(report->said, "graph"), true) : NULL;
    if (graph)
        cJSON_AddNumberToObject(graph, "rank", rank);
    return graph;
}

static cJSON *reply_to(struct coordinator *c, const char *asker, int rank)
{
    cJSON *measure = measure_json(c, asker), *graph = measure && rank >= 0 ? graph_json(c, rank) : NULL;
    if (!measure)
        return reply_refusal("failed", "out of memory");
    if (graph)
        cJSON_AddItemToObject(measure, "graph", graph);
    cJSON *reply = cJSON_CreateObject();
    cJSON_AddBoolToObject(reply, "ok", 1);
    cJSON_AddItemToObject(reply, "measure", measure);
    return reply;
}

static void forget_gone(const struct coordinator *c, struct measure_asker *asker)
{
    for (size_t p = 0; p < asker->count; p++)
        if (process_at(c, (int)p)->state == PROCESS_GONE)
            forget_process(&asker->told[p]);
}

/* What is kept of processes only as long as it is of use. */
static void forget_processes(struct coordinator *c)
{
    for (int p = 0; p < c->processes.count; p++) {
        message_free(&process_at(c, p)->measure_answer);
    }
    for (struct measure_asker *a = c->measure.askers; a < c->measure.askers + MEASURE_ASKERS; a++)
        forget_gone(c, a);
    forget_gone(c, &c->measure.loops.told);
}

/* ---- In all ------------------------------------------------------------------------------------------------ */

#define ALL_ASKER " all" /* no name that a request can have: names of askers are lines of text */

static int write_all(const char *path, const cJSON *measure)
{
    char *text = measure ? cJSON_Print(measure) : NULL;
    FILE *file = text ? fopen(path, "w") : NULL;
    bool failed = !file || fputs(text, file) < 0 || fputc('\n', file) < 0;
    failed |= file && fclose(file);
    if (failed)
        say_line("cannot write what was measured to '%s': %s", path, strerror(errno));
    cJSON_free(text);
    return failed ? -1 : 0;
}

/* By epopctl, beside this library. */
static void show_all(const cJSON *measure)
{
    char path[] = P_tmpdir "/epop-measure-XXXXXX", helper[PATH_MAX], tool[PATH_MAX + 32];
    int file = mkstemp(path);
    pid_t pid;
    if (file < 0 || helper_find("backtrace", helper, sizeof helper)) {
        say_line("cannot show what was measured");
        return;
    }
    close(file);
    write_all(path, measure);
    snprintf(tool, sizeof tool, "%.*s/../../bin/epopctl", (int)(strrchr(helper, '/') - helper), helper);
    char *const argv[] = {tool, "measure", "--from", path, NULL};
    const struct spawn what = {.argv = argv, .in = SPAWN_NOTHING, .out = STDERR_FILENO, .err = STDERR_FILENO};
    if (!spawn_program(&what, &pid))
        waitpid(pid, NULL, 0);
    unlink(path);
}

static void write_final(struct coordinator *c)
{
    cJSON *measure = measure_json(c, ALL_ASKER), *graph = measure ? graph_json(c, 0) : NULL;
    if (graph)
        cJSON_AddItemToObject(measure, "graph", graph);
    if (measure) {
        cJSON_AddStringToObject(measure, "program", c->path);
        cJSON_AddStringToObject(measure, "job", c->job);
    }
    if (!strcmp(c->config.measure_to, "-"))
        show_all(measure);
    else
        c->measure.unwritten = write_all(c->config.measure_to, measure) != 0;
    cJSON_Delete(measure);
    c->measure.final = FINAL_DONE;
}

/* All have answered, or the time is over. */
static void measure_finish(struct coordinator *c)
{
    c->measure.open = false;
    timers_cancel(&c->timers, &c->measure.limit);
    loops_look(c);
    c->measure.looked(c);
    for (int i = 0; i < c->measure.waiting_count; i++)
        reply_send(c, &c->measure.waiting[i].handle,
                   reply_to(c, c->measure.waiting[i].asker, c->measure.waiting[i].graph));
    c->measure.waiting_count = 0;
    if (c->measure.final == FINAL_ASKED)
        write_final(c);
    forget_processes(c);
}

/* One that is not attached yet is waited for like the others. */
static void measure_check(struct coordinator *c)
{
    int size = c->processes.size;
    for (int i = 0; i < size; i++) {
        int rank = (c->measure.awaited + i) % size;
        if (!measure_answer_of(c, c->processes.world[rank])) {
            c->measure.awaited = rank;
            return;
        }
    }
    measure_finish(c);
}

/* Answers with what has come by now. */
static void measure_give_up(struct coordinator *c)
{
    if (c->measure.open)
        measure_finish(c);
}

static void measure_timeout(void *context)
{
    measure_give_up(context);
}

/* ---- The question -------------------------------------------------------------------------------- */

/* Once in each round; when nothing is open, for an answer that nobody waits for, so that it measures. */
static bool is_to_ask(const struct coordinator *c, int process, int round)
{
    const struct process *p = process_at(c, process);
    return p->attached && !(round && p->measure_asked == round);
}

static void measure_ask(struct coordinator *c, const int *processes, int count)
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
    measure_ask(c, c->processes.world, c->processes.size);
}

/* Of a rank whose answer may be there already: what it says last counts. */
static void ask_for_graph(struct coordinator *c, int rank)
{
    if (rank < 0 || rank >= c->processes.size || !process_of_rank(c, rank)->attached)
        return;
    cJSON *message = json_message(ORDER(gauge));
    cJSON_AddNumberToObject(message, "round", c->measure.round);
    cJSON_AddTrueToObject(message, "graph");
    process_of_rank(c, rank)->measure_asked = c->measure.round;
    process_of_rank(c, rank)->measure_answered = 0;
    processes_send(c, c->processes.world[rank], message);
}

static void measure_begin(struct coordinator *c, int graph)
{
    if (c->measure.open) {
        ask_for_graph(c, graph);
        return;
    }
    c->measure.open = true;
    c->measure.round++;
    timers_set(&c->timers, &c->measure.limit, ANSWER_TIMEOUT);
    ask_for_graph(c, graph);
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
    measure_check(c);
}

/* One that was waited for may have left. */
static void measure_follow(struct coordinator *c)
{
    if (c->measure.on)
        ask_world(c);
    if (c->measure.open)
        measure_check(c);
}

void measure_attached(struct coordinator *c, int process)
{
    if (c->measure.on && process_at(c, process)->rank >= 0)
        measure_ask(c, &process, 1);
}

/* ---- On and off ---------------------------------------------------------------------------------- */

static void switch_off(void *context)
{
    struct coordinator *c = context;
    if (c->config.measure_to)
        return;
    c->measure.on = false;
    c->measure.loops.counts = 0;
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
        measure_asker_forget(&c->measure.loops.told);
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
    c->measure.waiting[i].graph = request->graph;
    keep_on(c, request->keep);
    measure_begin(c, request->graph);
}

void measure_look(struct coordinator *c, double keep)
{
    keep_on(c, keep);
    measure_begin(c, -1);
}

static void measure_abandoned(struct coordinator *c, const void *handle)
{
    for (int i = 0; i < c->measure.waiting_count; i++)
        if (c->measure.waiting[i].handle == handle) {
            reply_send(c, &c->measure.waiting[i].handle, reply_refusal("failed", "the requester has gone"));
            c->measure.waiting[i] = c->measure.waiting[--c->measure.waiting_count];
            return;
        }
}

static void measure_init(struct coordinator *c)
{
    timer_init(&c->measure.limit, measure_timeout, c, NULL);
    timer_init(&c->measure.idle, switch_off, c, NULL);
    if (!c->config.measure_to)
        return;
    c->measure.on = true;
    c->measure.began = wall_seconds();
}

/* ---- When the program has ended ---------------------------------------------------------------------------- */

/* The end waits for it. */
static bool measure_advance(struct coordinator *c)
{
    if (!c->config.measure_to || !*c->config.measure_to || c->measure.final == FINAL_DONE || !processes_all_ended(c))
        return true;
    if (c->measure.final == FINAL_NOT_YET && !c->measure.open) {
        c->measure.final = FINAL_ASKED;
        measure_begin(c, 0);
    }
    return false;
}

static void measure_destroy(struct coordinator *c)
{
    forget_askers(c);
    measure_asker_forget(&c->measure.loops.told);
    loops_forget(&c->measure.loops);
}

static void measure_end(struct coordinator *c, const char *reason)
{
    (void)reason;
    measure_give_up(c);
}

const struct part measure_part = {.init = measure_init,
                                  .advance = measure_advance,
                                  .new_world = measure_follow,
                                  .abandoned = measure_abandoned,
                                  .end = measure_end,
                                  .destroy = measure_destroy};
