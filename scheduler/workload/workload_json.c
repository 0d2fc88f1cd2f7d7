/* Workloads in JSON, from the smallest part to the document: sizes, phases, jobs, jobs that are drawn, the machine. */
#include "scheduler/workload/workload_json.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/batch.h"
#include "scheduler/workload/json_place.h"
#include "scheduler/workload/workload.h"

#define MOST_NODES      1000000
#define MOST_PRIORITY   1000000
#define MOST_JOBS       1000000
#define MOST_SECONDS    1e12
#define MOST_BYTES      1e18
#define MOST_ITERATIONS 1e15
#define MOST_RATE       1e18
#define MOST_MOVES      1e6 /* of a phase: each is an event */
#define LEAST           1e-12

/* ---- Node counts -------------------------------------------------------------------------------- */

struct sizes {
    int *sizes;
    int count;
    size_t room;
};

/* Those outside of the bounds, and those that are there, are not taken. */
static int add_size(struct sizes *sizes, const epop_policy_range_t *range, int size)
{
    if (size < range->min || size > range->max || (sizes->count > 0 && sizes->sizes[sizes->count - 1] >= size))
        return 0;
    if (array_reserve(&sizes->sizes, &sizes->room, (size_t)sizes->count + 1, sizeof *sizes->sizes))
        return -1;
    sizes->sizes[sizes->count++] = size;
    return 0;
}

static int read_list(const struct json_place *place, const epop_policy_range_t *range, struct sizes *sizes,
                     struct error *error)
{
    int last = 0, index = 0;
    if (json_place_array(place, error))
        return -1;
    for (const cJSON *item = place->item->child; item; item = item->next, index++) {
        struct json_place at = {.in = place, .index = index, .item = item};
        double size = cJSON_IsNumber(item) ? item->valuedouble : 0;
        if (!(size > last && size <= MOST_NODES) || size != (int)size)
            return json_place_error(&at, error, "must be a whole number above %d: sizes ascend", last);
        last = (int)size;
        if (add_size(sizes, range, last))
            return error_memory(error);
    }
    return 0;
}

/* Nodes of so many cores for 1, 4, 9, ... processes. */
static int expand_squares(const struct json_place *place, const epop_policy_range_t *range, struct sizes *sizes,
                          struct error *error)
{
    static const char *const keys[] = {"cores", NULL};
    int cores = 1;
    if (json_place_object(place, keys, error) || json_place_int(place, "cores", true, 1, MOST_NODES, &cores, error))
        return -1;
    for (long long root = 1, nodes = 1; nodes <= range->max; root++, nodes = (root * root + cores - 1) / cores)
        if (add_size(sizes, range, (int)nodes))
            return error_memory(error);
    return 0;
}

static int expand_series(const struct json_place *rule, const char *key, bool powers, const epop_policy_range_t *range,
                         struct sizes *sizes, struct error *error)
{
    int step = 1;
    if (json_place_int(rule, key, true, powers ? 2 : 1, MOST_NODES, &step, error))
        return -1;
    for (long long size = powers ? 1 : step; size <= range->max; size = powers ? size * step : size + step)
        if (add_size(sizes, range, (int)size))
            return error_memory(error);
    return 0;
}

static int expand_rule(const struct json_place *place, const epop_policy_range_t *range, struct sizes *sizes,
                       struct error *error)
{
    static const char *const keys[] = {"square_processes", "powers_of", "multiples_of", NULL};
    if (json_place_object(place, keys, error))
        return -1;
    if (cJSON_GetArraySize(place->item) != 1)
        return json_place_error(place, error, "must have one rule: square_processes, powers_of or multiples_of");
    struct json_place squares = json_place_in(place, keys[0]);
    if (squares.item)
        return expand_squares(&squares, range, sizes, error);
    bool powers = json_place_in(place, keys[1]).item;
    return expand_series(place, powers ? keys[1] : keys[2], powers, range, sizes, error);
}

/* range->min and ->max are bounds, and become the smallest and the largest size that there is. place->item NULL: all
 * sizes between the bounds. range->sizes is the caller's to free. */
