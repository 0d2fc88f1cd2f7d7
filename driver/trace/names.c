/* Processes have the same loops: each is asked for once. */
#include "driver/trace/names.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/places.h"

struct trace_names {
    int processes;
    cJSON *loops;             /* each once, with a "name" */
    cJSON *(*of)[LOOPS_LAPS]; /* by process, by lap; NULL: there is no such loop */
};

static void add_place(cJSON *json, const char *key, const struct trace_header *p, struct trace_place place)
{
    char text[TRACE_FILE_MAX + 24];
    if (place.file >= TRACE_FILES)
        return;
    snprintf(text, sizeof text, "%.*s+%#" PRIx64, TRACE_FILE_MAX - 1, p->files[place.file], place.offset);
    cJSON_AddStringToObject(json, key, text);
}

static void add_site(cJSON *json, const char *key, const struct trace_header *p, const struct trace_site *site)
{
    cJSON *object = cJSON_AddObjectToObject(json, key);
    add_place(object, "place", p, site->call);
    add_place(object, "from", p, site->caller);
}

static cJSON *loop_json(const struct trace_header *p, const struct trace_loop *loop)
{
    cJSON *json = cJSON_CreateObject();
    add_site(json, "head", p, &loop->head);
    add_site(json, "tail", p, &loop->tail);
    return json;
}

/* The same one of those that are there, or this one from now on. */
static cJSON *keep_once(cJSON *loops, cJSON *loop)
{
    cJSON *other;
    cJSON_ArrayForEach(other, loops)
    {
        if (!cJSON_Compare(other, loop, true))
            continue;
        cJSON_Delete(loop);
        return other;
    }
    cJSON_AddItemToArray(loops, loop);
    return loop;
}

static void name_all(cJSON *loops)
{
    char name[PLACES_NAME];
    cJSON *loop;
    places_name_loops(loops);
    cJSON_ArrayForEach(loop, loops) cJSON_AddStringToObject(loop, "name", places_loop_name(loop, name));
}

struct trace_names *names_read(const struct trace_buffers *all)
{
    struct trace_names *names = calloc(1, sizeof *names);
    if (!names)
        return NULL;
    names->loops = cJSON_CreateArray();
    names->of = calloc((size_t)all->count + 1, sizeof *names->of);
    names->processes = names->of ? all->count : 0;
    for (int i = 0; i < names->processes; i++)
        for (int lap = 0; lap < LOOPS_LAPS; lap++)
            if (all->buffers[i]->loops[lap].known)
                names->of[i][lap] = keep_once(names->loops, loop_json(all->buffers[i], &all->buffers[i]->loops[lap]));
    name_all(names->loops);
    return names;
}

const char *names_of(const struct trace_names *names, int process, int lap)
{
    const cJSON *loop = names && process < names->processes && lap < LOOPS_LAPS ? names->of[process][lap] : NULL;
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(loop, "name"));
    return name ? name : "loop";
}

void names_free(struct trace_names *names)
{
    if (!names)
        return;
    cJSON_Delete(names->loops);
    free(names->of);
    free(names);
}
