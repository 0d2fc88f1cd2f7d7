/* The trials as JSON: see trials.h, schema/schedule.schema.json and schema/metrics.schema.json. */
#include "scheduler/epopsim/trials.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/simulated/schedule_json.h"

/* The item belongs to the object from now on, or is gone. */
static bool attach(cJSON *object, const char *name, cJSON *item)
{
    if (item && object && cJSON_AddItemToObject(object, name, item))
        return true;
    cJSON_Delete(item);
    return false;
}

static bool add_number(cJSON *object, const char *name, double number)
{
    return attach(object, name, isfinite(number) ? cJSON_CreateNumber(number) : cJSON_CreateNull());
}

static bool add_text(cJSON *object, const char *name, const char *text)
{
    return attach(object, name, cJSON_CreateString(text));
}

/* The object if it is whole, else nothing is left of it. */
static cJSON *whole_or_none(cJSON *object, bool whole)
{
    if (whole)
        return object;
    cJSON_Delete(object);
    return NULL;
}

static cJSON *machine_json(const struct workload *workload)
{
    cJSON *machine = cJSON_CreateObject();
    return whole_or_none(machine, add_number(machine, "nodes", workload->nodes) &&
                                      add_number(machine, "idle_watts", workload->idle_watts) &&
                                      add_number(machine, "busy_watts", workload->busy_watts) &&
                                      add_number(machine, "power_cap", workload->power_cap));
}

/* A text for each line. */
static cJSON *notes_json(const struct workload *workload)
{
    cJSON *notes = cJSON_CreateArray();
    for (const char *line = workload->notes; notes && *line; line += strcspn(line, "\n") + 1) {
        char *text = strndup(line, strcspn(line, "\n"));
        cJSON *note = text ? cJSON_CreateString(text) : NULL;
        free(text);
        if (!note || !cJSON_AddItemToArray(notes, note)) {
            cJSON_Delete(note);
            cJSON_Delete(notes);
            return NULL;
        }
    }
    return notes;
}

static cJSON *workload_json(const struct workload *workload)
{
    cJSON *json = cJSON_CreateObject();
    return whole_or_none(json, add_text(json, "name", workload->name) &&
                                   add_number(json, "jobs", (double)workload->count) &&
                                   attach(json, "notes", notes_json(workload)));
}

/* Negative: as the workload has it. */
static bool add_share(cJSON *object, const char *name, double share)
{
    return add_number(object, name, share < 0 ? NAN : share);
}

static cJSON *options_json(const struct options *options)
{
    double factor = options->transform.limit_factor;
    cJSON *json = cJSON_CreateObject();
    return whole_or_none(json, add_number(json, "seed", (double)options->transform.seed) &&
                                   add_number(json, "latency", options->latency) &&
                                   add_number(json, "resize_base", options->costs.base) &&
                                   add_number(json, "resize_per_node", options->costs.per_node) &&
                                   add_number(json, "resize_per_byte", options->costs.per_byte) &&
                                   add_number(json, "noise", options->noise) &&
                                   add_share(json, "malleable", options->transform.malleable) &&
                                   add_share(json, "moldable", options->transform.moldable) &&
                                   add_share(json, "limit_factor", factor >= 1 ? factor : -1) &&
                                   add_share(json, "load", options->transform.load > 0 ? options->transform.load : -1));
}

static cJSON *head_json(const char *schema, const struct options *options, const struct workload *workload)
{
    cJSON *json = cJSON_CreateObject();
    return whole_or_none(json, add_text(json, "schema", schema) && add_number(json, "version", 1) &&
                                   add_text(json, "program", "epopsim " EPOP_VERSION) &&
                                   attach(json, "workload", workload_json(workload)) &&
                                   attach(json, "machine", machine_json(workload)) &&
                                   attach(json, "options", options_json(options)));
}

cJSON *trial_metrics(const struct trial *trial)
{
    const struct metrics *metrics = &trial->schedule.metrics;
    cJSON *json = metrics_json(metrics);
    return whole_or_none(json, add_number(json, "decide_seconds", metrics->decide_seconds) &&
                                   add_number(json, "decide_longest", metrics->decide_longest));
}

static cJSON *trial_json(const struct trial *trial)
{
    cJSON *json = cJSON_CreateObject();
    return whole_or_none(json, add_text(json, "policy", trial->schedule.policy) &&
                                   add_text(json, "policy_options", trial->schedule.options) &&
                                   attach(json, "metrics", trial_metrics(trial)));
}

static bool add_runs(cJSON *json, const struct trials *trials, bool all)
{
    cJSON *runs = cJSON_AddArrayToObject(json, "runs");
    for (size_t i = 0; runs && i < trials->count; i++) {
        const struct trial *trial = &trials->trials[i];
        cJSON *run = all ? schedule_json(&trial->schedule) : trial_json(trial);
        if (!run || !cJSON_AddItemToArray(runs, run)) {
            cJSON_Delete(run);
            return false;
        }
    }
    return runs;
}

cJSON *trials_json(const struct trials *trials, const struct options *options, const struct workload *workload)
{
    cJSON *json = head_json("epop.schedule", options, workload);
    return whole_or_none(json, json && add_runs(json, trials, true));
}

cJSON *trials_metrics_json(const struct trials *trials, const struct options *options, const struct workload *workload)
{
    cJSON *json = head_json("epop.metrics", options, workload);
    return whole_or_none(json, json && add_runs(json, trials, false));
}