static int read_sizes(const struct json_place *place, epop_policy_range_t *range, struct error *error)
{
    struct sizes sizes = {0};
    range->sizes = NULL;
    range->count = 0;
    if (!place->item)
        return 0;
    int failed =
        cJSON_IsArray(place->item) ? read_list(place, range, &sizes, error) : expand_rule(place, range, &sizes, error);
    if (!failed && sizes.count == 0)
        failed = json_place_error(place, error, "has no size from %d to %d", range->min, range->max);
    if (failed) {
        free(sizes.sizes);
        return -1;
    }
    *range = (epop_policy_range_t){sizes.sizes[0], sizes.sizes[sizes.count - 1], sizes.sizes, sizes.count};
    return 0;
}

/* ---- Speedup of a phase ------------------------------------------------------------------------- */

static const char *const models[] = {[SPEEDUP_LINEAR] = "linear",
                                     [SPEEDUP_AMDAHL] = "amdahl",
                                     [SPEEDUP_DOWNEY] = "downey",
                                     [SPEEDUP_TABLE] = "table",
                                     NULL};

static int read_point(const struct json_place *place, int above, struct speedup_point *point, struct error *error)
{
    static const char *const keys[] = {"nodes", "speedup", "mtct", NULL};
    *point = (struct speedup_point){.mtct = -1};
    if (json_place_object(place, keys, error) ||
        json_place_int(place, "nodes", true, above + 1, MOST_NODES, &point->nodes, error) ||
        json_place_number(place, "speedup", true, LEAST, 1e9, &point->speedup, error) ||
        json_place_number(place, "mtct", false, 0, 1e9, &point->mtct, error))
        return -1;
    return 0;
}

static int read_points(const struct json_place *in, struct speedup *speedup, struct error *error)
{
    struct json_place place = json_place_in(in, "points");
    if (json_place_array(&place, error))
        return -1;
    speedup->points = calloc((size_t)cJSON_GetArraySize(place.item), sizeof *speedup->points);
    if (!speedup->points)
        return error_memory(error);
    for (const cJSON *item = place.item->child; item; item = item->next, speedup->count++) {
        struct json_place at = {.in = &place, .index = speedup->count, .item = item};
        int above = speedup->count > 0 ? speedup->points[speedup->count - 1].nodes : 0;
        if (read_point(&at, above, &speedup->points[speedup->count], error))
            return -1;
    }
    return 0;
}

static int read_model(const struct json_place *place, struct speedup *speedup, struct error *error)
{
    static const char *const linear[] = {"model", NULL}, *const amdahl[] = {"model", "serial", NULL},
                             *const downey[] = {"model", "parallelism", "sigma", NULL},
                             *const table[] = {"model", "points", NULL};
    switch (speedup->model) {
    case SPEEDUP_AMDAHL:
        return json_place_object(place, amdahl, error) ||
               json_place_number(place, "serial", true, 0, 1, &speedup->serial, error);
    case SPEEDUP_DOWNEY:
        return json_place_object(place, downey, error) ||
               json_place_number(place, "parallelism", true, 1, 1e9, &speedup->parallelism, error) ||
               json_place_number(place, "sigma", true, 0, 1e9, &speedup->sigma, error);
    case SPEEDUP_TABLE:
        return json_place_object(place, table, error) || read_points(place, speedup, error);
    default:
        return json_place_object(place, linear, error);
    }
}

static int read_speedup(const struct json_place *in, struct speedup *speedup, struct error *error)
{
    struct json_place place = json_place_in(in, "speedup");
    int model = SPEEDUP_LINEAR;
    if (!place.item)
        return 0;
    if (!cJSON_IsObject(place.item))
        return json_place_error(&place, error, "is no object {\"model\": ...}");
    if (json_place_word(&place, "model", true, models, &model, error))
        return -1;
    speedup->model = (enum speedup_model)model;
    return read_model(&place, speedup, error) ? -1 : 0;
}

/* ---- Phases ------------------------------------------------------------------------------------- */

/* One that names none has its job's. */
static int read_range(const struct json_place *place, struct phase *phase, int nodes, struct error *error)
{
    int min = 0, max = 0;
    struct json_place sizes = json_place_in(place, "sizes");
    if (json_place_int(place, "min", false, 1, nodes, &min, error) ||
        json_place_int(place, "max", false, 1, nodes, &max, error))
        return -1;
    phase->range = (epop_policy_range_t){.min = min ? min : 1, .max = max ? max : nodes};
    if (phase->range.min > phase->range.max)
        return json_place_error(place, error, "min is %d, above max, %d", min, max);
    if (sizes.item || min || max)
        return read_sizes(&sizes, &phase->range, error);
    phase->range = (epop_policy_range_t){0};
    return 0;
}

