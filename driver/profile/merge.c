/*
 * Merges the records of all processes into the profile: times by element and world size, adaptations, checkpoints,
 * efficiency.
 */
#include "driver/profile/merge.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/common/output.h"
#include "runtime/base/array.h"
#include "runtime/base/json.h"

/* ---- Elements at one world size ----------------------------------------------------------------- */

/* What was measured in one element at one world size. */
struct world {
    int size;
    double work;                              /* of an iteration, that of one on one rank being 1 */
    double *loop, *mpi, *visits, *iterations; /* by rank, times in seconds; negative: nothing is known of the rank */
    cJSON *functions;                         /* name -> [calls, seconds] */
    struct world *next;                       /* the next larger size */
    struct inner *loops;                      /* in it, by number */
};

/* A loop in an element at one world size. */
struct inner {
    int number;
    struct world *world; /* without visits, functions and loops */
    struct inner *next;
};

static struct world *world_new(int size)
{
    struct world *world = calloc(1, sizeof *world);
    double *numbers = malloc(4 * (size_t)size * sizeof *numbers);
    if (!world || !numbers) {
        free(world);
        free(numbers);
        return NULL;
    }
    for (int i = 0; i < 4 * size; i++)
        numbers[i] = -1;
    *world = (struct world){.size = size,
                            .work = 1,
                            .loop = numbers,
                            .mpi = numbers + size,
                            .visits = numbers + 2 * size,
                            .iterations = numbers + 3 * size,
                            .functions = cJSON_CreateObject()};
    return world;
}

/* The one of that size in the list, which is sorted; made if there is none. NULL when out of memory. */
static struct world *world_at(struct world **list, int size)
{
    while (*list && (*list)->size < size)
        list = &(*list)->next;
    if (*list && (*list)->size == size)
        return *list;
    struct world *world = world_new(size);
    if (!world)
        return NULL;
    world->next = *list;
    *list = world;
    return world;
}

/* The same of loops by their numbers. */
static struct inner *inner_at(struct world *world, int number)
{
    struct inner **list = &world->loops;
    while (*list && (*list)->number < number)
        list = &(*list)->next;
    if (*list && (*list)->number == number)
        return *list;
    struct inner *inner = calloc(1, sizeof *inner);
    struct world *sums = inner ? world_new(world->size) : NULL;
    if (!sums) {
        free(inner);
        return NULL;
    }
    sums->work = world->work;
    *inner = (struct inner){number, sums, *list};
    *list = inner;
    return inner;
}

static void world_free(struct world *world)
{
    while (world->loops) {
        struct inner *next = world->loops->next;
        world_free(world->loops->world);
        free(world->loops);
        world->loops = next;
    }
    cJSON_Delete(world->functions);
    free(world->loop);
    free(world);
}

static void worlds_free(struct world *list)
{
    while (list) {
        struct world *next = list->next;
        world_free(list);
        list = next;
    }
}

/* Adds to the calls and seconds of a function; returns the seconds. */
static double add_function(cJSON *functions, const cJSON *calls)
{
    const char *name = cJSON_GetStringValue(cJSON_GetArrayItem(calls, 0));
    double count = cJSON_GetNumberValue(cJSON_GetArrayItem(calls, 1));
    double seconds = cJSON_GetNumberValue(cJSON_GetArrayItem(calls, 2));
    cJSON *sums = cJSON_GetObjectItemCaseSensitive(functions, name);
    if (!sums) {
        cJSON_AddItemToObject(functions, name, cJSON_CreateDoubleArray((double[]){count, seconds}, 2));
        return seconds;
    }
    cJSON *sum = cJSON_GetArrayItem(sums, 0);
    cJSON_SetNumberValue(sum, sum->valuedouble + count);
    sum = cJSON_GetArrayItem(sums, 1);
    cJSON_SetNumberValue(sum, sum->valuedouble + seconds);
    return seconds;
}

static void add_to_known(double *sum, double more)
{
    *sum = *sum < 0 ? more : *sum + more;
}

/* Adds a cell of a record: of one process that was one rank of that size, perhaps one after another. */
static void world_add(struct world *world, const cJSON *cell)
{
    int rank = json_int(cell, "rank", -1);
    double seconds = 0;
    const cJSON *calls;
    if (rank < 0 || rank >= world->size)
        return;
    cJSON_ArrayForEach(calls, cJSON_GetObjectItemCaseSensitive(cell, "mpi"))
    {
        seconds += add_function(world->functions, calls);
    }
    add_to_known(&world->loop[rank], json_number(cell, "time", 0));
    add_to_known(&world->mpi[rank], seconds);
    add_to_known(&world->visits[rank], json_number(cell, "visits", 0));
    add_to_known(&world->iterations[rank], json_number(cell, "iterations", 0));
}

