/* Sums since they were told last: see measured.h. */
#include "runtime/coordinator/measured.h"

#include <stdlib.h>

#include "runtime/base/array.h"
#include "runtime/base/json.h"
#include "runtime/wire/messages.h"

void measured_forget(struct measured_told *told)
{
    free(told->sums);
    *told = (struct measured_told){0};
}

void measured_free(struct measured *measured)
{
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

int measured_add(struct measured *measured, struct measured_told *told, const struct shape_gauge_element *e, int size)
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
    struct measured_element *element = place_of(measured, now.pc, now.size);
    if (!element)
        return -1;
    spread_from_message(&mtct, e->mtct);
    spread_merge(&element->mtct, &mtct);
    element->ranks++;
    element->all_iterations += iterations;
    if (iterations > element->sums.iterations)
        element->sums.iterations = iterations;
    element->sums.loop += now.loop - before.loop;
    element->sums.mpi += now.mpi - before.mpi;
    return 0;
}

/* By program order, then by size. */
static int compare(const void *one, const void *other)
{
    const struct measured_element *a = one, *b = other;
    return a->sums.pc != b->sums.pc ? a->sums.pc - b->sums.pc : a->sums.size - b->sums.size;
}

static cJSON *element_json(const struct measured_element *element, const char *name)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "pc", element->sums.pc);
    cJSON_AddStringToObject(json, "name", name);
    cJSON_AddNumberToObject(json, "size", element->sums.size);
    cJSON_AddNumberToObject(json, "ranks", element->ranks);
    cJSON_AddNumberToObject(json, "iterations", (double)element->sums.iterations);
    if (element->sums.loop > 0)
        cJSON_AddNumberToObject(json, "rate", (double)element->all_iterations / element->sums.loop);
    cJSON_AddNumberToObject(json, "loop_seconds", element->sums.loop);
    cJSON_AddNumberToObject(json, "mpi_seconds", element->sums.mpi);
    cJSON_AddItemToObject(json, "mtct", spread_json(&element->mtct));
    return json;
}

cJSON *measured_json(const struct measured *measured, const char *(*name)(const void *context, int pc),
                     const void *context)
{
    cJSON *list = cJSON_CreateArray();
    if (measured->count)
        qsort(measured->elements, measured->count, sizeof *measured->elements, compare);
    for (size_t i = 0; i < measured->count; i++)
        cJSON_AddItemToArray(list, element_json(&measured->elements[i], name(context, measured->elements[i].sums.pc)));
    return list;
}
