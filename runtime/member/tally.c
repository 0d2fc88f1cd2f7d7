/* Iterations and their time, by element. */
#include "runtime/member/tally.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"

void tally_init(struct tally *tally)
{
    *tally = (struct tally){0};
    pthread_mutex_init(&tally->lock, NULL);
}

void epop__tally_open(struct tally *tally, int elements)
{
    pthread_mutex_lock(&tally->lock);
    free(tally->cells);
    tally->cells = calloc((size_t)elements, sizeof *tally->cells);
    tally->elements = tally->cells ? elements : 0;
    tally->on = false;
    pthread_mutex_unlock(&tally->lock);
}

void epop__tally_close(struct tally *tally)
{
    pthread_mutex_lock(&tally->lock);
    free(tally->cells);
    tally->cells = NULL;
    tally->elements = 0;
    tally->on = false;
    pthread_mutex_unlock(&tally->lock);
}

/* What was in the cells was told where the ranks came together. */
void epop__tally_begin(struct tally *tally, const epop_position_t *at)
{
    pthread_mutex_lock(&tally->lock);
    if (tally->cells && (at->rank != tally->rank || at->size != tally->size))
        memset(tally->cells, 0, (size_t)tally->elements * sizeof *tally->cells);
    tally->rank = at->rank;
    tally->size = at->size;
    tally->pc = at->pc;
    tally->iteration = at->iteration;
    tally->on = tally->cells && at->pc >= 0 && at->pc < tally->elements;
    tally->first = at->iteration;
    tally->since = tally->begun = monotonic_seconds();
    pthread_mutex_unlock(&tally->lock);
}

/* With the lock held. */
static void book(struct tally *tally, int64_t iteration)
{
    struct tally_cell *cell = &tally->cells[tally->pc];
    double now = monotonic_seconds();
    if (iteration > tally->iteration) {
        cell->iterations += iteration - tally->iteration;
        tally->iteration = iteration;
    }
    cell->seconds += now - tally->since;
    tally->since = now;
}

void epop__tally_end(struct tally *tally, int64_t iteration)
{
    pthread_mutex_lock(&tally->lock);
    if (tally->on)
        book(tally, iteration);
    tally->on = false;
    pthread_mutex_unlock(&tally->lock);
}

/* Takes the cells that have an iteration: time alone waits for the iteration that it is of. With the lock held. */
static cJSON *take(struct tally *tally)
{
    cJSON *list = cJSON_CreateArray();
    for (int pc = 0; pc < tally->elements; pc++) {
        struct tally_cell *cell = &tally->cells[pc];
        if (cell->iterations <= 0)
            continue;
        cJSON *json = cJSON_CreateObject();
        cJSON_AddNumberToObject(json, "pc", pc);
        cJSON_AddNumberToObject(json, "iterations", (double)cell->iterations);
        cJSON_AddNumberToObject(json, "seconds", cell->seconds);
        cJSON_AddItemToArray(list, json);
        *cell = (struct tally_cell){0};
    }
    return list;
}

void tally_tell(struct tally *tally, const _Atomic int64_t *iteration, cJSON *message)
{
    pthread_mutex_lock(&tally->lock);
    if (tally->cells && tally->rank == 0) {
        if (tally->on)
            book(tally, atomic_load_explicit(iteration, memory_order_relaxed));
        cJSON *json = cJSON_AddObjectToObject(message, "tally");
        cJSON_AddNumberToObject(json, "size", tally->size);
        cJSON_AddItemToObject(json, "elements", take(tally));
    }
    pthread_mutex_unlock(&tally->lock);
}

double tally_pace(struct tally *tally, const _Atomic int64_t *iteration)
{
    double pace = 0;
    pthread_mutex_lock(&tally->lock);
    int64_t made = atomic_load_explicit(iteration, memory_order_relaxed) - tally->first;
    if (tally->on && made > 0)
        pace = (monotonic_seconds() - tally->begun) / (double)made;
    pthread_mutex_unlock(&tally->lock);
    return pace;
}
