/* What is measured of jobs: read from the answers to `measure` and `status` (schema/control.schema.json), and kept. */
#include "scheduler/core/sample.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/json.h"

/* ---- What is kept ------------------------------------------------------------------------------- */

/* Beside what policies see of it. */
struct sample_past {
    double weight; /* iterations behind the mean, as they have faded */
    double stay;   /* seconds of iterations in this stay */
    double began;  /* seconds of an iteration at its beginning; 0: not known yet */
    double before; /* seconds of an iteration in an earlier job; 0: none, or it has been compared */
    bool over;     /* the job has left this size */
};

static const double beginning = 5; /* seconds */
static const double least = 3;     /* iterations */

void samples_at(struct samples *samples, int size)
{
    for (int i = 0; i < samples->count && size != samples->size; i++)
        samples->pasts[i].over = true;
    samples->size = size;
}

void samples_balanced(struct samples *samples)
{
    for (int i = 0; i < samples->count; i++)
        samples->pasts[i].over |= samples->items[i].nodes == samples->size;
}

int samples_reserve(struct samples *samples)
{
    size_t wanted = (size_t)samples->count + 1;
    return array_reserve(&samples->items, &samples->room, wanted, sizeof *samples->items) ||
                   array_reserve(&samples->pasts, &samples->past_room, wanted, sizeof *samples->pasts)
               ? -1
               : 0;
}

/* Its place; a new one has no iterations. */
static int place_of(struct samples *samples, const epop_policy_sample_t *like)
{
    int i = 0;
    while (i < samples->count && (samples->items[i].phase != like->phase || samples->items[i].nodes != like->nodes))
        i++;
    if (i == samples->count) {
        samples->items[samples->count++] = (epop_policy_sample_t){.phase = like->phase,
                                                                  .nodes = like->nodes,
                                                                  .mtct = -1,
                                                                  .trend = -1,
                                                                  .variance = -1,
                                                                  .lo = -1,
                                                                  .hi = -1,
                                                                  .imbalance = -1};
        samples->pasts[i] = (struct sample_past){0};
    }
    return i;
}

static void begin_stay(epop_policy_sample_t *sample, struct sample_past *past)
{
    sample->iterations = 0;
    *past = (struct sample_past){.before = past->before};
}

/* A mean that does not move where nothing does. */
static void add_figures(epop_policy_sample_t *sample, struct sample_past *past, const epop_policy_sample_t *more)
{
    double seconds = more->iterations * more->seconds, most = 2 * SAMPLE_HALF;
    double added = seconds > most ? most / more->seconds : more->iterations;
    past->weight = past->weight * exp2(-seconds / SAMPLE_HALF) + added;
    past->stay += seconds;
    if (!(past->weight > added))
        sample->seconds = more->seconds;
    else
        sample->seconds += (more->seconds - sample->seconds) * added / past->weight;
    sample->iterations += more->iterations;
    sample->imbalance = more->imbalance;
    if (more->mtct < 0)
        return;
    sample->mtct = more->mtct;
    sample->trend = more->trend;
    sample->variance = more->variance;
    sample->lo = more->lo;
    sample->hi = more->hi;
}

/* The beginning of the stay is known now: how many times as long as in an earlier job. */
static double end_beginning(const epop_policy_sample_t *sample, struct sample_past *past)
{
    double ratio = past->before > 0 ? sample->seconds / past->before : 1;
    past->began = sample->seconds;
    past->before = 0;
    return ratio;
}

/* Times as long as at the beginning of the stay; 0: about as long, or nothing to compare with yet. */
static double change_of(const epop_policy_sample_t *sample, struct sample_past *past)
{
    double ratio = past->began > 0 ? sample->seconds / past->began : 1;
    if (!(past->began > 0) && past->stay >= beginning && sample->iterations >= least)
        ratio = end_beginning(sample, past);
    return ratio > SAMPLE_CHANGE || ratio < 1 / SAMPLE_CHANGE ? ratio : 0;
}

/* All of that element, or loop, but for this one. */
static void forget_others(struct samples *samples, int keep)
{
    int kept = 0, phase = samples->items[keep].phase;
    for (int i = 0; i < samples->count; i++) {
        if (i != keep && samples->items[i].phase == phase)
            continue;
        samples->items[kept] = samples->items[i];
        samples->pasts[kept++] = samples->pasts[i];
    }
    samples->count = kept;
}

double samples_add(struct samples *samples, const epop_policy_sample_t *more)
{
    int at = place_of(samples, more);
    epop_policy_sample_t *sample = &samples->items[at];
    struct sample_past *past = &samples->pasts[at];
    bool present = more->nodes == samples->size;
    if (past->over && present)
        begin_stay(sample, past);
    add_figures(sample, past, more);
    double change = present ? change_of(sample, past) : 0;
    if (change > 0) {
        begin_stay(sample, past);
        add_figures(sample, past, more);
        forget_others(samples, at);
    }
    return change;
}

void samples_remember(struct samples *samples, const epop_policy_sample_t *earlier)
{
    int at = place_of(samples, earlier);
    samples->items[at] = *earlier;
    samples->pasts[at] = (struct sample_past){.before = earlier->seconds, .over = true};
}

int samples_main_phase(const struct samples *samples)
{
    int found = -1;
    double most = 0;
    for (int i = 0; i < samples->count; i++) {
        double seconds = 0;
        for (int j = 0; j < samples->count; j++)
            if (samples->items[j].phase == samples->items[i].phase)
                seconds += samples->items[j].iterations * samples->items[j].seconds;
        if (seconds > most)
            most = seconds, found = samples->items[i].phase;
    }
    return found;
}