/* ---- Statistics over ranks ---------------------------------------------------------------------- */

struct statistics {
    int count;
    double total, mean, min, max, variance;
};

static struct statistics over_ranks(const double *values, int count)
{
    struct statistics s = {0};
    for (int i = 0; i < count; i++) {
        if (values[i] < 0)
            continue;
        s.total += values[i];
        s.min = s.count == 0 || values[i] < s.min ? values[i] : s.min;
        s.max = values[i] > s.max ? values[i] : s.max;
        s.count++;
    }
    s.mean = s.count ? s.total / s.count : 0;
    for (int i = 0; i < count; i++)
        if (values[i] >= 0)
            s.variance += (values[i] - s.mean) * (values[i] - s.mean) / s.count;
    return s;
}

/* {total, mean, min, max, variance} of the values that are not negative. */
static cJSON *over_ranks_json(const double *values, int count)
{
    struct statistics s = over_ranks(values, count);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "total", s.total);
    cJSON_AddNumberToObject(json, "mean", s.mean);
    cJSON_AddNumberToObject(json, "min", s.min);
    cJSON_AddNumberToObject(json, "max", s.max);
    cJSON_AddNumberToObject(json, "variance", s.variance);
    return json;
}

/* Mean loop time of the ranks. */
static double world_mean(const struct world *world)
{
    return over_ranks(world->loop, world->size).mean;
}

/* Of all ranks: the same on each, but one that was cut off, or came later, has counted fewer. */
static double world_iterations(const struct world *world)
{
    return over_ranks(world->iterations, world->size).max;
}

/* Mean seconds per iteration; 0 if none was made. */
static double world_seconds(const struct world *world)
{
    double iterations = world_iterations(world);
    return iterations > 0 ? world_mean(world) / iterations : 0;
}

/* Mean seconds of as much work as an iteration is on one rank. */
static double work_seconds(const struct world *world)
{
    return world_seconds(world) / world->work;
}

/* The largest of the ranks' times outside MPI, divided by their mean; -1: there is no such time. */
static double imbalance_of(const struct world *world)
{
    struct statistics s = {0};
    for (int rank = 0; rank < world->size; rank++) {
        double outside = world->loop[rank] - world->mpi[rank];
        if (world->loop[rank] < 0)
            continue;
        outside = outside > 0 ? outside : 0;
        s.total += outside;
        s.max = outside > s.max ? outside : s.max;
        s.count++;
    }
    double ratio = s.total > 0 ? s.max * s.count / s.total : -1;
    return ratio >= 0 && ratio < 1 ? 1 : ratio; /* by rounding */
}

/* ---- Elements at one world size: JSON ----------------------------------------------------------- */

/* Null for a number that is not known, below 0. */
static void add_number_or_null(cJSON *object, const char *key, double value)
{
    if (value >= 0)
        cJSON_AddNumberToObject(object, key, value);
    else
        cJSON_AddNullToObject(object, key);
}

static double seconds_of_function(const cJSON *sums)
{
    return cJSON_GetNumberValue(cJSON_GetArrayItem(sums, 1));
}

/* Moves the function with the most time, of those that are left, to the list. */
static void move_largest_function(cJSON *functions, cJSON *list)
{
    cJSON *largest = functions->child, *sums;
    cJSON_ArrayForEach(sums, functions)
    {
        if (seconds_of_function(sums) > seconds_of_function(largest))
            largest = sums;
    }
    cJSON *one = cJSON_CreateObject();
    cJSON_AddStringToObject(one, "function", largest->string);
    cJSON_AddNumberToObject(one, "calls", cJSON_GetNumberValue(cJSON_GetArrayItem(largest, 0)));
    cJSON_AddNumberToObject(one, "time", seconds_of_function(largest));
    cJSON_AddItemToArray(list, one);
    cJSON_Delete(cJSON_DetachItemViaPointer(functions, largest));
}

static cJSON *functions_json(const struct world *world)
{
    cJSON *list = cJSON_CreateArray(), *functions = cJSON_Duplicate(world->functions, 1);
    while (functions && functions->child)
        move_largest_function(functions, list);
    cJSON_Delete(functions);
    return list;
}

