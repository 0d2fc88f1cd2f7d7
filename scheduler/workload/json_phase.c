/* Phases and their speedup: see json_phase.h. */
#include "scheduler/workload/json_phase.h"

#include <stdlib.h>
#include <string.h>

#include "scheduler/workload/fill.h"
#include "scheduler/workload/json_range.h"

#define MOST_NODES      1000000
#define MOST_SECONDS    1e12
#define MOST_ITERATIONS 1e15
#define LEAST           1e-12

/* ---- Speedup ------------------------------------------------------------------------------- */

static const char *const models[] = {[SPEEDUP_LINEAR] = "linear",
                                     [SPEEDUP_AMDAHL] = "amdahl",
                                     [SPEEDUP_DOWNEY] = "downey",
                                     [SPEEDUP_TABLE] = "table",
                                     NULL};

static int read_point(const struct place *place, int above, struct speedup_point *point, struct error *error)
{
    static const char *const keys[] = {"nodes", "speedup", "mtct", NULL};
    *point = (struct speedup_point){.mtct = -1};
    if (place_object(place, keys, error) ||
        place_int(place, "nodes", true, above + 1, MOST_NODES, &point->nodes, error) ||
        place_number(place, "speedup", true, LEAST, 1e9, &point->speedup, error) ||
        place_number(place, "mtct", false, 0, 1e9, &point->mtct, error))
        return -1;
    return 0;
}

static int read_points(const struct place *in, struct speedup *speedup, struct error *error)
{
    struct place place = place_in(in, "points");
    if (place_array(&place, error))
        return -1;
    speedup->points = calloc((size_t)cJSON_GetArraySize(place.item), sizeof *speedup->points);
    if (!speedup->points)
        return error_memory(error);
    for (const cJSON *item = place.item->child; item; item = item->next, speedup->count++) {
        struct place at = {.in = &place, .index = speedup->count, .item = item};
        int above = speedup->count > 0 ? speedup->points[speedup->count - 1].nodes : 0;
        if (read_point(&at, above, &speedup->points[speedup->count], error))
            return -1;
    }
    return 0;
}

static int read_model(const struct place *place, struct speedup *speedup, struct error *error)
{
    static const char *const linear[] = {"model", NULL}, *const amdahl[] = {"model", "serial", NULL},
                             *const downey[] = {"model", "parallelism", "sigma", NULL},
                             *const table[] = {"model", "points", NULL};
    switch (speedup->model) {
    case SPEEDUP_AMDAHL:
        return place_object(place, amdahl, error) || place_number(place, "serial", true, 0, 1, &speedup->serial, error);
    case SPEEDUP_DOWNEY:
        return place_object(place, downey, error) ||
               place_number(place, "parallelism", true, 1, 1e9, &speedup->parallelism, error) ||
               place_number(place, "sigma", true, 0, 1e9, &speedup->sigma, error);
    case SPEEDUP_TABLE:
        return place_object(place, table, error) || read_points(place, speedup, error);
    default:
        return place_object(place, linear, error);
    }
}

static int read_speedup(const struct place *in, struct speedup *speedup, struct error *error)
{
    struct place place = place_in(in, "speedup");
    int model = SPEEDUP_LINEAR;
    if (!place.item)
        return 0;
    if (!cJSON_IsObject(place.item))
        return place_error(&place, error, "is no object {\"model\": ...}");
    if (place_word(&place, "model", true, models, &model, error))
        return -1;
    speedup->model = (enum speedup_model)model;
    return read_model(&place, speedup, error) ? -1 : 0;
}

/* ---- A phase ------------------------------------------------------------------------------- */

/* One that names none has its job's. */
static int read_range(const struct place *place, struct phase *phase, int nodes, struct error *error)
{
    int min = 0, max = 0;
    struct place sizes = place_in(place, "sizes");
    if (place_int(place, "min", false, 1, nodes, &min, error) || place_int(place, "max", false, 1, nodes, &max, error))
        return -1;
    phase->range = (epop_policy_range_t){.min = min ? min : 1, .max = max ? max : nodes};
    if (phase->range.min > phase->range.max)
        return place_error(place, error, "min is %d, above max, %d", min, max);
    if (sizes.item || min || max)
        return json_range(&sizes, &phase->range, error);
    phase->range = (epop_policy_range_t){0};
    return 0;
}

/* A job without a size for its phase could not run it. */
static int check_range(const struct place *place, const struct phase *phase, const struct work *work,
                       struct error *error)
{
    if (phase->range.max == 0)
        return 0;
    for (int size = work->range.min; size <= work->range.max; size++)
        if (epop_policy_accepts(&work->range, size) && epop_policy_accepts(&phase->range, size))
            return 0;
    return place_error(place, error, "accepts none of its job's sizes (%d to %d)", work->range.min, work->range.max);
}

static int read_phase(const struct place *place, struct phase *phase, const struct work *work, int nodes,
                      struct error *error)
{
    static const char *const keys[] = {"name", "kind", "iterations", "seconds", "speedup", "min", "max", "sizes", NULL};
    static const char *const kinds[] = {"rigid", "elastic", NULL};
    const char *name = "run";
    int elastic = 1;
    phase->iterations = 1;
    if (place_object(place, keys, error) || place_text(place, "name", false, &name, error) ||
        place_word(place, "kind", false, kinds, &elastic, error) ||
        place_number(place, "iterations", false, LEAST, MOST_ITERATIONS, &phase->iterations, error) ||
        place_number(place, "seconds", true, LEAST, MOST_SECONDS, &phase->seconds, error) ||
        read_speedup(place, &phase->speedup, error) || read_range(place, phase, nodes, error))
        return -1;
    phase->elastic = elastic;
    phase->name = strdup(name);
    return phase->name ? check_range(place, phase, work, error) : error_memory(error);
}

int json_phases(const struct place *place, struct work *work, int nodes, double scale, struct error *error)
{
    if (place_array(place, error))
        return -1;
    work->phases = calloc((size_t)cJSON_GetArraySize(place->item), sizeof *work->phases);
    if (!work->phases)
        return error_memory(error);
    for (const cJSON *item = place->item->child; item; item = item->next) {
        struct place at = {.in = place, .index = work->phase_count, .item = item};
        struct phase *phase = &work->phases[work->phase_count++];
        if (read_phase(&at, phase, work, nodes, error))
            return -1;
        phase->iterations *= scale;
    }
    return 0;
}
