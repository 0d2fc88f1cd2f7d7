/* Progress, speeds by size, costs of adaptations, and the time left. */
#include "runtime/coordinator/progress.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "epop_api/sizes.h"
#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/coordinator/part.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/state.h"
#include "runtime/coordinator/survey.h"
#include "runtime/wire/messages.h"

/* ---- Speeds -------------------------------------------------------------------------------------- */

void speeds_destroy(struct speeds *speeds)
{
    free(speeds->seen);
    *speeds = (struct speeds){0};
}

static bool is_before(const struct speed *a, const struct speed *b)
{
    return a->pc < b->pc || (a->pc == b->pc && a->size < b->size);
}

static bool grow(struct speeds *speeds)
{
    int room = speeds->room ? 2 * speeds->room : 8;
    struct speed *grown =
        speeds->count < speeds->room ? speeds->seen : realloc(speeds->seen, (size_t)room * sizeof *grown);
    if (grown && grown != speeds->seen)
        speeds->seen = grown;
    if (grown && speeds->count == speeds->room)
        speeds->room = room;
    return grown;
}

void speeds_add(struct speeds *speeds, const struct speed *more)
{
    int i = 0;
    while (i < speeds->count && is_before(&speeds->seen[i], more))
        i++;
    bool known = i < speeds->count && !is_before(more, &speeds->seen[i]);
    if (!known && !grow(speeds))
        return;
    struct speed *at = &speeds->seen[i];
    if (!known) {
        memmove(at + 1, at, (size_t)(speeds->count++ - i) * sizeof *at);
        *at = (struct speed){.pc = more->pc, .size = more->size};
    }
    at->iterations += more->iterations;
    at->seconds += more->seconds;
}

void speeds_take(struct speeds *speeds, const struct shape_tally *tally)
{
    for (int i = 0; tally && i < tally->elements.count; i++) {
        const struct shape_tally_element *e = &tally->elements.items[i];
        struct speed more = {.pc = e->pc, .size = tally->size, .iterations = e->iterations, .seconds = e->seconds};
        if (more.size > 0 && more.iterations > 0)
            speeds_add(speeds, &more);
    }
}

static double rate(const struct speed *speed)
{
    return speed->seconds > 0 ? (double)speed->iterations / speed->seconds : 0;
}

/* Work per second, that of an iteration on one rank being 1. */
static double work_rate(const struct speed *speed, epop_scaling scaling)
{
    return rate(speed) * scaling_work(scaling, speed->size);
}

static cJSON *speed_json(const struct speed *speed, epop_scaling scaling, double first)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "size", speed->size);
    cJSON_AddNumberToObject(json, "iterations", (double)speed->iterations);
    cJSON_AddNumberToObject(json, "seconds", speed->seconds);
    if (rate(speed) > 0)
        cJSON_AddNumberToObject(json, "rate", rate(speed));
    if (rate(speed) > 0 && first > 0)
        cJSON_AddNumberToObject(json, "speedup", work_rate(speed, scaling) / first);
    return json;
}

cJSON *speeds_json(const struct speeds *speeds, int pc, epop_scaling scaling)
{
    cJSON *list = cJSON_CreateArray();
    double first = 0;
    for (int i = 0; i < speeds->count; i++) {
        const struct speed *speed = &speeds->seen[i];
        if (speed->pc != pc)
            continue;
        if (!cJSON_GetArraySize(list))
            first = work_rate(speed, scaling);
        cJSON_AddItemToArray(list, speed_json(speed, scaling, first));
    }
    return list;
}

/* ---- The time left ------------------------------------------------------------------------------- */

#define PRIOR_ITERATIONS 2.0

static void estimate_begin(struct estimate *e, double now, int64_t iteration, double prior)
{
    e->begun = true;
    e->begin = e->last = now;
    e->begin_iteration = e->iteration = iteration;
    e->prior = prior;
}