/* Times, and what follows from them. first: that of the smallest size that made iterations; NULL: none did. */
static void add_times(cJSON *json, const struct world *world, const struct world *first)
{
    double loop = over_ranks(world->loop, world->size).total, mpi = over_ranks(world->mpi, world->size).total;
    double seconds = world_seconds(world);
    double speedup = first && seconds > 0 ? work_seconds(first) / work_seconds(world) : -1;
    cJSON_AddNumberToObject(json, "iterations", world_iterations(world));
    cJSON_AddItemToObject(json, "loop_time", over_ranks_json(world->loop, world->size));
    cJSON_AddItemToObject(json, "mpi_time", over_ranks_json(world->mpi, world->size));
    add_number_or_null(json, "mpi_share", loop > 0 ? fmin(mpi / loop, 1) : -1);
    add_number_or_null(json, "mtct", loop > mpi ? mpi / (loop - mpi) : -1);
    add_number_or_null(json, "imbalance", imbalance_of(world));
    add_number_or_null(json, "iterations_per_second", seconds > 0 ? 1 / seconds : -1);
    add_number_or_null(json, "speedup", speedup);
    add_number_or_null(json, "efficiency", speedup >= 0 ? speedup * first->size / world->size : -1);
}

/* ---- Loops in an element ------------------------------------------------------------------------ */

/* Which loop it is: the same one on all ranks and at all sizes. Its number is its place in the list, and 1. */
struct known_loop {
    const char *key;
    const cJSON *head, *tail;
    int within; /* the loop around it; 0: none */
};

struct known_loops {
    struct known_loop *list;
    int count;
    size_t room;
};

/* 0: no memory. */
static int number_of_loop(struct known_loops *known, const cJSON *told)
{
    const char *key = json_text(told, "key");
    for (int i = 0; i < known->count; i++)
        if (!strcmp(known->list[i].key, key))
            return i + 1;
    if (array_reserve(&known->list, &known->room, (size_t)known->count + 1, sizeof *known->list))
        return 0;
    known->list[known->count++] =
        (struct known_loop){key, cJSON_GetObjectItem(told, "head"), cJSON_GetObjectItem(told, "tail"), 0};
    return known->count;
}

/* What a record tells of that lap; NULL: nothing. */
static const cJSON *loop_of_lap(const cJSON *record, int lap)
{
    const cJSON *told;
    cJSON_ArrayForEach(told, cJSON_GetObjectItem(record, "loops")) if (json_int(told, "lap", -1) == lap) return told;
    return NULL;
}

/* Adds a cell's loops: [lap, turns, seconds, seconds in MPI] each. */
static void add_loops(struct known_loops *known, struct world *world, const cJSON *record, const cJSON *cell)
{
    int rank = json_int(cell, "rank", -1);
    const cJSON *laps;
    cJSON_ArrayForEach(laps, cJSON_GetObjectItem(cell, "loops"))
    {
        const cJSON *told = loop_of_lap(record, (int)cJSON_GetNumberValue(cJSON_GetArrayItem(laps, 0)));
        const cJSON *outer = told ? loop_of_lap(record, json_int(told, "outer", -1)) : NULL;
        int number = told ? number_of_loop(known, told) : 0, within = outer ? number_of_loop(known, outer) : 0;
        struct inner *inner = number && rank >= 0 && rank < world->size ? inner_at(world, number) : NULL;
        if (!inner)
            continue;
        if (within != number)
            known->list[number - 1].within = within;
        add_to_known(&inner->world->iterations[rank], cJSON_GetNumberValue(cJSON_GetArrayItem(laps, 1)));
        add_to_known(&inner->world->loop[rank], cJSON_GetNumberValue(cJSON_GetArrayItem(laps, 2)));
        add_to_known(&inner->world->mpi[rank], cJSON_GetNumberValue(cJSON_GetArrayItem(laps, 3)));
    }
}

/* That loop at the smallest size at which it came round. */
static const struct world *first_of_loop(const struct world *worlds, int number)
{
    for (; worlds; worlds = worlds->next)
        for (const struct inner *inner = worlds->loops; inner; inner = inner->next)
            if (inner->number == number && world_seconds(inner->world) > 0)
                return inner->world;
    return NULL;
}

static bool has_loop(const struct world *world, int number)
{
    const struct inner *inner = world->loops;
    while (inner && inner->number != number)
        inner = inner->next;
    return inner;
}

