/*
 * What the tuning driver found, as schema/tuned.schema.json has it: written by it, and read for `epop --tuned`.
 */
#ifndef TUNE_TUNED_H
#define TUNE_TUNED_H

#include <cjson/cJSON.h>
#include <epop/program.h>
#include <stdbool.h>

#include "driver/tune/levers.h"
#include "runtime/base/error.h"

struct tuned_setting {
    enum lever_kind kind; /* all but LEVER_RANKS */
    char name[64];
    int value, usual;
};

/* Iterations at that size with the settings above. */
struct tuned_speed {
    int ranks;
    int64_t iterations;
    double seconds;
};

struct tuned {
    char program[128], phase[128];
    bool sure;     /* no other setting is faster by more than the bound */
    double bound;  /* as 0.02 */
    double gain;   /* times as fast as with the settings that it had, at the same number of ranks */
    int ranks;     /* the fastest number of them that was tried */
    int preferred; /* the largest that is used well; 0: only one was tried */
    struct tuned_setting settings[SEARCH_KNOBS];
    int setting_count;
    struct tuned_speed speeds[SEARCH_VALUES];
    int speed_count;
    int runs;       /* of the search */
    double seconds; /* that it took */
    double share;   /* of the time in the phase; negative: it has not ended */
};

/* NULL: no memory. */
cJSON *tuned_to_json(const struct tuned *tuned);

/* -1: with text. */
int tuned_read(const char *path, struct tuned *tuned, struct error *error);

/* For a program that is not yet in INIT: its tunables will begin so. Local; 0 or -1. */
int tuned_preset(const struct tuned *tuned, struct error *error);

/* In a process of that program in which MPI is up, if it uses MPI: control variables, and threads. What cannot be set
 * is told in a line, the rest is set. */
void tuned_set(const struct tuned *tuned, bool speaks);

#endif