static double rate_at(const struct estimate *e, int size, epop_scaling scaling)
{
    return scaling == EPOP_SCALING_WEAK ? estimate_rate(e) : estimate_rate(e) * size / e->size;
}

void estimate_add(struct estimate *e, double now, int64_t iteration, int64_t bound, int size, epop_scaling scaling)
{
    if (!e->begun || bound != e->bound || iteration < e->iteration)
        estimate_begin(e, now, iteration, 0);
    else if (size != e->size)
        estimate_begin(e, now, iteration, rate_at(e, size, scaling));
    if (iteration != e->iteration) {
        e->iteration = iteration;
        e->last = now;
    }
    e->bound = bound;
    e->size = size;
}

void estimate_skip(struct estimate *e, double seconds)
{
    e->begin += seconds;
    e->last += seconds;
}

/* Up to the last iteration that came to its end: one that is under way says nothing yet. */
double estimate_rate(const struct estimate *e)
{
    double done = (double)(e->iteration - e->begin_iteration), time = e->last - e->begin;
    if (e->prior > 0) {
        done += PRIOR_ITERATIONS;
        time += PRIOR_ITERATIONS / e->prior;
    }
    return done > 0 && time > 0 ? done / time : 0;
}

double estimate_left(const struct estimate *e, double now)
{
    double rate = estimate_rate(e);
    if (e->bound <= 0 || rate <= 0)
        return -1;
    double left = (double)(e->bound - e->iteration) / rate - (now - e->last);
    return left > 0 ? left : 0;
}

/* ---- What adaptations cost ----------------------------------------------------------------------- */

static bool costs_is_same(const struct adaptation *a, const struct adaptation *b)
{
    return b->state == ADAPTATION_COMMITTED && a->from == b->from && a->to == b->to;
}

static bool was_before(const struct adaptation *history, int i)
{
    for (int earlier = 0; earlier < i; earlier++)
        if (costs_is_same(&history[i], &history[earlier]))
            return true;
    return false;
}

struct mean {
    int times;
    double seconds, stall, bytes;
};

/* Of all that changed the same sizes as that one; NULL: of all. */
static struct mean mean_of(const struct adaptation *history, int count, const struct adaptation *one)
{
    struct mean mean = {0};
    for (int i = 0; i < count; i++) {
        const struct adaptation *a = &history[i];
        if (a->state != ADAPTATION_COMMITTED || (one && !costs_is_same(one, a)))
            continue;
        mean.times++;
        mean.seconds += (a->committed - a->requested - mean.seconds) / mean.times;
        mean.stall += (a->stall - mean.stall) / mean.times;
        mean.bytes += ((double)a->bytes - mean.bytes) / mean.times;
    }
    if (mean.seconds < 0) /* the clock was set back */
        mean.seconds = 0;
    return mean;
}

static cJSON *cost_json(const struct adaptation *history, int count, const struct adaptation *one)
{
    const struct mean mean = mean_of(history, count, one);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "from", one->from);
    cJSON_AddNumberToObject(json, "to", one->to);
    cJSON_AddNumberToObject(json, "times", mean.times);
    cJSON_AddNumberToObject(json, "seconds", mean.seconds);
    cJSON_AddNumberToObject(json, "stall", mean.stall);
    cJSON_AddNumberToObject(json, "bytes", mean.bytes);
    return json;
}

cJSON *costs_json(const struct adaptation *history, int count)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < count; i++)
        if (history[i].state == ADAPTATION_COMMITTED && !was_before(history, i))
            cJSON_AddItemToArray(list, cost_json(history, count, &history[i]));
    return list;
}

cJSON *costs_mean_json(const struct adaptation *history, int count)
{
    const struct mean mean = mean_of(history, count, NULL);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "count", mean.times);
    if (!mean.times)
        return json;
    cJSON_AddNumberToObject(json, "mean_seconds", mean.seconds);
    cJSON_AddNumberToObject(json, "mean_stall", mean.stall);
    cJSON_AddNumberToObject(json, "mean_bytes", mean.bytes);
    return json;
}