/* A job without a size for its phase could not run it. */
static int check_range(const struct json_place *place, const struct phase *phase, const struct work *work,
                       struct error *error)
{
    if (phase->range.max == 0)
        return 0;
    for (int size = work->range.min; size <= work->range.max; size++)
        if (epop_policy_accepts(&work->range, size) && epop_policy_accepts(&phase->range, size))
            return 0;
    return json_place_error(place, error, "accepts none of its job's sizes (%d to %d)", work->range.min,
                            work->range.max);
}

static const char *const shared[SHARED] = {[SHARED_NETWORK] = "network", [SHARED_FILE_SYSTEM] = "file_system"};

/* BYTES of every iteration, or {"bytes": BYTES, "every": ITERATIONS}. */
static int read_move(const struct json_place *in, const char *key, struct move *move, struct error *error)
{
    static const char *const keys[] = {"bytes", "every", NULL};
    struct json_place place = json_place_in(in, key);
    int every = 1;
    if (!place.item)
        return 0;
    bool whole = cJSON_IsObject(place.item);
    if ((whole && json_place_object(&place, keys, error)) ||
        json_place_number(whole ? &place : in, whole ? "bytes" : key, true, 0, MOST_BYTES, &move->bytes, error) ||
        (whole && json_place_int(&place, "every", false, 1, INT_MAX, &every, error)))
        return -1;
    move->every = every;
    return 0;
}

static int check_moves(const struct json_place *in, const struct phase *phase, struct error *error)
{
    for (int i = 0; i < SHARED; i++) {
        const struct move *move = &phase->moves[i];
        struct json_place place = json_place_in(in, shared[i]);
        if (move->bytes > 0 && phase->iterations / move->every > MOST_MOVES)
            return json_place_error(
                &place, error,
                "bytes are moved %.6g times, which is above %g: give a larger \"every\", of so many "
                "iterations",
                phase->iterations / move->every, MOST_MOVES);
    }
    return 0;
}

static int read_phase(const struct json_place *place, struct phase *phase, const struct work *work, int nodes,
                      struct error *error)
{
    static const char *const keys[] = {"name", "kind", "iterations", "seconds", "scaling",     "speedup",
                                       "min",  "max",  "sizes",      "network", "file_system", NULL};
    static const char *const kinds[] = {"rigid", "elastic", NULL}, *const scalings[] = {"strong", "weak", NULL};
    const char *name = "run";
    int elastic = 1, weak = 0;
    phase->iterations = 1;
    if (json_place_object(place, keys, error) || json_place_text(place, "name", false, &name, error) ||
        json_place_word(place, "kind", false, kinds, &elastic, error) ||
        json_place_word(place, "scaling", false, scalings, &weak, error) ||
        json_place_number(place, "iterations", false, LEAST, MOST_ITERATIONS, &phase->iterations, error) ||
        json_place_number(place, "seconds", true, LEAST, MOST_SECONDS, &phase->seconds, error) ||
        read_speedup(place, &phase->speedup, error) || read_range(place, phase, nodes, error))
        return -1;
    for (int i = 0; i < SHARED; i++)
        if (read_move(place, shared[i], &phase->moves[i], error))
            return -1;
    phase->elastic = elastic;
    phase->weak = weak;
    phase->name = strdup(name);
    return phase->name ? check_range(place, phase, work, error) : error_memory(error);
}

/* Into a work whose range is set: a phase that says nothing else has that. nodes: of the machine. */
static int read_phases(const struct json_place *place, struct work *work, int nodes, double scale, struct error *error)
{
    if (json_place_array(place, error))
        return -1;
    work->phases = calloc((size_t)cJSON_GetArraySize(place->item), sizeof *work->phases);
    if (!work->phases)
        return error_memory(error);
    for (const cJSON *item = place->item->child; item; item = item->next) {
        struct json_place at = {.in = place, .index = work->phase_count, .item = item};
        struct phase *phase = &work->phases[work->phase_count++];
        if (read_phase(&at, phase, work, nodes, error))
            return -1;
        phase->iterations *= scale;
        if (check_moves(&at, phase, error))
            return -1;
    }
    return 0;
}

