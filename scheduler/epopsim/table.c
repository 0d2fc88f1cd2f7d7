/* Columns, and how each is written: see table.h. */
#include "scheduler/epopsim/table.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

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
    {"energy/MJ", AT(joules), 1e-6, 1, false, true},
    {"peak/kW", AT(peak_watts), 1e-3, 1, false, true},
    {"CPU/s", AT(decide_seconds), 1, 2, false, false},
#undef AT
};

#define COLUMNS (sizeof columns / sizeof *columns)

static double figure(const struct metrics *metrics, size_t offset, bool whole)
{
    const char *at = (const char *)metrics + offset;
    return whole ? *(const int *)at : *(const double *)at;
}

static bool needs_watts(const struct column *column)
{
    return column->offset == offsetof(struct metrics, joules) || column->offset == offsetof(struct metrics, peak_watts);
}

static void write_cell(char *text, const struct column *column, const struct trials *trials, size_t row)
{
    double value = figure(&trials->trials[row].schedule.metrics, column->offset, column->whole);
    double first = figure(&trials->trials[0].schedule.metrics, column->offset, column->whole);
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

void table_print(FILE *file, const struct trials *trials)
{
    char text[CELL];
    int names = width_of_names(trials), widths[COLUMNS];
    bool watts = trials->trials[0].schedule.metrics.peak_watts > 0;
    fprintf(file, "%-*s", names, "policy");
    for (size_t i = 0; i < COLUMNS; i++) {
        widths[i] = !watts && needs_watts(&columns[i]) ? -1 : width_of(&columns[i], trials);
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

void table_tsv(FILE *file, const struct trials *trials)
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
