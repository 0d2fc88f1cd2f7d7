/* What the command line says: see options.c for the table of options. */
#ifndef SCHEDULER_EPOPSIM_OPTIONS_H
#define SCHEDULER_EPOPSIM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/base/error.h"
#include "scheduler/core/core.h"
#include "scheduler/workload/transform.h"

struct options {
    const char *workload;
    char **policies; /* NAME[,OPTION=VALUE...] each; owned */
    size_t policy_count, policy_room;
    const char *output, *script, *replay;
    bool json, tsv, describe, list_policies, quiet, verbose, help, version;
    int nodes;
    bool seeded; /* --seed was given */
    double latency, noise, patience;
    double power_cap, idle_watts, busy_watts; /* negative: as the workload says */
    struct core_costs costs;
    struct transform transform;
};

/* -1: wrong usage. The policies are the caller's to free by options_free, in either case. */
int options_parse(struct options *options, int argc, char **argv, struct error *error);
void options_free(struct options *options);
void options_help(FILE *file);

#endif
