/* What epopsim prints and writes: errors, JSON and the files that it goes to, tables. */
#include "scheduler/epopsim/output.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/epopsim/trials.h"
#include "scheduler/simulated/schedule_json.h"
#include "terminal/output.h"

/* ---- Errors ------------------------------------------------------------------------------------- */

int output_complain(int status, const struct error *error)
{
    term_complain("%s", error->text);
    return status;
}

/* ---- JSON --------------------------------------------------------------------------------------- */

/* The item belongs to the object from now on, or is gone. */
static bool attach_item(cJSON *object, const char *name, cJSON *item)
{
    if (item && object && cJSON_AddItemToObject(object, name, item))
        return true;
    cJSON_Delete(item);
    return false;
}

static bool add_number(cJSON *object, const char *name, double number)
{
    return attach_item(object, name, isfinite(number) ? cJSON_CreateNumber(number) : cJSON_CreateNull());
}

static bool add_text(cJSON *object, const char *name, const char *text)
{
    return attach_item(object, name, cJSON_CreateString(text));
}

/* The object if it is whole, else nothing is left of it. */
static cJSON *whole_or_none(cJSON *object, bool whole)
{
    if (whole)
        return object;
    cJSON_Delete(object);
    return NULL;
}

/* Nothing where there is no bound. */
static bool add_rate(cJSON *object, const char *name, double rate)
{
    return rate <= 0 || add_number(object, name, rate);
}

static cJSON *machine_json(const struct workload *workload)
{
    cJSON *machine = cJSON_CreateObject();
    return whole_or_none(machine, add_number(machine, "nodes", workload->nodes) &&
                                      add_number(machine, "idle_watts", workload->idle_watts) &&
                                      add_number(machine, "busy_watts", workload->busy_watts) &&
                                      add_number(machine, "power_cap", workload->power_cap) &&
                                      add_rate(machine, "network", workload->rates.all[SHARED_NETWORK]) &&
                                      add_rate(machine, "file_system", workload->rates.all[SHARED_FILE_SYSTEM]) &&
                                      add_rate(machine, "link", workload->rates.link));
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
                                   attach_item(json, "notes", notes_json(workload)));
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
    return whole_or_none(
        json,
        add_number(json, "seed", (double)options->transform.seed) && add_number(json, "latency", options->latency) &&
            add_number(json, "resize_base", options->costs.base) &&
            add_number(json, "resize_per_node", options->costs.per_node) &&
            add_number(json, "resize_per_byte", options->costs.per_byte) && add_number(json, "noise", options->noise) &&
            add_share(json, "kill_at_limit", options->kill_at_limit ? 1 : -1) &&
            add_share(json, "malleable", options->transform.malleable) &&
            add_share(json, "moldable", options->transform.moldable) &&
            add_share(json, "limit_factor", factor >= 1 ? factor : -1) &&
            add_share(json, "load", options->transform.load > 0 ? options->transform.load : -1) &&
            (!options->topology || add_text(json, "topology", options->topology)) &&
            (options->spread_cost <= 0 || add_number(json, "spread_cost", options->spread_cost)) &&
            (!options->speeds || add_text(json, "speeds", options->speeds)) &&
            (!options->shares ||
             (add_text(json, "shares", options->shares) && add_number(json, "half_life", options->half_life))));
}

static cJSON *head_json(const char *schema, const struct options *options, const struct workload *workload)
{
    cJSON *json = cJSON_CreateObject();
    return whole_or_none(json, add_text(json, "schema", schema) && add_number(json, "version", 1) &&
                                   add_text(json, "program", "epopsim " EPOP_VERSION) &&
                                   attach_item(json, "workload", workload_json(workload)) &&
                                   attach_item(json, "machine", machine_json(workload)) &&
                                   attach_item(json, "options", options_json(options)));
}

/* The metrics of one, with the policy's CPU time. */
static cJSON *trial_metrics(const struct trial *trial)
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
                                   attach_item(json, "metrics", trial_metrics(trial)) &&
                                   accounts_add(json, &trial->schedule));
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

cJSON *output_schedules(const struct trials *trials, const struct options *options, const struct workload *workload)
{
    cJSON *json = head_json("epop.schedule", options, workload);
    return whole_or_none(json, json && add_runs(json, trials, true));
}

cJSON *output_metrics(const struct trials *trials, const struct options *options, const struct workload *workload)
{
    cJSON *json = head_json("epop.metrics", options, workload);
    return whole_or_none(json, json && add_runs(json, trials, false));
}

/* ---- Files -------------------------------------------------------------------------------------- */

int output_write(const char *path, cJSON *json, struct error *error)
{
    char *text = json ? cJSON_PrintUnformatted(json) : NULL;
    cJSON_Delete(json);
    if (!text)
        return error_memory(error);
    int failed = term_write(path, text, "\n");
    free(text);
    return failed ? error_set(error, ERROR_FAILED, "%s: cannot be written: %s",
                              strcmp(path, "-") ? path : "the standard output", strerror(failed))
                  : 0;
}

/* ---- Tables ------------------------------------------------------------------------------------- */

#define CELL 40

