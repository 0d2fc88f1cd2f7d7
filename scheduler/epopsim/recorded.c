/* Reading what --output wrote: see recorded.h. */
#include "scheduler/epopsim/recorded.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/json.h"
#include "scheduler/simulated/schedule_json.h"
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
    recorded->json = cJSON_ParseWithLength(input.text, input.size);
    const cJSON *runs = cJSON_GetObjectItemCaseSensitive(recorded->json, "runs");
    int failed = is_schedule(recorded->json, runs)
                     ? read_runs(recorded, runs, error)
                     : error_set(error, ERROR_REFUSED,
                                 "%s: is no recorded run: give a file that `epopsim --output FILE` wrote", path);
    input_free(&input);
    return failed;
}

void recorded_free(struct recorded *recorded)
{
    for (size_t i = 0; i < recorded->count; i++)
        schedule_free(&recorded->runs[i]);
    free(recorded->runs);
    cJSON_Delete(recorded->json);
    *recorded = (struct recorded){0};
}

/* Where an option is in the file. */
static const struct setting {
    const char *object, *member, *option;
} settings[] = {
    {"workload", "jobs", "--jobs"},
    {"machine", "nodes", "--nodes"},
    {"machine", "idle_watts", "--watts, idle:"},
    {"machine", "busy_watts", "--watts, busy:"},
    {"machine", "power_cap", "--power-cap"},
    {"options", "load", "--load"},
    {"options", "malleable", "--malleable"},
    {"options", "moldable", "--moldable"},
    {"options", "limit_factor", "--limit-factor"},
    {"options", "seed", "--seed"},
    {"options", "resize_base", "--resize-cost, in all:"},
    {"options", "resize_per_node", "--resize-cost, a node:"},
    {"options", "resize_per_byte", "--resize-cost, a byte:"},
    {"options", "latency", "--latency"},
    {"options", "noise", "--noise"},
};

/* As words: "--malleable 0.5". */
static void put_option(FILE *file, const struct setting *setting, const cJSON *item, const char *how)
{
    if (cJSON_IsNumber(item))
        fprintf(file, "%s %s %.10g", how, setting->option, item->valuedouble);
    else
        fprintf(file, "%sout %s", how, setting->option);
}

static const cJSON *member_at(const cJSON *json, const struct setting *setting)
{
    return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(json, setting->object), setting->member);
}

static bool same(const cJSON *was, const cJSON *is)
{
    if (!cJSON_IsNumber(was) || !cJSON_IsNumber(is))
        return cJSON_IsNumber(was) == cJSON_IsNumber(is);
    return fabs(was->valuedouble - is->valuedouble) <= 1e-9 * fabs(was->valuedouble);
}

void recorded_differences(FILE *file, const struct recorded *recorded, const cJSON *now)
{
    for (const struct setting *setting = settings; setting < settings + sizeof settings / sizeof *settings; setting++) {
        const cJSON *was = member_at(recorded->json, setting), *is = member_at(now, setting);
        if (same(was, is))
            continue;
        fprintf(file, "note: %s was recorded ", recorded->path);
        put_option(file, setting, was, "with");
        put_option(file, setting, is, ", this is with");
        fputc('\n', file);
    }
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
