/* What the command line says, and the policies that it names. */
#ifndef SCHEDULER_EPOPSIM_OPTIONS_H
#define SCHEDULER_EPOPSIM_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "runtime/base/error.h"
#include "scheduler/core/core.h"
#include "scheduler/workload/transform.h"
#include "scheduler/workload/workload.h"
#include "terminal/options.h"

#define MOST_NODES 1000000 /* of a machine */

struct options {
    const char *workload;
    char **policies; /* NAME[,OPTION=VALUE...] each; owned */
    size_t policy_count, policy_room;
    const char *output, *script, *replay, *topology, *speeds, *shares;
    bool json, tsv, describe, list_policies, quiet, verbose, help, version, kill_at_limit;
    int nodes;
    bool seeded; /* --seed was given */
    double latency, noise, patience, spread_cost, half_life;
    double power_cap, idle_watts, busy_watts; /* negative: as the workload says */
    struct rates rates;                       /* the same */
    struct core_costs costs;
    struct transform transform;
};

/* -1: wrong usage. The policies are the caller's to free by options_free, in either case. */
int options_parse(struct options *options, int argc, char **argv, struct error *error);
void options_free(struct options *options);
/* --seed, for a table's row. */
int options_take_seed(const struct option_row *row, struct options *options, const char *text, struct error *error);
void options_help(FILE *file);

/* One policy more, NAME[,OPTION=VALUE...], which becomes the options' own, also on failure; NULL: no memory. */
int options_add_policy(struct options *options, char *word, struct error *error);
/* Adds those that are compared where none is named. */
int options_take_usual_policies(struct options *options, struct error *error);
/* All that are built in, with their options. */
void options_list_policies(FILE *file);

#endif