/* The innermost loop around it that came round in this world; 0: none. */
static int within_of(const struct known_loops *known, const struct world *world, int number)
{
    int within = known->list[number - 1].within;
    for (int depth = 0; within && !has_loop(world, within) && depth < known->count; depth++)
        within = known->list[within - 1].within;
    return within;
}

static cJSON *loop_json(const struct known_loops *known, const struct inner *inner, const struct world *world,
                        const struct world *worlds)
{
    const struct known_loop *loop = &known->list[inner->number - 1];
    int within = within_of(known, world, inner->number);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "number", inner->number);
    if (within)
        cJSON_AddNumberToObject(json, "within", within);
    cJSON_AddItemToObject(json, "head", cJSON_Duplicate(loop->head, true));
    cJSON_AddItemToObject(json, "tail", cJSON_Duplicate(loop->tail, true));
    cJSON_AddNumberToObject(json, "ranks", over_ranks(inner->world->loop, inner->world->size).count);
    add_times(json, inner->world, first_of_loop(worlds, inner->number));
    return json;
}

/* ---- An element at one world size --------------------------------------------------------------- */

/* Of the smallest size at which it made iterations. */
static const struct world *first_world(const struct world *worlds)
{
    while (worlds && world_seconds(worlds) <= 0)
        worlds = worlds->next;
    return worlds;
}

/* worlds: of all sizes. */
static cJSON *world_json(const struct known_loops *known, const struct world *world, const struct world *worlds)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "size", world->size);
    cJSON_AddNumberToObject(json, "visits", over_ranks(world->visits, world->size).max);
    add_times(json, world, first_world(worlds));
    cJSON_AddItemToObject(json, "mpi", functions_json(world));
    cJSON *loops = world->loops ? cJSON_AddArrayToObject(json, "loops") : NULL;
    for (const struct inner *inner = world->loops; inner; inner = inner->next)
        cJSON_AddItemToArray(loops, loop_json(known, inner, world, worlds));
    return json;
}

/* ---- Adaptations and checkpoints ---------------------------------------------------------------- */

/* Of a described array, as its row has them behind the name. */
static const char *const array_keys[] = {"sent", "received", "least", "ahead"};

static void add_moment(cJSON *times, const epop_job_t *job, const char *key, double time)
{
    add_number_or_null(times, key, time > 0 ? (time > job->started ? time - job->started : 0) : -1);
}

/* What the processes say of one adaptation: of each the row, by process. */
struct rows {
    int count;
    const cJSON **rows;
    int *processes;
};

static struct rows rows_of(int id, const cJSON *records)
{
    struct rows found = {0};
    const cJSON *record, *row;
    int room = 1;
    cJSON_ArrayForEach(record, records) room += cJSON_GetArraySize(cJSON_GetObjectItem(record, "adaptations"));
    found.rows = malloc((size_t)room * sizeof *found.rows);
    found.processes = malloc((size_t)room * sizeof *found.processes);
    if (!found.rows || !found.processes)
        return found;
    cJSON_ArrayForEach(record, records)
    {
        cJSON_ArrayForEach(row, cJSON_GetObjectItem(record, "adaptations"))
        {
            if (json_int(row, "id", 0) != id)
                continue;
            found.processes[found.count] = json_int(record, "process", 0);
            found.rows[found.count++] = row;
        }
    }
    return found;
}

static double largest_of_rows(const struct rows *rows, const char *key, double otherwise)
{
    double most = otherwise;
    for (int i = 0; i < rows->count; i++) {
        double value = json_number(rows->rows[i], key, otherwise);
        most = value > most ? value : most;
    }
    return most;
}

static cJSON *times_json(const epop_job_t *job, const epop_adaptation_t *a, const struct rows *rows)
{
    cJSON *times = cJSON_CreateObject();
    add_moment(times, job, "requested", a->requested);
    add_moment(times, job, "prepared", a->prepared);
    add_moment(times, job, "agreed", a->agreed);
    add_moment(times, job, "opened", largest_of_rows(rows, "opened", 0));
    add_moment(times, job, "committed", a->committed);
    return times;
}

static cJSON *sums_json(const struct rows *rows, const char *key)
{
    double *values = malloc(sizeof *values * (size_t)(rows->count + 1));
    for (int i = 0; values && i < rows->count; i++)
        values[i] = json_number(rows->rows[i], key, 0);
    cJSON *json = rows->count && values ? over_ranks_json(values, rows->count) : cJSON_CreateNull();
    free(values);
    return json;
}