/* ---- How far the program is ---------------------------------------------------------------------- */

#define SHOW_PERIOD    0.5 /* seconds */
#define LEAST_MPI_TIME 0.2

/* Between two looks that are not too close, at the same rank 0. */
void progress_mpi(struct coordinator *c, double seconds, double now)
{
    double time = now - c->progress.mpi_clock, spent = seconds - c->progress.mpi_seconds;
    if (seconds < 0 || (time >= 0 && time < LEAST_MPI_TIME))
        return;
    if (c->progress.mpi_clock > 0 && time > 0 && spent >= 0 && spent <= time)
        c->progress.mpi_share = spent / time;
    c->progress.mpi_seconds = seconds;
    c->progress.mpi_clock = now;
}

void progress_came(struct coordinator *c, const struct position *at, int64_t bound, double age)
{
    double time = monotonic_seconds() - age;
    if (time < c->progress.time)
        return;
    c->progress.last.iteration = at->iteration;
    c->progress.last.bound = bound;
    c->progress.at = (struct position){.pc = at->pc, .visit = at->visit};
    c->progress.known = true;
    c->progress.time = time;
    estimate_add(&c->progress.estimate, c->progress.time, c->progress.last.iteration, c->progress.last.bound,
                 c->processes.size, epop_scaling_at(c->config.program, at->pc));
}

double progress_left(const struct coordinator *c)
{
    return c->pause.on ? -1 : estimate_left(&c->progress.estimate, monotonic_seconds());
}

cJSON *progress_json(const struct coordinator *c)
{
    double rate = estimate_rate(&c->progress.estimate), left = progress_left(c);
    if (!c->progress.known)
        return cJSON_CreateNull();
    cJSON *json = cJSON_CreateObject();
    if (c->progress.at.pc >= 0)
        cJSON_AddNumberToObject(json, "pc", c->progress.at.pc);
    cJSON_AddNumberToObject(json, "iteration", (double)c->progress.last.iteration);
    cJSON_AddNumberToObject(json, "bound", (double)c->progress.last.bound);
    cJSON_AddNumberToObject(json, "age", monotonic_seconds() - c->progress.time);
    if (rate > 0)
        cJSON_AddNumberToObject(json, "rate", rate);
    if (left >= 0)
        cJSON_AddNumberToObject(json, "left", left);
    return json;
}

/* ---- For the user at the terminal ---------------------------------------------------------------- */

/* In a pause nobody would answer. */
static void progress_show(void *context)
{
    struct coordinator *c = context;
    timers_set(&c->timers, &c->progress.show, SHOW_PERIOD);
    if (c->progress.known && c->progress.last.bound > 0) {
        const struct bar_state state = {
            .program = c->config.program->name,
            .size = c->processes.size,
            .iteration = c->progress.last.iteration,
            .bound = c->progress.last.bound,
            .left = estimate_left(&c->progress.estimate, monotonic_seconds()),
            .running = job_state(c) == JOB_IS_RUNNING,
            .state = job_state_name(job_state(c)),
        };
        c->config.ops->show(c->config.context, &state);
    }
    if (!c->pause.on && process_of_rank(c, 0)->attached)
        processes_send(c, c->processes.world[0], json_message(ORDER(progress)));
}

void progress_stood(struct coordinator *c, double seconds)
{
    estimate_skip(&c->progress.estimate, seconds);
}

/* It shows the user by itself from then on, if there is one. */
static void progress_init(struct coordinator *c)
{
    c->progress.mpi_share = -1;
    timer_init(&c->progress.show, progress_show, c, NULL);
    if (c->config.ops->show)
        timers_set(&c->timers, &c->progress.show, 0);
}

static void progress_destroy(struct coordinator *c)
{
    speeds_destroy(&c->speeds);
}

const struct part progress_part = {.init = progress_init, .destroy = progress_destroy};
