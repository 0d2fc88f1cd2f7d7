/* The record of a process, as it travels to process 0; merge.c reads it. */
#include "driver/profile/cells.h"

#include <unistd.h>

#include "interpose/interpose.h"
#include "runtime/base/host.h"

/* By name: numbers of functions depend on the mpi.h that each was built with. */
static cJSON *calls_json(const struct call_list *list, double tick)
{
    cJSON *array = cJSON_CreateArray();
    for (int i = 0; i < list->count; i++) {
        const struct calls *calls = &list->calls[i];
        cJSON *one = cJSON_CreateArray();
        cJSON_AddItemToArray(one, cJSON_CreateString(epop__interpose_name((enum interpose_function)calls->function)));
        cJSON_AddItemToArray(one, cJSON_CreateNumber((double)calls->count));
        cJSON_AddItemToArray(one, cJSON_CreateNumber((double)calls->ticks * tick));
        cJSON_AddItemToArray(array, one);
    }
    return array;
}

static cJSON *cell_json(const struct cell *cell, double tick)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "pc", cell->pc);
    cJSON_AddNumberToObject(json, "size", cell->size);
    cJSON_AddNumberToObject(json, "rank", cell->rank);
    cJSON_AddNumberToObject(json, "visits", (double)cell->visits);
    cJSON_AddNumberToObject(json, "iterations", (double)cell->iterations);
    cJSON_AddNumberToObject(json, "time", (double)cell->ticks * tick);
    cJSON_AddItemToObject(json, "mpi", calls_json(&cell->mpi, tick));
    return json;
}

static cJSON *row_json(const struct row *row, double tick)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "id", row->id);
    cJSON_AddNumberToObject(json, "opened", row->opened);
    cJSON_AddNumberToObject(json, "time", (double)row->ticks * tick);
    cJSON_AddNumberToObject(json, "mpi", (double)row->mpi_ticks * tick);
    if (row->init_ticks >= 0)
        cJSON_AddNumberToObject(json, "init", (double)row->init_ticks * tick);
    cJSON_AddNumberToObject(json, "sent", (double)row->sent);
    cJSON_AddNumberToObject(json, "received", (double)row->received);
    cJSON_AddNumberToObject(json, "least", (double)row->least);
    cJSON_AddItemToObject(json, "to", cJSON_Duplicate(row->to, 1));
    cJSON_AddItemToObject(json, "arrays", cJSON_Duplicate(row->arrays, 1));
    return json;
}

static cJSON *part_json(const struct part *part, double now)
{
    const double numbers[] = {part->rank, part->size, part->begin, part->end > 0 ? part->end : now};
    return cJSON_CreateDoubleArray(numbers, 4);
}

cJSON *cells_json(const struct cells *cells, double tick, double now)
{
    char host[HOST_OWN_MAX] = "?";
    gethostname(host, sizeof host - 1);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "host", host);
    cJSON_AddNumberToObject(json, "pid", getpid());
    cJSON *parts = cJSON_AddArrayToObject(json, "ranks");
    for (int i = 0; i < cells->part_count; i++)
        cJSON_AddItemToArray(parts, part_json(&cells->parts[i], now));
    cJSON *list = cJSON_AddArrayToObject(json, "cells");
    for (int i = 0; i < cells->cell_count; i++)
        cJSON_AddItemToArray(list, cell_json(&cells->cells[i], tick));
    list = cJSON_AddArrayToObject(json, "adaptations");
    for (int i = 0; i < cells->row_count; i++)
        cJSON_AddItemToArray(list, row_json(&cells->rows[i], tick));
    return json;
}