static cJSON *bytes_json(const struct rows *rows)
{
    static const char *const keys[] = {"sent", "received", "least"};
    if (!rows->count)
        return cJSON_CreateNull();
    cJSON *json = cJSON_CreateObject();
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        double sum = 0;
        for (int i = 0; i < rows->count; i++)
            sum += json_number(rows->rows[i], keys[k], 0);
        cJSON_AddNumberToObject(json, keys[k], sum);
    }
    return json;
}

/* Records are sorted by process; a row's peers are not, as their order is that of the ranks. */
static int compare_pairs(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

static void add_moves(cJSON *list, int from, const cJSON *to)
{
    int count = cJSON_GetArraySize(to), at = 0;
    double(*pairs)[2] = malloc(sizeof *pairs * (size_t)(count + 1));
    const cJSON *pair;
    if (!pairs)
        return;
    cJSON_ArrayForEach(pair, to)
    {
        pairs[at][0] = cJSON_GetNumberValue(cJSON_GetArrayItem(pair, 0));
        pairs[at++][1] = cJSON_GetNumberValue(cJSON_GetArrayItem(pair, 1));
    }
    qsort(pairs, (size_t)count, sizeof *pairs, compare_pairs);
    for (int i = 0; i < count; i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddNumberToObject(one, "from", from);
        cJSON_AddNumberToObject(one, "to", pairs[i][0]);
        cJSON_AddNumberToObject(one, "bytes", pairs[i][1]);
        cJSON_AddItemToArray(list, one);
    }
    free(pairs);
}

static cJSON *traffic_json(const struct rows *rows)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < rows->count; i++)
        add_moves(list, rows->processes[i], cJSON_GetObjectItem(rows->rows[i], "to"));
    return list;
}

/* The one of that name, made if there is none. */
static cJSON *described_array_at(cJSON *list, const char *name)
{
    cJSON *one;
    cJSON_ArrayForEach(one, list) if (!strcmp(json_text(one, "name"), name)) return one;
    one = cJSON_CreateObject();
    cJSON_AddStringToObject(one, "name", name);
    for (size_t i = 0; i < sizeof array_keys / sizeof *array_keys; i++)
        cJSON_AddNumberToObject(one, array_keys[i], 0);
    cJSON_AddItemToArray(list, one);
    return one;
}

/* Described arrays, in the order in which they are told; all processes together. */
static cJSON *arrays_json(const struct rows *rows)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < rows->count; i++) {
        const cJSON *told;
        cJSON_ArrayForEach(told, cJSON_GetObjectItem(rows->rows[i], "arrays"))
        {
            const char *name = cJSON_GetStringValue(cJSON_GetArrayItem(told, 0));
            cJSON *one = name ? described_array_at(list, name) : NULL;
            for (int k = 0; one && k < (int)(sizeof array_keys / sizeof *array_keys); k++) {
                cJSON *sum = cJSON_GetObjectItem(one, array_keys[k]);
                cJSON_SetNumberValue(sum, sum->valuedouble + cJSON_GetNumberValue(cJSON_GetArrayItem(told, k + 1)));
            }
        }
    }
    return list;
}

static void add_place_of_adaptation(cJSON *json, const epop_adaptation_t *a, const cJSON *elements)
{
    const cJSON *element = a->pc >= 0 ? cJSON_GetArrayItem(elements, a->pc) : NULL;
    add_number_or_null(json, "pc", a->pc);
    if (element)
        cJSON_AddStringToObject(json, "element", json_text(element, "name"));
    else
        cJSON_AddNullToObject(json, "element");
    add_number_or_null(json, "iteration", a->pc >= 0 ? (double)a->iteration : -1);
}

