/* The command line of the mesh example: one table says what there is. */
#include "amr/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amr/mesh.h"

enum { COUNT, NUMBER, TEXT };

static const struct option {
    const char *name, *value, *help;
    int kind;
    size_t at;
    double least, most, preset;
} table[] = {
    {"--levels", "L", "how often the square may be halved", COUNT, offsetof(options_t, levels), 1, MOST_LEVELS, 6},
    {"--steps", "N", "time steps", COUNT, offsetof(options_t, steps), 0, 1e9, 1000},
    {"--period", "N", "steps in which the flow winds up the disc and unwinds it", COUNT, offsetof(options_t, period), 1,
     1e9, 1000},
    {"--every", "N", "steps from one mesh to the next", COUNT, offsetof(options_t, every), 1, 1e9, 4},
    {"--refine", "D", "difference between two cells from which a block is split", NUMBER, offsetof(options_t, refine),
     1e-9, 1, 0.1},
    {"--blocks", "B", "blocks for a rank at most: asks for ranks, and gives them back; 0: never", COUNT,
     offsetof(options_t, blocks), 0, 1e9, 0},
    {"--most", "N", "ranks that are asked for at most", COUNT, offsetof(options_t, most), 1, 1e6, 1e6},
    {"--balance", "R", "the fullest rank's blocks over the mean from which they are dealt out anew", NUMBER,
     offsetof(options_t, balance), 1, 1e6, 1.2},
    {"--log", "FILE", "appends a line for each step", TEXT, offsetof(options_t, log), 0, 0, 0},
    {"--meshes", "FILE", "appends the mesh of some steps", TEXT, offsetof(options_t, meshes), 0, 0, 0},
    {"--each", "N", "steps from one mesh in that file to the next", COUNT, offsetof(options_t, each), 1, 1e9, 100},
};

#define OPTIONS (sizeof table / sizeof table[0])

void options_usage(void)
{
    printf("A disc in a vortex, on a mesh that follows it, on ranks that it asks for\n\n  amr.so [options]\n\n");
    for (const struct option *o = table; o < table + OPTIONS; o++) {
        printf("  %-10s %-5s %s", o->name, o->value, o->help);
        printf(o->kind == TEXT ? "\n" : " (%g)\n", o->preset);
    }
}

static int set(const struct option *o, const char *text, options_t *options)
{
    char *end, *place = (char *)options + o->at;
    errno = 0;
    double value = o->kind == TEXT ? 0 : strtod(text, &end);
    if (o->kind == TEXT)
        memcpy(place, &text, sizeof text);
    else if (end == text || *end || errno || !(value >= o->least && value <= o->most))
        return -1;
    if (o->kind == NUMBER)
        *(double *)(void *)place = value;
    if (o->kind == COUNT)
        *(int64_t *)(void *)place = (int64_t)value;
    return o->kind == COUNT && value != (double)(int64_t)value ? -1 : 0;
}

static const struct option *find(const char *name)
{
    for (const struct option *o = table; o < table + OPTIONS; o++)
        if (!strcmp(o->name, name))
            return o;
    return NULL;
}

static void preset(options_t *options)
{
    char text[32];
    *options = (options_t){0};
    for (const struct option *o = table; o < table + OPTIONS; o++) {
        snprintf(text, sizeof text, "%.9g", o->preset);
        if (o->kind != TEXT)
            set(o, text, options);
    }
}

int options_parse(options_t *options, int argc, char **argv, char *error, size_t size)
{
    preset(options);
    for (int i = 1; i < argc; i += 2) {
        const struct option *o = find(argv[i]);
        options->help |= !strcmp(argv[i], "--help");
        if (options->help)
            return 0;
        if (!o || i + 1 == argc) {
            snprintf(error, size, o ? "%s needs a value (see --help)" : "unknown option '%s' (see --help)", argv[i]);
            return -1;
        }
        if (set(o, argv[i + 1], options)) {
            snprintf(error, size, "%s: '%s' is no %s from %g to %g (see --help)", argv[i], argv[i + 1],
                     o->kind == COUNT ? "whole number" : "number", o->least, o->most);
            return -1;
        }
    }
    return 0;
}
