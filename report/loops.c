/* Checks what is shown, and has places named. */
#include "report/loops.h"

#include <math.h>

#include "terminal/places.h"

#define VERSION 1

static const cJSON *member(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

bool loops_is(const cJSON *json)
{
    return cJSON_IsArray(member(json, "loops")) && cJSON_IsArray(member(json, "memory")) && !member(json, "schema");
}

static bool is_number(const cJSON *object, const char *name)
{
    const cJSON *item = member(object, name);
    return cJSON_IsNumber(item) && isfinite(item->valuedouble) && item->valuedouble >= 0;
}

static bool are_numbers(const cJSON *object, const char *const *names)
{
    for (; *names; names++)
        if (!is_number(object, *names))
            return false;
    return true;
}

static bool is_site(const cJSON *site)
{
    return cJSON_IsString(member(site, "place")) && cJSON_IsString(member(site, "mpi"));
}

static bool is_loop(const cJSON *loop)
{
    static const char *const numbers[] = {"number", "size", "iterations", "loop_seconds", "mpi_seconds", NULL};
    return are_numbers(loop, numbers) && is_site(member(loop, "head")) && is_site(member(loop, "tail")) &&
           cJSON_IsString(member(loop, "ranks"));
}

static bool is_call(const cJSON *call)
{
    static const char *const numbers[] = {"visits", "mpi", NULL};
    return is_site(member(call, "site")) && are_numbers(call, numbers) && member(call, "visits")->valuedouble >= 1;
}

static bool is_step(const cJSON *step, int calls)
{
    static const char *const numbers[] = {"from", "to", "count", "seconds", NULL};
    return are_numbers(step, numbers) && member(step, "from")->valuedouble < calls &&
           member(step, "to")->valuedouble < calls;
}

/* What is wrong; NULL: nothing. */
static const char *find_problem(const cJSON *json)
{
    static const char *const numbers[] = {"began", "time", "size", NULL};
    const cJSON *graph = member(json, "graph"), *calls = member(graph, "calls"), *each;
    const cJSON *version = member(json, "version");
    if (!cJSON_IsNumber(version) || version->valuedouble != VERSION || !are_numbers(json, numbers))
        return "is no version of what executables are measured to do that this epop-report reads";
    cJSON_ArrayForEach(each, member(json, "loops"))
    {
        if (!is_loop(each))
            return "has a loop that is none";
    }
    if (graph && (!cJSON_IsArray(calls) || !cJSON_IsArray(member(graph, "steps")) || !is_number(graph, "rank") ||
                  !is_number(graph, "lost")))
        return "has a graph that is none";
    cJSON_ArrayForEach(each, calls)
    {
        if (!is_call(each))
            return "has a call in its graph that is none";
    }
    cJSON_ArrayForEach(each, member(graph, "steps"))
    {
        if (!is_step(each, cJSON_GetArraySize(calls)))
            return "has a step in its graph that is none";
    }
    return NULL;
}

static void add_names(cJSON *json)
{
    cJSON *loops = cJSON_GetObjectItemCaseSensitive(json, "loops"),
          *graph = cJSON_GetObjectItemCaseSensitive(json, "graph");
    cJSON *calls = cJSON_GetObjectItemCaseSensitive(graph, "calls"), *each;
    char name[PLACES_NAME];
    places_name_loops(loops);
    places_name_calls(calls);
    cJSON_ArrayForEach(each, loops) cJSON_AddStringToObject(each, "name", places_loop_name(each, name));
    cJSON_ArrayForEach(each, calls) cJSON_AddStringToObject(each, "name", places_site_name(member(each, "site"), name));
}

void loops_name_in_phases(cJSON *profile)
{
    char name[PLACES_NAME];
    cJSON *element, *world, *loop;
    cJSON_ArrayForEach(element, member(profile, "elements"))
    {
        cJSON_ArrayForEach(world, member(element, "worlds"))
        {
            cJSON_ArrayForEach(loop, member(world, "loops"))
                cJSON_AddStringToObject(loop, "name", places_loop_name(loop, name));
        }
    }
}

const char *loops_prepare(cJSON *json)
{
    const char *problem = find_problem(json);
    if (!problem)
        add_names(json);
    return problem;
}