static cJSON *adaptation_json(const epop_job_t *job, const epop_adaptation_t *a, const cJSON *records,
                              const cJSON *elements)
{
    struct rows rows = rows_of(a->id, records);
    bool committed = !strcmp(a->state, "committed");
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "id", a->id);
    cJSON_AddNumberToObject(json, "from", a->from);
    cJSON_AddNumberToObject(json, "to", a->to);
    if (a->balance)
        cJSON_AddTrueToObject(json, "balance");
    if (a->imbalance > 0)
        cJSON_AddNumberToObject(json, "imbalance", a->imbalance);
    cJSON_AddStringToObject(json, "by", a->by);
    cJSON_AddStringToObject(json, "state", a->state);
    add_place_of_adaptation(json, a, elements);
    cJSON_AddItemToObject(json, "reason", a->reason[0] ? cJSON_CreateString(a->reason) : cJSON_CreateNull());
    cJSON_AddItemToObject(json, "times", times_json(job, a, &rows));
    add_number_or_null(json, "stall", committed ? a->stall : -1);
    add_number_or_null(json, "init_time", largest_of_rows(&rows, "init", -1));
    cJSON_AddItemToObject(json, "adapt_time", sums_json(&rows, "time"));
    cJSON_AddItemToObject(json, "mpi_time", sums_json(&rows, "mpi"));
    cJSON_AddItemToObject(json, "bytes", bytes_json(&rows));
    cJSON_AddItemToObject(json, "traffic", traffic_json(&rows));
    cJSON_AddItemToObject(json, "arrays", arrays_json(&rows));
    free(rows.rows);
    free(rows.processes);
    return json;
}

/* records: parsed, with "process"; elements: of the program's structure. */
static cJSON *adaptation_list_json(const epop_job_t *job, const cJSON *records, const cJSON *elements)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < job->adaptation_count; i++)
        cJSON_AddItemToArray(list, adaptation_json(job, &job->adaptations[i], records, elements));
    return list;
}

static void add_world_size(cJSON *list, const epop_job_t *job, double time, int size)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "time", time > job->started ? time - job->started : 0);
    cJSON_AddNumberToObject(json, "size", size);
    cJSON_AddItemToArray(list, json);
}

static cJSON *world_history_json(const epop_job_t *job)
{
    cJSON *list = cJSON_CreateArray();
    add_world_size(list, job, job->started, job->size);
    for (int i = 0; i < job->adaptation_count; i++)
        if (!strcmp(job->adaptations[i].state, "committed") && job->adaptations[i].from != job->adaptations[i].to)
            add_world_size(list, job, job->adaptations[i].committed, job->adaptations[i].to);
    return list;
}

static cJSON *refusals_json(const epop_job_t *job)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < job->refusal_count; i++) {
        double time = job->refusals[i].time;
        cJSON *json = cJSON_CreateObject();
        cJSON_AddNumberToObject(json, "time", time > job->started ? time - job->started : 0);
        cJSON_AddStringToObject(json, "reason", job->refusals[i].reason);
        cJSON_AddItemToArray(list, json);
    }
    return list;
}

static cJSON *checkpoints_json(const epop_job_t *job, const cJSON *elements)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < job->checkpoint_count; i++) {
        const epop_checkpoint_t *one = &job->checkpoints[i];
        cJSON *json = cJSON_CreateObject();
        cJSON_AddNumberToObject(json, "number", one->number);
        cJSON_AddStringToObject(json, "level", one->level);
        cJSON_AddItemToObject(json, "path", one->path[0] ? cJSON_CreateString(one->path) : cJSON_CreateNull());
        cJSON_AddNumberToObject(json, "time", one->time > job->started ? one->time - job->started : 0);
        cJSON_AddNumberToObject(json, "pc", one->pc);
        cJSON_AddStringToObject(json, "element", json_text(cJSON_GetArrayItem(elements, one->pc), "name"));
        cJSON_AddNumberToObject(json, "iteration", (double)one->iteration);
        cJSON_AddNumberToObject(json, "bytes", (double)one->bytes);
        cJSON_AddNumberToObject(json, "seconds", one->seconds);
        cJSON_AddNumberToObject(json, "stall", one->stall);
        cJSON_AddItemToArray(list, json);
    }
    return list;
}

/* ---- All records -------------------------------------------------------------------------------- */

/* What the records of one job are merged into. */
struct merge {
    const epop_job_t *job;
    cJSON *records;         /* parsed, with the number of their process */
    const cJSON *structure; /* of each element */
    int elements;
    struct world **worlds; /* by pc */
    struct known_loops loops;
};

static cJSON *parse_records(const epop_job_t *job)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < job->record_count; i++) {
        cJSON *record = cJSON_Parse(job->records[i].text);
        if (record)
            cJSON_AddNumberToObject(record, "process", job->records[i].process);
        cJSON_AddItemToArray(list, record);
    }
    return list;
}

static struct world *world_of_element(struct merge *m, int pc, int size)
{
    struct world *world = world_at(&m->worlds[pc], size);
    if (world && cJSON_HasObjectItem(cJSON_GetArrayItem(m->structure, pc), "scaling"))
        world->work = size;
    return world;
}