void samples_free(struct samples *samples)
{
    free(samples->items);
    free(samples->pasts);
    *samples = (struct samples){0};
}

/* ---- What jobs tell ----------------------------------------------------------------------------- */

typedef void each_sample(void *context, const epop_policy_sample_t *sample);

/* Where nothing was computed all have computed for as long. */
static double imbalance_of(const cJSON *from)
{
    return json_number(from, "imbalance", cJSON_HasObjectItem(from, "loads") ? 1 : -1);
}

static double seconds_of(const cJSON *from)
{
    double rate = json_number(from, "rate", 0);
    return rate > 0 ? 1 / rate : 0;
}

/* In iterations of one rank: with weak scaling that of all is the work of as many. */
static double work_of(const cJSON *scaled, int ranks)
{
    return cJSON_HasObjectItem(scaled, "scaling") ? ranks : 1;
}

/* Nothing is told of what has no iterations since. `scaled` says how it scales. */
static void give_sample(int phase, const cJSON *from, const cJSON *scaled, each_sample *each, void *context)
{
    double work = work_of(scaled, json_int(from, "size", 0)), seconds = seconds_of(from) / work;
    const cJSON *mtct = cJSON_GetObjectItemCaseSensitive(from, "mtct");
    epop_policy_sample_t sample = {.phase = phase,
                                   .nodes = json_int(from, "size", 0),
                                   .iterations = json_number(from, "iterations", 0) * work,
                                   .seconds = seconds,
                                   .mtct = json_number(mtct, "mean", -1),
                                   .trend = json_number(mtct, "trend", -1),
                                   .variance = json_number(mtct, "variance", -1),
                                   .lo = json_number(mtct, "min", -1),
                                   .hi = json_number(mtct, "max", -1),
                                   .imbalance = imbalance_of(from)};
    if (phase >= 0 && sample.nodes > 0 && sample.iterations > 0 && isfinite(seconds) && seconds > 0)
        each(context, &sample);
}

void samples_read(const cJSON *measure, each_sample *each, void *context)
{
    const cJSON *one;
    cJSON_ArrayForEach(one, cJSON_GetObjectItemCaseSensitive(measure, "elements"))
    {
        give_sample(json_int(one, "pc", -1), one, one, each, context);
    }
    cJSON_ArrayForEach(one, cJSON_GetObjectItemCaseSensitive(measure, "loops"))
    {
        int number = json_int(one, "number", 0);
        if (number > 0)
            give_sample(EPOP_POLICY_LOOPS + number, one, one, each, context);
    }
}

void samples_read_speeds(const cJSON *status, each_sample *each, void *context)
{
    const cJSON *element, *speed;
    cJSON_ArrayForEach(element, cJSON_GetObjectItemCaseSensitive(status, "elements"))
    {
        cJSON_ArrayForEach(speed, cJSON_GetObjectItemCaseSensitive(element, "speeds"))
        {
            give_sample(json_int(element, "pc", -1), speed, element, each, context);
        }
    }
}

static bool is_type(const cJSON *element, const char *name)
{
    const char *type = json_text(element, "type");
    return type && !strcmp(type, name);
}

/* A rigid element that is the last one, behind others. */
static bool is_finalizer(const cJSON *element, const cJSON *next)
{
    return is_type(next, "END") && is_type(element, "RP") && json_int(element, "pc", 0) > 0;
}

bool left_read(double *left, const cJSON *status)
{
    const cJSON *element = cJSON_GetObjectItemCaseSensitive(status, "element");
    const cJSON *next = cJSON_GetObjectItemCaseSensitive(status, "next");
    *left = json_number(next, "seconds", -1);
    return *left >= 0 || (cJSON_IsObject(next) && !is_finalizer(element, next));
}

struct hints hints_read(const cJSON *status)
{
    const cJSON *hints = cJSON_GetObjectItemCaseSensitive(status, "hints");
    return (struct hints){.least = json_int(hints, "min", 1),
                          .most = json_int(hints, "max", INT_MAX),
                          .preferred = json_int(hints, "preferred", 0)};
}

bool hints_same(const struct hints *one, const struct hints *other)
{
    return one->least == other->least && one->most == other->most && one->preferred == other->preferred;
}

bool hints_text(const struct hints *hints, char text[HINTS_TEXT])
{
    char most[32] = " or more", preferred[32] = "";
    if (hints->most < INT_MAX)
        snprintf(most, sizeof most, " to %d", hints->most);
    if (hints->preferred)
        snprintf(preferred, sizeof preferred, ", rather %d", hints->preferred);
    snprintf(text, HINTS_TEXT, "its process sets ask for %d%s ranks%s", hints->least, most, preferred);
    return hints->least > 1 || hints->most < INT_MAX || hints->preferred;
}

bool weak_read(bool *weak, const cJSON *status)
{
    const cJSON *element = cJSON_GetObjectItemCaseSensitive(status, "element"), *each;
    cJSON_ArrayForEach(each, cJSON_GetObjectItemCaseSensitive(status, "elements"))
    {
        const char *scaling = json_text(each, "scaling");
        if (json_int(each, "pc", -1) != json_int(element, "pc", -2) || (!is_type(each, "EP") && !is_type(each, "RP")))
            continue;
        *weak = scaling && !strcmp(scaling, "weak");
        return true;
    }
    return false;
}