/* ---- Jobs and applications ---------------------------------------------------------------------- */

/* A job in the making: what is read later goes before what was there. */
struct draft {
    struct work *work;
    int nodes; /* of the machine */
    int kind;  /* an epop_policy_kind_t */
    bool progress;
    int min, max;                          /* 0: not said */
    double scale;                          /* of all iterations */
    const char *name, *account;            /* the document's */
    bool drawn;                            /* nodes and scale may be lists, which the caller draws from */
    struct json_place sizes;               /* .item NULL: not said */
    struct json_place phases, application; /* the same */
};

/* Keys that a job and an application have in common, for lists of keys. */
#define DRAFT_KEYS                                                                                                     \
    "name", "kind", "nodes", "min", "max", "sizes", "limit", "bytes", "progress", "user", "account", "priority",       \
        "deadline", "drop_late", "scale", "phases"

static const char *const kinds[] = {[EPOP_RIGID] = "rigid",
                                    [EPOP_MOLDABLE] = "moldable",
                                    [EPOP_MALLEABLE] = "malleable",
                                    [EPOP_EVOLVING] = "evolving",
                                    NULL};

static void draft_begin(struct draft *draft, struct work *work, int nodes)
{
    *draft = (struct draft){.work = work, .nodes = nodes, .kind = EPOP_RIGID, .progress = true, .scale = 1};
    work->limit = -1;
}

static int read_bool(const struct json_place *place, const char *key, bool *value, struct error *error)
{
    struct json_place at = json_place_in(place, key);
    if (at.item && !cJSON_IsBool(at.item))
        return json_place_error(&at, error, "is neither true nor false");
    if (at.item)
        *value = cJSON_IsTrue(at.item);
    return 0;
}

static int read_account(struct draft *draft, const struct json_place *place, struct error *error)
{
    struct json_place account = json_place_in(place, "account");
    if (json_place_text(place, "account", false, &draft->account, error))
        return -1;
    if (account.item && !batch_account(draft->account))
        return json_place_error(&account, error, "has a blank, a comma, '=' or '#' in it");
    return 0;
}

/* The place as it is now: what it is in lives on. */
static void take_place(struct json_place *taken, const struct json_place *in, const char *key)
{
    struct json_place place = json_place_in(in, key);
    if (place.item)
        *taken = place;
}

static bool is_drawn(const struct draft *draft, const struct json_place *place, const char *key)
{
    return draft->drawn && cJSON_IsArray(json_place_in(place, key).item);
}

/* Takes what is there. `place` and what it is in must live until draft_finish. */
static int draft_read(struct draft *draft, const struct json_place *place, struct error *error)
{
    struct work *work = draft->work;
    const double tiny = 1e-9;
    if (json_place_text(place, "name", false, &draft->name, error) ||
        json_place_word(place, "kind", false, kinds, &draft->kind, error) ||
        json_place_int(place, "min", false, 1, MOST_NODES, &draft->min, error) ||
        json_place_int(place, "max", false, 1, MOST_NODES, &draft->max, error) || read_account(draft, place, error) ||
        json_place_int(place, "user", false, 0, INT_MAX, &work->user, error) ||
        json_place_int(place, "priority", false, -MOST_PRIORITY, MOST_PRIORITY, &work->priority, error) ||
        json_place_number(place, "limit", false, tiny, MOST_SECONDS, &work->limit, error) ||
        json_place_number(place, "bytes", false, 0, MOST_BYTES, &work->bytes, error) ||
        json_place_number(place, "deadline", false, tiny, MOST_SECONDS, &work->deadline, error) ||
        read_bool(place, "drop_late", &work->drop_late, error) || read_bool(place, "progress", &draft->progress, error))
        return -1;
    if (!is_drawn(draft, place, "nodes") && json_place_int(place, "nodes", false, 1, MOST_NODES, &work->wanted, error))
        return -1;
    if (!is_drawn(draft, place, "scale") && json_place_number(place, "scale", false, tiny, 1e9, &draft->scale, error))
        return -1;
    take_place(&draft->sizes, place, "sizes");
    take_place(&draft->phases, place, "phases");
    return 0;
}