static void add_cells(struct merge *m)
{
    const cJSON *record, *cell;
    cJSON_ArrayForEach(record, m->records)
    {
        cJSON_ArrayForEach(cell, cJSON_GetObjectItemCaseSensitive(record, "cells"))
        {
            int pc = json_int(cell, "pc", -1), size = json_int(cell, "size", 0);
            struct world *world = pc >= 0 && pc < m->elements && size > 0 ? world_of_element(m, pc, size) : NULL;
            if (!world)
                continue;
            world_add(world, cell);
            add_loops(&m->loops, world, record, cell);
        }
    }
}

/* ---- The elements ------------------------------------------------------------------------------- */

static cJSON *profile_elements_json(const struct merge *m, const cJSON *elements)
{
    cJSON *list = cJSON_Duplicate(elements, 1), *element;
    int pc = 0;
    cJSON_ArrayForEach(element, list)
    {
        cJSON *worlds = cJSON_AddArrayToObject(element, "worlds");
        for (const struct world *world = m->worlds[pc]; world; world = world->next)
            cJSON_AddItemToArray(worlds, world_json(&m->loops, world, m->worlds[pc]));
        pc++;
    }
    return list;
}

/* ---- Efficiency of the job ---------------------------------------------------------------------- */

static const struct world *world_of_size(const struct world *worlds, int size)
{
    while (worlds && worlds->size < size)
        worlds = worlds->next;
    return worlds && worlds->size == size ? worlds : NULL;
}

/* The next size above `size` at which any phase made iterations; 0: none. */
static int next_size(const struct merge *m, int size)
{
    int next = 0;
    for (int pc = 0; pc < m->elements; pc++)
        for (const struct world *world = m->worlds[pc]; world; world = world->next)
            if (world->size > size && world_iterations(world) > 0 && (!next || world->size < next))
                next = world->size;
    return next;
}

/* What the work of the iterations at `size` would have taken in the smallest world, over what they took: of the phases
 * that made iterations in both. -1: none did. */
static double job_speedup(const struct merge *m, int smallest, int size)
{
    double there = 0, here = 0;
    for (int pc = 0; pc < m->elements; pc++) {
        const struct world *a = world_of_size(m->worlds[pc], smallest), *b = world_of_size(m->worlds[pc], size);
        if (!a || !b || world_seconds(a) <= 0 || world_seconds(b) <= 0)
            continue;
        there += world_iterations(b) * b->work * work_seconds(a);
        here += world_mean(b);
    }
    return here > 0 ? there / here : -1;
}

static double time_in_phases(const struct merge *m, int size)
{
    double time = 0;
    for (int pc = 0; pc < m->elements; pc++) {
        const struct world *world = world_of_size(m->worlds[pc], size);
        if (world && world_iterations(world) > 0)
            time += world_mean(world);
    }
    return time;
}

static cJSON *efficiency_json(const struct merge *m)
{
    cJSON *list = cJSON_CreateArray();
    int smallest = next_size(m, 0);
    for (int size = smallest; size; size = next_size(m, size)) {
        double speedup = job_speedup(m, smallest, size);
        cJSON *one = cJSON_CreateObject();
        cJSON_AddNumberToObject(one, "size", size);
        cJSON_AddNumberToObject(one, "time", time_in_phases(m, size));
        add_number_or_null(one, "speedup", speedup);
        add_number_or_null(one, "efficiency", speedup >= 0 ? speedup * smallest / size : -1);
        cJSON_AddItemToArray(list, one);
    }
    return list;
}

/* ---- Processes ---------------------------------------------------------------------------------- */

/* Clocks of hosts differ: nothing was before the start. */
static double since_start(const epop_job_t *job, double time)
{
    return time > job->started ? time - job->started : 0;
}

static cJSON *part_json(const epop_job_t *job, const cJSON *part)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "rank", cJSON_GetNumberValue(cJSON_GetArrayItem(part, 0)));
    cJSON_AddNumberToObject(json, "size", cJSON_GetNumberValue(cJSON_GetArrayItem(part, 1)));
    cJSON_AddNumberToObject(json, "begin", since_start(job, cJSON_GetNumberValue(cJSON_GetArrayItem(part, 2))));
    cJSON_AddNumberToObject(json, "end", since_start(job, cJSON_GetNumberValue(cJSON_GetArrayItem(part, 3))));
    return json;
}