/* The columns of the table for people, in figures of struct metrics. */
static const struct column {
    const char *title;
    size_t offset;
    double scale;
    int digits;
    bool whole, ratio; /* an int; with the ratio to the first run */
} columns[] = {
#define AT(member) offsetof(struct metrics, member)
    {"makespan/s", AT(makespan), 1, 0, false, true},
    {"wait/s", AT(mean_wait), 1, 1, false, true},
    {"slowdown", AT(mean_slowdown), 1, 2, false, true},
    {"slowdown p95", AT(p95_slowdown), 1, 2, false, true},
    {"utilisation/%", AT(utilisation), 100, 1, false, false},
    {"efficiency/%", AT(efficiency), 100, 1, false, false},
    {"resizes", AT(resizes), 1, 0, true, false},
    {"spread", AT(spread), 1, 2, false, true},
    {"deadlines", AT(deadlines), 1, 0, true, false},
    {"missed", AT(missed), 1, 0, true, false},
    {"late/s", AT(mean_lateness), 1, 1, false, false},
    {"energy/MJ", AT(joules), 1e-6, 1, false, true},
    {"peak/kW", AT(peak_watts), 1e-3, 1, false, true},
    {"network/%", AT(rate_used[SHARED_NETWORK]), 100, 1, false, false},
    {"file system/%", AT(rate_used[SHARED_FILE_SYSTEM]), 100, 1, false, false},
    {"CPU/s", AT(decide_seconds), 1, 2, false, false},
#undef AT
};

#define COLUMNS (sizeof columns / sizeof *columns)

static double figure_of(const struct metrics *metrics, size_t offset, bool whole)
{
    const char *at = (const char *)metrics + offset;
    return whole ? *(const int *)at : *(const double *)at;
}

/* Of machines whose watts, or whose rate, is known. */
static bool is_known(const struct column *column, const struct metrics *metrics)
{
    switch (column->offset) {
    case offsetof(struct metrics, joules):
    case offsetof(struct metrics, peak_watts):
        return metrics->peak_watts > 0;
    case offsetof(struct metrics, rate_used[SHARED_NETWORK]):
        return metrics->has_rate[SHARED_NETWORK];
    case offsetof(struct metrics, rate_used[SHARED_FILE_SYSTEM]):
        return metrics->has_rate[SHARED_FILE_SYSTEM];
    case offsetof(struct metrics, deadlines):
    case offsetof(struct metrics, missed):
    case offsetof(struct metrics, mean_lateness):
        return metrics->deadlines > 0;
    case offsetof(struct metrics, spread):
        return metrics->spread > 0;
    default:
        return true;
    }
}

static void write_cell(char *text, const struct column *column, const struct trials *trials, size_t row)
{
    double value = figure_of(&trials->trials[row].schedule.metrics, column->offset, column->whole);
    double first = figure_of(&trials->trials[0].schedule.metrics, column->offset, column->whole);
    int length = snprintf(text, CELL, "%.*f", column->digits, value * column->scale);
    if (row > 0 && column->ratio && first > 0 && length > 0 && length < CELL)
        snprintf(text + length, CELL - (size_t)length, " (%.2f)", value / first);
}

static int width_of(const struct column *column, const struct trials *trials)
{
    char text[CELL];
    size_t width = strlen(column->title);
    for (size_t row = 0; row < trials->count; row++) {
        write_cell(text, column, trials, row);
        width = strlen(text) > width ? strlen(text) : width;
    }
    return (int)width;
}

static int width_of_names(const struct trials *trials)
{
    size_t width = strlen("policy");
    for (size_t row = 0; row < trials->count; row++)
        width = strlen(trials->trials[row].spec) > width ? strlen(trials->trials[row].spec) : width;
    return (int)width;
}

void output_table(FILE *file, const struct trials *trials)
{
    char text[CELL];
    int names = width_of_names(trials), widths[COLUMNS];
    const struct metrics *first = &trials->trials[0].schedule.metrics;
    fprintf(file, "%-*s", names, "policy");
    for (size_t i = 0; i < COLUMNS; i++) {
        widths[i] = is_known(&columns[i], first) ? width_of(&columns[i], trials) : -1;
        if (widths[i] >= 0)
            fprintf(file, "  %*s", widths[i], columns[i].title);
    }
    fputc('\n', file);
    for (size_t row = 0; row < trials->count; row++) {
        fprintf(file, "%-*s", names, trials->trials[row].spec);
        for (size_t i = 0; i < COLUMNS; i++)
            if (widths[i] >= 0) {
                write_cell(text, &columns[i], trials, row);
                fprintf(file, "  %*s", widths[i], text);
            }
        fputc('\n', file);
    }
}

void output_tsv(FILE *file, const struct trials *trials)
{
    for (size_t row = 0; row < trials->count; row++) {
        cJSON *metrics = trial_metrics(&trials->trials[row]);
        if (row == 0)
            fputs("policy", file);
        for (const cJSON *item = row == 0 && metrics ? metrics->child : NULL; item; item = item->next)
            fprintf(file, "\t%s", item->string);
        fprintf(file, "%s%s", row == 0 ? "\n" : "", trials->trials[row].spec);
        for (const cJSON *item = metrics ? metrics->child : NULL; item; item = item->next)
            fprintf(file, "\t%.10g", item->valuedouble);
        fputc('\n', file);
        cJSON_Delete(metrics);
    }
}