static int check_wanted(const struct draft *draft, const struct json_place *place, struct error *error)
{
    int wanted = draft->work->wanted;
    struct json_place nodes = json_place_in(place, "nodes");
    if (wanted < 1)
        return json_place_error(&nodes, error, "is missing: how many nodes does the job want?");
    if (wanted > draft->nodes)
        return json_place_error(&nodes, error, "is %d, and the machine has %d", wanted, draft->nodes);
    return 0;
}

static int finish_range(struct draft *draft, const struct json_place *place, struct error *error)
{
    struct work *work = draft->work;
    epop_policy_range_t *range = &work->range;
    struct json_place nodes = json_place_in(place, "nodes"), max = json_place_in(place, "max");
    *range = (epop_policy_range_t){.min = work->wanted, .max = work->wanted};
    if (work->kind == EPOP_RIGID)
        return 0;
    range->min = draft->min ? draft->min : 1;
    range->max = draft->max ? draft->max : draft->nodes;
    if (range->max > draft->nodes)
        return json_place_error(&max, error, "is %d, and the machine has %d", range->max, draft->nodes);
    if (range->min > range->max)
        return json_place_error(&max, error, "is %d, below the job's min, %d", range->max, range->min);
    if (read_sizes(&draft->sizes, range, error))
        return -1;
    if (!epop_policy_accepts(range, work->wanted))
        return json_place_error(&nodes, error, "is %d, a size that the job does not accept (min, max, sizes)",
                                work->wanted);
    return 0;
}

/* The work, whole. `place` is for errors. */
static int draft_finish(struct draft *draft, const struct json_place *place, struct error *error)
{
    struct work *work = draft->work;
    work->kind = (epop_policy_kind_t)draft->kind;
    work->progress = draft->progress;
    if (check_wanted(draft, place, error) || finish_range(draft, place, error))
        return -1;
    if (!draft->phases.item)
        return json_place_error(place, error, "has no phases: name an application, or give phases");
    if (read_phases(&draft->phases, work, draft->nodes, draft->scale, error))
        return -1;
    work->name = strdup(draft->name ? draft->name : "job");
    work->account = draft->account ? strdup(draft->account) : NULL;
    if (!work->name || (draft->account && !work->account))
        return error_memory(error);
    if (work->limit < 0)
        work->limit = work_seconds(work, work->wanted);
    return 0;
}

/* ---- Applications and listed jobs --------------------------------------------------------------- */

struct json_reader {
    struct workload *workload;
    struct json_place document, applications;
    struct error *error;
};

/* Looked at once: an error in one that no job uses is one, too. */
static int read_applications(struct json_reader *reader)
{
    static const char *const keys[] = {DRAFT_KEYS, NULL};
    struct json_place place = json_place_in(&reader->document, "applications");
    reader->applications = place;
    if (!place.item)
        return 0;
    if (!cJSON_IsObject(place.item))
        return json_place_error(&place, reader->error, "is no object {...}");
    for (const cJSON *item = place.item->child; item; item = item->next) {
        struct json_place at = json_place_in(&place, item->string);
        struct work work = {0};
        struct draft draft;
        draft_begin(&draft, &work, reader->workload->nodes);
        if (json_place_object(&at, keys, reader->error) || draft_read(&draft, &at, reader->error))
            return -1;
    }
    return 0;
}

static int read_application(struct json_reader *reader, const struct json_place *job, struct draft *draft)
{
    struct json_place place = json_place_in(job, "application");
    if (json_place_text(job, "application", false, &draft->name, reader->error))
        return -1;
    if (!place.item)
        return 0;
    draft->application = json_place_in(&reader->applications, draft->name);
    if (!draft->application.item)
        return json_place_error(&place, reader->error, "there is no application \"%.60s\"", draft->name);
    return draft_read(draft, &draft->application, reader->error);
}

/* Into a begun draft: what the place says, and the application that it names. */
static int read_into_draft(struct json_reader *reader, const struct json_place *place, struct draft *draft)
{
    return read_application(reader, place, draft) || draft_read(draft, place, reader->error) ? -1 : 0;
}

