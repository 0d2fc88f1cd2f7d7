/* The profile of a job: see merge.h. */
#include "driver/profile/merge.h"

#include <stdio.h>
#include <stdlib.h>

#include "driver/common/recoveries.h"
#include "driver/profile/adaptations.h"
#include "driver/profile/sums.h"
#include "runtime/base/json.h"

/* What the records of one job are merged into. */
struct merge {
    const epop_job_t *job;
    cJSON *records; /* parsed, with the number of their process */
    int elements;
    struct world **worlds; /* by pc */
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

static void add_cells(struct merge *m)
{
    const cJSON *record, *cell;
    cJSON_ArrayForEach(record, m->records)
    {
        cJSON_ArrayForEach(cell, cJSON_GetObjectItemCaseSensitive(record, "cells"))
        {
            int pc = json_int(cell, "pc", -1), size = json_int(cell, "size", 0);
            struct world *world = pc >= 0 && pc < m->elements && size > 0 ? world_at(&m->worlds[pc], size) : NULL;
            if (world)
                world_add(world, cell);
        }
    }
}

/* ---- Elements ------------------------------------------------------------------------------ */

/* Of the smallest size at which it made iterations. */
static const struct world *first_world(const struct world *worlds)
{
    while (worlds && world_seconds(worlds) <= 0)
        worlds = worlds->next;
    return worlds;
}

static cJSON *elements_json(const struct merge *m, const cJSON *elements)
{
    cJSON *list = cJSON_Duplicate(elements, 1), *element;
    int pc = 0;
    cJSON_ArrayForEach(element, list)
    {
        cJSON *worlds = cJSON_AddArrayToObject(element, "worlds");
        const struct world *first = first_world(m->worlds[pc]);
        for (const struct world *world = m->worlds[pc]; world; world = world->next)
            cJSON_AddItemToArray(worlds, world_json(world, first));
        pc++;
    }
    return list;
}

/* ---- Efficiency of the job ------------------------------------------------------------------- */

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

/* What the iterations at `size` would have taken in the smallest world, over what they took: of the phases that made
 * iterations in both. -1: none did. */
static double job_speedup(const struct merge *m, int smallest, int size)
{
    double there = 0, here = 0;
    for (int pc = 0; pc < m->elements; pc++) {
        const struct world *a = world_of_size(m->worlds[pc], smallest), *b = world_of_size(m->worlds[pc], size);
        if (!a || !b || world_seconds(a) <= 0 || world_seconds(b) <= 0)
            continue;
        there += world_iterations(b) * world_seconds(a);
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

/* ---- All ------------------------------------------------------------------------------------------ */

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
    m.elements = cJSON_GetArraySize(elements);
    m.worlds = calloc((size_t)m.elements + 1, sizeof *m.worlds);
    cJSON *profile = cJSON_CreateObject();
    if (m.worlds) {
        add_cells(&m);
        add_head(profile, job, structure, mpi);
        cJSON_AddItemToObject(profile, "world", world_history_json(job));
        cJSON_AddItemToObject(profile, "processes", processes_json(&m));
        cJSON_AddItemToObject(profile, "elements", elements_json(&m, elements));
        cJSON_AddItemToObject(profile, "adaptations", adaptations_json(job, m.records, elements));
        cJSON_AddItemToObject(profile, "refusals", refusals_json(job));
        recoveries_add(profile, job);
        cJSON_AddItemToObject(profile, "checkpoints", checkpoints_json(job, elements));
        cJSON_AddItemToObject(profile, "efficiency", efficiency_json(&m));
    }
    for (int pc = 0; m.worlds && pc < m.elements; pc++)
        worlds_free(m.worlds[pc]);
    free(m.worlds);
    cJSON_Delete(m.records);
    return profile;
}
