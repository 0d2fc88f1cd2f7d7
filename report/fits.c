/* Fits Amdahl's law to what a profile measured: of the whole program, and of each element. */
#include "report/fits.h"

#include <stdlib.h>

#include "report/amdahl.h"

static double number_in(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

/* Time of a rank per iteration, 0 where there was none. */
static double time_of_iteration(const cJSON *world)
{
    double iterations = number_in(world, "iterations");
    return iterations > 0 ? number_in(cJSON_GetObjectItemCaseSensitive(world, "loop_time"), "mean") / iterations : 0;
}

/* What the same work took, in times of the smallest world. */
static double time_of_job(const cJSON *entry)
{
    double speedup = number_in(entry, "speedup");
    return speedup > 0 ? 1 / speedup : 0;
}

static int is_seen(const struct amdahl_point *points, size_t count, int size)
{
    for (size_t i = 0; i < count; i++)
        if (points[i].size == size)
            return 1;
    return 0;
}

static size_t collect_points(const cJSON *entries, double (*time_of)(const cJSON *), struct amdahl_point *points)
{
    size_t count = 0;
    const cJSON *entry;
    cJSON_ArrayForEach(entry, entries)
    {
        struct amdahl_point point = {.size = (int)number_in(entry, "size"), .time = time_of(entry)};
        if (point.size > 0 && point.time > 0 && !is_seen(points, count, point.size))
            points[count++] = point;
    }
    return count;
}

/* A number, or null where there is no fit. */
static int add_of_fit(cJSON *json, const char *key, const struct amdahl *fit, double value)
{
    return fit->kind == AMDAHL_NONE ? cJSON_AddNullToObject(json, key) != NULL
                                    : cJSON_AddNumberToObject(json, key, value) != NULL;
}

static cJSON *fit_of(const cJSON *entries, double (*time_of)(const cJSON *))
{
    struct amdahl_point *points = calloc((size_t)cJSON_GetArraySize(entries) + 1, sizeof *points);
    cJSON *json = cJSON_CreateObject();
    struct amdahl fit;
    char verdict[160];
    if (points == NULL || json == NULL)
        goto fail;
    size_t count = collect_points(entries, time_of, points);
    amdahl_fit(points, count, &fit);
    amdahl_verdict(&fit, count, verdict, sizeof verdict);
    if (!cJSON_AddNumberToObject(json, "points", (double)count) || !add_of_fit(json, "serial", &fit, fit.serial) ||
        !add_of_fit(json, "parallel", &fit, fit.parallel) || !add_of_fit(json, "fraction", &fit, fit.fraction) ||
        !add_of_fit(json, "deviation", &fit, fit.deviation) || !cJSON_AddStringToObject(json, "verdict", verdict))
        goto fail;
    free(points);
    return json;
fail:
    free(points);
    cJSON_Delete(json);
    return NULL;
}

/* Appends an element's fit, if it made iterations. */
static int add_fit_of_element(cJSON *list, const cJSON *element)
{
    cJSON *fit = fit_of(cJSON_GetObjectItemCaseSensitive(element, "worlds"), time_of_iteration);
    if (fit == NULL)
        return -1;
    if (number_in(fit, "points") > 0) {
        if (cJSON_AddNumberToObject(fit, "pc", number_in(element, "pc")) && cJSON_AddItemToArray(list, fit))
            return 0;
        cJSON_Delete(fit);
        return -1;
    }
    cJSON_Delete(fit);
    return 0;
}

cJSON *fits_of(const cJSON *profile)
{
    cJSON *fits = cJSON_CreateObject();
    cJSON *program = fit_of(cJSON_GetObjectItemCaseSensitive(profile, "efficiency"), time_of_job);
    if (!cJSON_AddItemToObject(fits, "program", program)) {
        cJSON_Delete(program);
        goto fail;
    }
    cJSON *list = cJSON_AddArrayToObject(fits, "elements");
    if (list == NULL)
        goto fail;
    const cJSON *element;
    cJSON_ArrayForEach(element, cJSON_GetObjectItemCaseSensitive(profile, "elements"))
    {
        if (add_fit_of_element(list, element) != 0)
            goto fail;
    }
    return fits;
fail:
    cJSON_Delete(fits);
    return NULL;
}