static int read_job(struct json_reader *reader, const struct json_place *place)
{
    static const char *const keys[] = {"id", "submit", "application", DRAFT_KEYS, NULL};
    double id = place->index + 1;
    struct draft draft;
    struct work *work = workload_add(reader->workload);
    if (!work)
        return error_memory(reader->error);
    draft_begin(&draft, work, reader->workload->nodes);
    if (json_place_object(place, keys, reader->error) ||
        json_place_number(place, "id", false, 0, 1e15, &id, reader->error) ||
        json_place_number(place, "submit", false, 0, MOST_SECONDS, &work->submit, reader->error))
        return -1;
    work->id = (int64_t)id;
    if (id != floor(id))
        return json_place_error(place, reader->error, "id is %g: it must be a whole number", id);
    return read_into_draft(reader, place, &draft) || draft_finish(&draft, place, reader->error) ? -1 : 0;
}

static int read_jobs(struct json_reader *reader)
{
    struct json_place jobs = json_place_in(&reader->document, "jobs");
    int index = 0;
    if (!jobs.item)
        return 0;
    if (json_place_array(&jobs, reader->error))
        return -1;
    for (const cJSON *item = jobs.item->child; item; item = item->next, index++) {
        struct json_place at = {.in = &jobs, .index = index, .item = item};
        if (read_job(reader, &at))
            return -1;
    }
    return 0;
}

/* ---- What may be drawn -------------------------------------------------------------------------- */

struct draw {
    struct json_reader *reader;
    struct json_place place, mix;
    uint64_t seed;
    int count, users, fixed;
    double interarrival, weights; /* of the whole mix */
};

static int check_list(const struct json_place *in, const char *key, double most, int count, struct error *error)
{
    struct json_place place = json_place_in(in, key);
    int index = 0;
    if (!cJSON_IsArray(place.item))
        return 0;
    if (json_place_array(&place, error))
        return -1;
    if (count > 0 && cJSON_GetArraySize(place.item) != count)
        return json_place_error(&place, error, "must be a number, or the least and the most");
    for (const cJSON *item = place.item->child; item; item = item->next, index++) {
        struct json_place at = {.in = &place, .index = index, .item = item};
        if (!cJSON_IsNumber(item) || !(item->valuedouble > 0 && item->valuedouble <= most))
            return json_place_error(&at, error, "is no number above 0 and at most %g", most);
        if (count == 0 && item->valuedouble != floor(item->valuedouble))
            return json_place_error(&at, error, "must be a whole number");
    }
    return 0;
}

static int weight_of(const struct json_place *place, double *weight, struct error *error)
{
    *weight = 1;
    return json_place_number(place, "weight", false, 0, 1e9, weight, error);
}

static int check_entry(struct draw *draw, const struct json_place *place)
{
    static const char *const keys[] = {"application", "weight", DRAFT_KEYS, NULL};
    struct error *error = draw->reader->error;
    double weight;
    if (json_place_object(place, keys, error) || weight_of(place, &weight, error) ||
        check_list(place, "nodes", MOST_NODES, 0, error) || check_list(place, "scale", 1e9, 2, error))
        return -1;
    draw->weights += weight;
    return 0;
}

static int check_mix(struct draw *draw)
{
    if (json_place_array(&draw->mix, draw->reader->error))
        return -1;
    int index = 0;
    for (const cJSON *item = draw->mix.item->child; item; item = item->next, index++) {
        struct json_place at = {.in = &draw->mix, .index = index, .item = item};
        if (check_entry(draw, &at))
            return -1;
    }
    if (draw->weights <= 0)
        return json_place_error(&draw->mix, draw->reader->error, "all weights are 0: nothing can be drawn");
    return 0;
}

static int read_draw(struct draw *draw)
{
    static const char *const keys[] = {"count", "seed", "interarrival", "arrival", "users", "mix", NULL};
    static const char *const arrivals[] = {"poisson", "fixed", NULL};
    const struct json_place *place = &draw->place;
    struct error *error = draw->reader->error;
    double seed = 1;
    if (json_place_object(place, keys, error) ||
        json_place_int(place, "count", true, 1, MOST_JOBS, &draw->count, error) ||
        json_place_number(place, "seed", false, 0, 1e15, &seed, error) ||
        json_place_number(place, "interarrival", true, 0, MOST_SECONDS, &draw->interarrival, error) ||
        json_place_word(place, "arrival", false, arrivals, &draw->fixed, error) ||
        json_place_int(place, "users", false, 1, INT_MAX, &draw->users, error))
        return -1;
    draw->seed = (uint64_t)seed;
    draw->mix = json_place_in(place, "mix");
    return check_mix(draw);
}