/* A process that came back has a record for each time; they follow each other. */
static cJSON *processes_json(const struct merge *m)
{
    cJSON *list = cJSON_CreateArray(), *last = NULL;
    const cJSON *record, *part;
    int process = -1;
    cJSON_ArrayForEach(record, m->records)
    {
        if (!last || json_int(record, "process", 0) != process) {
            process = json_int(record, "process", 0);
            last = cJSON_CreateObject();
            cJSON_AddNumberToObject(last, "process", process);
            cJSON_AddStringToObject(last, "host", json_text(record, "host"));
            cJSON_AddNumberToObject(last, "pid", json_int(record, "pid", 0));
            cJSON_AddArrayToObject(last, "ranks");
            cJSON_AddItemToArray(list, last);
        }
        cJSON *parts = cJSON_GetObjectItemCaseSensitive(last, "ranks");
        cJSON_ArrayForEach(part, cJSON_GetObjectItemCaseSensitive(record, "ranks"))
        {
            cJSON_AddItemToArray(parts, part_json(m->job, part));
        }
    }
    return list;
}

/* ---- The whole profile -------------------------------------------------------------------------- */

static cJSON *program_json(const epop_job_t *job, const cJSON *structure)
{
    static const char *const keys[] = {"name", "abi_version", "finalizer", "sizes"};
    cJSON *json = cJSON_CreateObject();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        cJSON_AddItemToObject(json, keys[i], cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(structure, keys[i]), 1));
    cJSON_AddStringToObject(json, "path", job->path);
    return json;
}

static void add_text_or_null(cJSON *object, const char *key, const char *text)
{
    if (text)
        cJSON_AddStringToObject(object, key, text);
    else
        cJSON_AddNullToObject(object, key);
}

static void add_end(cJSON *profile, const epop_job_t *job)
{
    char text[700];
    const char *reason = job->reason;
    if (job->end == EPOP_JOB_RUNNING)
        reason = "the job was still running: it has been killed if it is not any more";
    if (job->end == EPOP_JOB_STOPPED) {
        snprintf(text, sizeof text, "stopped by %s", job->reason);
        reason = text;
    }
    cJSON_AddBoolToObject(profile, "partial", job->end != EPOP_JOB_ENDED);
    add_text_or_null(profile, "reason", reason);
}

static void add_head(cJSON *profile, const epop_job_t *job, const cJSON *structure, const char *mpi)
{
    cJSON_AddStringToObject(profile, "schema", "epop.profile");
    cJSON_AddNumberToObject(profile, "version", 2);
    cJSON_AddStringToObject(profile, "job", job->id);
    cJSON_AddItemToObject(profile, "program", program_json(job, structure));
    cJSON_AddStringToObject(profile, "epop", EPOP_VERSION);
    add_text_or_null(profile, "backend", job->backend);
    add_text_or_null(profile, "mpi", mpi);
    cJSON_AddNumberToObject(profile, "started", job->started);
    cJSON_AddNumberToObject(profile, "duration", since_start(job, job->now));
    add_end(profile, job);
}

cJSON *merge_profile(const epop_job_t *job, const cJSON *structure, const char *mpi)
{
    struct merge m = {.job = job, .records = parse_records(job)};
    const cJSON *elements = cJSON_GetObjectItemCaseSensitive(structure, "elements");
    m.structure = elements;
    m.elements = cJSON_GetArraySize(elements);
    m.worlds = calloc((size_t)m.elements + 1, sizeof *m.worlds);
    cJSON *profile = cJSON_CreateObject();
    if (m.worlds) {
        add_cells(&m);
        add_head(profile, job, structure, mpi);
        cJSON_AddItemToObject(profile, "world", world_history_json(job));
        cJSON_AddItemToObject(profile, "processes", processes_json(&m));
        cJSON_AddItemToObject(profile, "elements", profile_elements_json(&m, elements));
        cJSON_AddItemToObject(profile, "adaptations", adaptation_list_json(job, m.records, elements));
        cJSON_AddItemToObject(profile, "refusals", refusals_json(job));
        output_add_recoveries(profile, job);
        cJSON_AddItemToObject(profile, "checkpoints", checkpoints_json(job, elements));
        cJSON_AddItemToObject(profile, "efficiency", efficiency_json(&m));
    }
    for (int pc = 0; m.worlds && pc < m.elements; pc++)
        worlds_free(m.worlds[pc]);
    free(m.worlds);
    free(m.loops.list);
    cJSON_Delete(m.records);
    return profile;
}
