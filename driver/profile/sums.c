/* Sums over ranks: see sums.h. */
#include "driver/profile/sums.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/base/json.h"

struct world *world_at(struct world **list, int size)
{
    while (*list && (*list)->size < size)
        list = &(*list)->next;
    if (*list && (*list)->size == size)
        return *list;
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
                            .loop = numbers,
                            .mpi = numbers + size,
                            .visits = numbers + 2 * size,
                            .iterations = numbers + 3 * size,
                            .functions = cJSON_CreateObject(),
                            .next = *list};
    *list = world;
    return world;
}

void worlds_free(struct world *list)
{
    while (list) {
        struct world *next = list->next;
        cJSON_Delete(list->functions);
        free(list->loop);
        free(list);
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

static void add_to(double *sum, double more)
{
    *sum = *sum < 0 ? more : *sum + more;
}

/* Several processes may have been the same rank, one after the other. */
void world_add(struct world *world, const cJSON *cell)
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
    add_to(&world->loop[rank], json_number(cell, "time", 0));
    add_to(&world->mpi[rank], seconds);
    add_to(&world->visits[rank], json_number(cell, "visits", 0));
    add_to(&world->iterations[rank], json_number(cell, "iterations", 0));
}

/* ---- Over ranks ------------------------------------------------------------------------ */

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

cJSON *over_ranks_json(const double *values, int count)
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

double world_mean(const struct world *world)
{
    return over_ranks(world->loop, world->size).mean;
}

double world_iterations(const struct world *world)
{
    return over_ranks(world->iterations, world->size).max;
}

double world_seconds(const struct world *world)
{
    double iterations = world_iterations(world);
    return iterations > 0 ? world_mean(world) / iterations : 0;
}

/* The largest of the ranks' times outside MPI, divided by their mean; -1: there is no such time. */
static double imbalance(const struct world *world)
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

/* ---- JSON --------------------------------------------------------------------------------- */

void add_number_or_null(cJSON *object, const char *key, double value)
{
    if (value >= 0)
        cJSON_AddNumberToObject(object, key, value);
    else
        cJSON_AddNullToObject(object, key);
}

static double seconds_of(const cJSON *sums)
{
    return cJSON_GetNumberValue(cJSON_GetArrayItem(sums, 1));
}

/* Moves the function with the most time, of those that are left, to the list. */
static void move_largest(cJSON *functions, cJSON *list)
{
    cJSON *largest = functions->child, *sums;
    cJSON_ArrayForEach(sums, functions)
    {
        if (seconds_of(sums) > seconds_of(largest))
            largest = sums;
    }
    cJSON *one = cJSON_CreateObject();
    cJSON_AddStringToObject(one, "function", largest->string);
    cJSON_AddNumberToObject(one, "calls", cJSON_GetNumberValue(cJSON_GetArrayItem(largest, 0)));
    cJSON_AddNumberToObject(one, "time", seconds_of(largest));
    cJSON_AddItemToArray(list, one);
    cJSON_Delete(cJSON_DetachItemViaPointer(functions, largest));
}

static cJSON *functions_json(const struct world *world)
{
    cJSON *list = cJSON_CreateArray(), *functions = cJSON_Duplicate(world->functions, 1);
    while (functions && functions->child)
        move_largest(functions, list);
    cJSON_Delete(functions);
    return list;
}

cJSON *world_json(const struct world *world, const struct world *first)
{
    double loop = over_ranks(world->loop, world->size).total, mpi = over_ranks(world->mpi, world->size).total;
    double seconds = world_seconds(world);
    double speedup = first && seconds > 0 ? world_seconds(first) / seconds : -1;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "size", world->size);
    cJSON_AddNumberToObject(json, "visits", over_ranks(world->visits, world->size).max);
    cJSON_AddNumberToObject(json, "iterations", world_iterations(world));
    cJSON_AddItemToObject(json, "loop_time", over_ranks_json(world->loop, world->size));
    cJSON_AddItemToObject(json, "mpi_time", over_ranks_json(world->mpi, world->size));
    add_number_or_null(json, "mpi_share", loop > 0 ? fmin(mpi / loop, 1) : -1);
    add_number_or_null(json, "mtct", loop > mpi ? mpi / (loop - mpi) : -1);
    add_number_or_null(json, "imbalance", imbalance(world));
    add_number_or_null(json, "iterations_per_second", seconds > 0 ? 1 / seconds : -1);
    add_number_or_null(json, "speedup", speedup);
    add_number_or_null(json, "efficiency", speedup >= 0 ? speedup * first->size / world->size : -1);
    cJSON_AddItemToObject(json, "mpi", functions_json(world));
    return json;
}