/* ---- Jobs that are drawn ------------------------------------------------------------------------ */

static struct json_place drawn_entry(const struct draw *draw, int64_t id)
{
    struct json_place at = {.in = &draw->mix};
    double mark = workload_drawn(draw->seed, id, "mix") * draw->weights, weight;
    struct error ignored; /* checked before */
    for (const cJSON *item = draw->mix.item->child; item; item = item->next, at.index++) {
        at.item = item;
        weight_of(&at, &weight, &ignored);
        mark -= weight;
        if (mark < 0 || !item->next)
            break;
    }
    return at;
}

static void draw_lists(const struct draw *draw, const struct json_place *entry, struct draft *draft)
{
    const cJSON *nodes = json_place_in(entry, "nodes").item, *scale = json_place_in(entry, "scale").item;
    int64_t id = draft->work->id;
    if (cJSON_IsArray(nodes)) {
        int at = (int)(workload_drawn(draw->seed, id, "nodes") * cJSON_GetArraySize(nodes));
        draft->work->wanted = (int)cJSON_GetArrayItem(nodes, at)->valuedouble;
    }
    if (cJSON_IsArray(scale)) {
        double least = scale->child->valuedouble, most = scale->child->next->valuedouble;
        draft->scale = least + (most - least) * workload_drawn(draw->seed, id, "scale");
    }
}

/* The first comes at 0. */
static double next_submission(const struct draw *draw, double last, int index, int64_t id)
{
    if (index == 0)
        return 0;
    return last + draw->interarrival * (draw->fixed ? 1 : -log1p(-workload_drawn(draw->seed, id, "arrival")));
}

static int draw_job(struct draw *draw, int index, int64_t id, double *submit)
{
    struct draft draft;
    struct json_place entry = drawn_entry(draw, id);
    struct work *work = workload_add(draw->reader->workload);
    if (!work)
        return error_memory(draw->reader->error);
    draft_begin(&draft, work, draw->reader->workload->nodes);
    work->id = id;
    *submit = work->submit = next_submission(draw, *submit, index, id);
    work->user = (int)(workload_drawn(draw->seed, id, "user") * draw->users);
    draft.drawn = true;
    if (read_into_draft(draw->reader, &entry, &draft))
        return -1;
    draw_lists(draw, &entry, &draft);
    return draft_finish(&draft, &entry, draw->reader->error);
}

/* After the listed ones, numbered on. seed: NULL: as the document says. */
static int draw_jobs(struct json_reader *reader, const uint64_t *seed)
{
    struct draw draw = {.reader = reader, .place = json_place_in(&reader->document, "random"), .users = 1};
    int64_t id = 0;
    double submit = 0;
    if (!draw.place.item)
        return 0;
    if (read_draw(&draw))
        return -1;
    draw.seed = seed ? *seed : draw.seed;
    for (size_t i = 0; i < reader->workload->count; i++)
        id = reader->workload->works[i].id > id ? reader->workload->works[i].id : id;
    for (int index = 0; index < draw.count; index++)
        if (draw_job(&draw, index, ++id, &submit))
            return -1;
    return 0;
}

/* ---- The document, and its machine -------------------------------------------------------------- */

static int check_document(const struct json_reader *reader)
{
    static const char *const keys[] = {"schema", "version", "name", "machine", "applications", "jobs", "random", NULL};
    static const char *const schemas[] = {"epop.workload", NULL};
    int schema, version = 1;
    if (json_place_object(&reader->document, keys, reader->error) ||
        json_place_word(&reader->document, "schema", true, schemas, &schema, reader->error) ||
        json_place_int(&reader->document, "version", true, 1, 1, &version, reader->error))
        return -1;
    if (!json_place_in(&reader->document, "jobs").item && !json_place_in(&reader->document, "random").item)
        return json_place_error(&reader->document, reader->error, "has no jobs: give jobs, random or both");
    return 0;
}

