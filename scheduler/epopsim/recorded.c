/* Reading what --output wrote: see recorded.h. */
#include "scheduler/epopsim/recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/json.h"
#include "scheduler/workload/input.h"

static int read_runs(struct recorded *recorded, const cJSON *runs, struct error *error)
{
    struct error why;
    recorded->runs = calloc((size_t)cJSON_GetArraySize(runs), sizeof *recorded->runs);
    if (!recorded->runs)
        return error_memory(error);
    for (const cJSON *run = runs->child; run; run = run->next, recorded->count++)
        if (schedule_read(&recorded->runs[recorded->count], run, &why))
            return error_set(error, ERROR_REFUSED, "%s: runs[%zu]: %s", recorded->path, recorded->count, why.text);
    return 0;
}

/* Metrics alone have runs, too. */
static bool is_schedule(const cJSON *json, const cJSON *runs)
{
    const char *schema = json_text(json, "schema");
    return schema && !strcmp(schema, "epop.schedule") && cJSON_IsArray(runs) && runs->child;
}

int recorded_read(struct recorded *recorded, const char *path, struct error *error)
{
    struct input input;
    *recorded = (struct recorded){.path = path};
    if (input_read(&input, path, error))
        return -1;
    cJSON *json = cJSON_ParseWithLength(input.text, input.size);
    const cJSON *runs = cJSON_GetObjectItemCaseSensitive(json, "runs");
    int failed = is_schedule(json, runs)
                     ? read_runs(recorded, runs, error)
                     : error_set(error, ERROR_REFUSED,
                                 "%s: is no recorded run: give a file that `epopsim --output FILE` wrote", path);
    cJSON_Delete(json);
    input_free(&input);
    return failed;
}

void recorded_free(struct recorded *recorded)
{
    for (size_t i = 0; i < recorded->count; i++)
        schedule_free(&recorded->runs[i]);
    free(recorded->runs);
    *recorded = (struct recorded){0};
}

int recorded_policies(const struct recorded *recorded, char ***words, size_t *count, size_t *room, struct error *error)
{
    for (size_t i = 0; i < recorded->count; i++) {
        const struct schedule *run = &recorded->runs[i];
        char *word;
        if (array_reserve(words, room, *count + 1, sizeof **words) ||
            asprintf(&word, "%s%s%s", run->policy, run->options[0] ? "," : "", run->options) < 0)
            return error_memory(error);
        (*words)[(*count)++] = word;
    }
    return 0;
}

/* "upper=0.2" of "ers,upper=0.2". */
static const char *options_of(const char *spec)
{
    const char *comma = strchr(spec, ',');
    return comma ? comma + 1 : "";
}

int recorded_find(const struct recorded *recorded, const char *name, const char *spec, const struct schedule **run,
                  struct error *error)
{
    for (size_t i = 0; i < recorded->count; i++)
        if (!strcmp(recorded->runs[i].policy, name) && !strcmp(recorded->runs[i].options, options_of(spec))) {
            *run = &recorded->runs[i];
            return 0;
        }
    return error_set(error, ERROR_REFUSED, "policy %s: %s has no run of it with these options", spec, recorded->path);
}
