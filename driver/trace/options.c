/* Options of the trace driver: see options.h. */
#include "driver/trace/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/trace/lanes.h"
#include "runtime/base/duration.h"

struct unit {
    const char *name;
    double factor;
};

static const struct unit times[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"", 1e9}, {NULL, 0}};
static const struct unit sizes[] = {{"", 1}, {"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {NULL, 0}};

const epop_driver_option_t trace_option_list[] = {
    {"trace-output", "FILE", "where the trace goes (PROGRAM.trace.json)"},
    {"trace-mpi", "TIME", "show calls of MPI that take this long, as 500ns, 10us, 1ms (10us)"},
    {"trace-limit", "SIZE", "most bytes of the file, as 500K, 64M, 1G; from 64K on (64M)"},
    {"trace-buffer", "SIZE", "most memory of each process; from 64K to 1G (4M)"},
    {NULL, NULL, NULL}};

void trace_options_init(struct trace_options *options)
{
    *options = (struct trace_options){.least_call = 10000, .limit = 64 << 20, .buffer = 4 << 20};
}

/* A number from 0 on with one of the units, or -1. */
static int64_t parse(const char *text, const struct unit *units)
{
    char *end;
    double number = decimal_read(text, &end);
    if (end == text || !isfinite(number) || number < 0)
        return -1;
    for (const struct unit *unit = units; unit->name; unit++)
        if (!strcmp(end, unit->name))
            return number * unit->factor < 1e18 ? (int64_t)(number * unit->factor) : -1;
    return -1;
}

static int set(int64_t *option, int64_t value, int64_t least, int64_t most)
{
    if (value < least || value > most)
        return EPOP_ERR_ARGUMENT;
    *option = value;
    return EPOP_OK;
}

static int set_output(struct trace_options *options, const char *value)
{
    if (!value[0] || strlen(value) >= sizeof options->output)
        return EPOP_ERR_ARGUMENT;
    snprintf(options->output, sizeof options->output, "%s", value);
    return EPOP_OK;
}

int trace_options_set(struct trace_options *options, const char *name, const char *value)
{
    if (!strcmp(name, "trace-output"))
        return set_output(options, value);
    if (!strcmp(name, "trace-mpi"))
        return set(&options->least_call, parse(value, times), 0, INT64_MAX);
    if (!strcmp(name, "trace-limit"))
        return set(&options->limit, parse(value, sizes), TRACE_BUFFER_MIN, INT64_MAX);
    return set(&options->buffer, parse(value, sizes), TRACE_BUFFER_MIN, 1 << 30);
}