/* One that the caller gave goes before the document's. */
static int read_rates(struct json_reader *reader, const struct json_place *machine)
{
    struct rates rates = {0}, *taken = &reader->workload->rates;
    if (json_place_number(machine, "link", false, 0, MOST_RATE, &rates.link, reader->error))
        return -1;
    taken->link = taken->link < 0 ? rates.link : taken->link;
    for (int i = 0; i < SHARED; i++) {
        if (json_place_number(machine, shared[i], false, 0, MOST_RATE, &rates.all[i], reader->error))
            return -1;
        taken->all[i] = taken->all[i] < 0 ? rates.all[i] : taken->all[i];
    }
    return 0;
}

static int read_machine(struct json_reader *reader)
{
    static const char *const keys[] = {"nodes",   "idle_watts",  "busy_watts", "power_cap",
                                       "network", "file_system", "link",       NULL};
    struct workload *workload = reader->workload;
    struct json_place machine = json_place_in(&reader->document, "machine");
    int nodes = workload->nodes;
    if (json_place_object(&machine, keys, reader->error) ||
        json_place_int(&machine, "nodes", nodes == 0, 1, MOST_NODES, &nodes, reader->error) ||
        json_place_number(&machine, "idle_watts", false, 0, 1e9, &workload->idle_watts, reader->error) ||
        json_place_number(&machine, "busy_watts", false, workload->idle_watts, 1e9, &workload->busy_watts,
                          reader->error) ||
        json_place_number(&machine, "power_cap", false, 0, 1e15, &workload->power_cap, reader->error) ||
        read_rates(reader, &machine))
        return -1;
    workload->nodes = workload->nodes ? workload->nodes : nodes;
    if (workload->power_cap > 0 && workload->busy_watts <= 0)
        return json_place_error(&machine, reader->error, "has a power_cap without idle_watts and busy_watts of a node");
    return 0;
}

static int finish_document(struct json_reader *reader)
{
    int64_t id;
    if (workload_has_twins(reader->workload, &id))
        return json_place_error(&reader->document, reader->error, "two jobs have the id %lld: number them anew",
                                (long long)id);
    workload_sort(reader->workload);
    return 0;
}

static int read_document(struct json_reader *reader, const uint64_t *seed)
{
    return check_document(reader) || read_machine(reader) || read_applications(reader) || read_jobs(reader) ||
                   draw_jobs(reader, seed) || finish_document(reader)
               ? -1
               : 0;
}

static int line_of(const struct input *input, const char *place)
{
    int line = 1;
    for (const char *at = input->text; at < place && at < input->text + input->size; at++)
        line += *at == '\n';
    return line;
}

static int refuse_text(struct workload *workload, const struct input *input, const char *place, const char *what,
                       struct error *error)
{
    workload_free(workload);
    return error_set(error, ERROR_REFUSED, "%s:%d: %s", input->name, line_of(input, place), what);
}

int workload_json_read(struct workload *workload, const struct input *input, int nodes, const struct rates *rates,
                       const uint64_t *seed, struct error *error)
{
    static const struct rates unsaid = {.all = {-1, -1}, .link = -1};
    const char *end = input->text;
    struct json_reader reader = {.workload = workload, .error = error};
    *workload = (struct workload){.nodes = nodes, .rates = rates ? *rates : unsaid, .notes = strdup("")};
    const char *wrong = input_no_utf8(input);
    if (wrong)
        return refuse_text(workload, input, wrong, "this is not UTF-8", error);
    cJSON *json = cJSON_ParseWithLengthOpts(input->text, input->size + 1, &end, 1);
    if (!json)
        return refuse_text(workload, input, end, "no JSON from here on", error);
    reader.document = (struct json_place){.key = input->name, .item = json};
    const char *name = basename(input->name);
    int failed =
        json_place_text(&reader.document, "name", false, &name, error) || read_document(&reader, seed) ? -1 : 0;
    workload->name = strdup(name);
    if (!failed && (!workload->name || !workload->notes))
        failed = error_memory(error);
    cJSON_Delete(json);
    if (failed)
        workload_free(workload);
    return failed;
}
