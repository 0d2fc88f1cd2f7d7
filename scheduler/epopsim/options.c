/* What the command line says: a row for each option, with how it is read and what --help says of it. */
#include "scheduler/epopsim/options.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/clock.h"
#include "scheduler/core/policy.h"
#include "scheduler/core/shares.h"
#include "scheduler/policies/policies.h"

/*
 * What a resize takes, as docs/internals/performance.md has it, on hosts of two cores. Stall: join, 16 -> 32 ranks, 39
 * ms, hence 1.2 ms a node; the pool, 2 -> 1, 3 ms without data and 22 ms more with 64 MiB of it. Latency: join, from
 * the request to the commit of 16 -> 32.
 */
#define COST_BASE     0.003
#define COST_PER_NODE 0.0012
#define COST_PER_BYTE 3.3e-10
#define LATENCY       0.445

/* ---- Policies by their names -------------------------------------------------------------------- */

int options_add_policy(struct options *options, char *word, struct error *error)
{
    if (!word || array_reserve(&options->policies, &options->policy_room, options->policy_count + 1,
                               sizeof *options->policies)) {
        free(word);
        return error_memory(error);
    }
    options->policies[options->policy_count++] = word;
    return 0;
}

/* NAME=VALUE; a path may have a '=' too, behind a '/'. */
static int is_option(const char *word)
{
    size_t name = strcspn(word, "=,/");
    return word[name] == '=';
}

/* One policy from here on, with the options behind it. */
static size_t length_of(const char *text)
{
    size_t length = strcspn(text, ",");
    while (text[length]) {
        if (!is_option(text + length + 1))
            break;
        length += 1 + strcspn(text + length + 1, ",");
    }
    return length;
}

/* Appends the policies of "easy,ers,upper=0.2,./mine.so": what has no '=' begins one. */
static int take_policy(const struct option_row *row, struct options *options, const char *text, struct error *error)
{
    (void)row;
    const char *all = text;
    for (;;) {
        size_t length = length_of(text);
        if (length == 0 || is_option(text))
            return error_set(error, ERROR_REFUSED, "--policy: \"%s\" is not NAME[,OPTION=VALUE...][,NAME...]", all);
        if (options_add_policy(options, strndup(text, length), error))
            return -1;
        if (!text[length])
            return 0;
        text += length + 1;
    }
}

int options_take_usual_policies(struct options *options, struct error *error)
{
    for (int i = 0; i < POLICIES_COMPARED; i++)
        if (options_add_policy(options, strdup(policies[i]->name), error))
            return -1;
    return 0;
}

void options_list_policies(FILE *file)
{
    for (const epop_policy_t *const *policy = policies; *policy; policy++) {
        fprintf(file, "%-9s %s\n", (*policy)->name, (*policy)->summary);
        for (const epop_policy_option_t *option = (*policy)->options; option && option->name; option++)
            fprintf(file, "          %s=%s  %s\n", option->name, option->value, option->help);
    }
}

/* ---- Options with a form of their own ----------------------------------------------------------- */

/* Up to three numbers, none of them negative, with commas between them; how many there were, 0 for nonsense. */
static int take_numbers(const char *text, double *numbers, int most)
{
    int count = 0;
    for (char *end; count < most; text = end + 1) {
        double number = decimal_read(text, &end);
        if (end == text || !(number >= 0 && isfinite(number)) || (*end && *end != ','))
            return 0;
        numbers[count++] = number;
        if (!*end)
            return count;
    }
    return 0;
}

static int take_cost(const struct option_row *row, struct options *options, const char *text, struct error *error)
{
    (void)row;
    double numbers[3] = {0};
    if (take_numbers(text, numbers, 3) == 0)
        return error_set(error, ERROR_REFUSED,
                         "--resize-cost: \"%s\" is not BASE[,PER-NODE[,PER-BYTE]], each in seconds", text);
    options->costs = (struct core_costs){.base = numbers[0], .per_node = numbers[1], .per_byte = numbers[2]};
    return 0;
}

static int take_watts(const struct option_row *row, struct options *options, const char *text, struct error *error)
{
    (void)row;
    double numbers[2];
    if (take_numbers(text, numbers, 2) != 2 || numbers[1] < numbers[0])
        return error_set(error, ERROR_REFUSED,
                         "--watts: \"%s\" is not IDLE,BUSY, watts of a node, the second not below the first", text);
    options->idle_watts = numbers[0];
    options->busy_watts = numbers[1];
    return 0;
}

/* Bytes per second, as "4e10" or "40G": powers of 1000. */
static int read_rate(const char *text, double *rate)
{
    static const char units[] = "kMGTP";
    char *end;
    *rate = decimal_read(text, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (end == text || (*end && (!unit || end[1])))
        return -1;
    *rate *= unit ? pow(1000, (double)(unit - units + 1)) : 1;
    return *rate >= 0 && *rate <= 1e18 ? 0 : -1;
}

static int take_rate(const struct option_row *row, struct options *options, const char *text, struct error *error)
{
    double *rate = !strcmp(row->name, "network")       ? &options->rates.all[SHARED_NETWORK]
                   : !strcmp(row->name, "file-system") ? &options->rates.all[SHARED_FILE_SYSTEM]
                                                       : &options->rates.link;
    if (!read_rate(text, rate))
        return 0;
    return error_set(error, ERROR_REFUSED, "--%s: \"%s\" is no number of bytes per second, as 25e9, 25G or 0",
                     row->name, text);
}

static int take_speedup(const struct option_row *row, struct options *options, const char *text, struct error *error)
{
    (void)row;
    struct error why;
    if (speedup_rule_parse(&options->transform.speedup, text, &why))
        return error_set(error, ERROR_REFUSED, "--speedup: %s", why.text);
    return 0;
}

int options_take_seed(const struct option_row *row, struct options *options, const char *text, struct error *error)
{
    (void)row;
    char *end;
    options->transform.seed = strtoull(text, &end, 10);
    options->seeded = true;
    if (strspn(text, "0123456789") == strlen(text) && *text && strlen(text) <= 15)
        return 0;
    return error_set(error, ERROR_REFUSED, "--seed: \"%s\" is no whole number from 0 to 999999999999999", text);
}

/* ---- The table ---------------------------------------------------------------------------------- */

static const struct option_row rows[] = {
    {"policy", "POLICY,...",
     "NAME, ./MINE.py or ./MINE.so, each with [,OPTION=VALUE...]; several, by commas or\nby repeating it, are shown "
     "side by side "
     "(easy, ers and gain)",
     OPT_OWN(take_policy), .group = "What decides:"},
    {"patience", "SECONDS", "of CPU time that a policy may take for a decision (10)", OPT_NUMBER(patience, 0.01, 1e6)},
    {"list-policies", NULL, "list them with their options, and do no more", OPT_FLAG(list_policies)},
    {"nodes", "N", "of the machine (as the workload says)", OPT_WHOLE(nodes, 1, MOST_NODES),
     .group = "What the workload is:"},
    {"jobs", "N", "the first N jobs only (all)", OPT_WHOLE(transform.jobs, 1, INT_MAX)},
    {"load", "LOAD",
     "scale the times between submissions until the jobs ask for that share\nof the machine, as 0.9 (as they are)",
     OPT_NUMBER(transform.load, 1e-6, 1000)},
    {"malleable", "SHARE",
     "make that share of the jobs malleable, drawn by the seed, the others rigid\n(kinds as the workload has them; "
     "those of a trace are rigid)",
     OPT_NUMBER(transform.malleable, 0, 1)},
    {"moldable", "SHARE", "make that share of the jobs moldable (kinds as they are)",
     OPT_NUMBER(transform.moldable, 0, 1)},
    {"min-share", "FACTOR",
     "least size of jobs that become malleable or moldable, as a factor of\nthe wanted one (0.25)",
     OPT_NUMBER(transform.min_share, 0, 1)},
    {"max-share", "FACTOR", "their largest size, within the machine (2)", OPT_NUMBER(transform.max_share, 1, 1e6)},
    {"speedup", "MODEL",
     "of all jobs: linear, amdahl:serial=S or downey:A=N,sigma=S, where A=2w\nis twice the wanted nodes; run times at "
     "the wanted nodes stay\n(traces: downey:A=2w,sigma=0.5; JSON: as it says)",
     OPT_OWN(take_speedup)},
    {"bytes-per-node", "BYTES", "that a resize moves, times the wanted nodes (traces: 1e9; JSON: as it\nsays)",
     OPT_NUMBER(transform.bytes_per_node, 0, 1e15)},
    {"limit-factor", "FACTOR",
     "users' limits are the true times, multiplied by a factor from 1 to this\n(as the workload has them)",
     OPT_NUMBER(transform.limit_factor, 1, 1e6)},
    {"seed", "N", "of all that is drawn (1)", OPT_OWN(options_take_seed)},
    {"shares", "ACCOUNT=SHARE,...",
     "share of the machine that each account is to have, as alice=2,bob=1; all others:\n*=1; or a file of these. Of "
     "jobs "
     "with the same priority those come first\nwhose account has used least over its share; an account is a job's, or "
     "the number\nof its user (none: by submission)",
     OPT_TEXT(shares), .group = "How it runs:"},
    {"half-life", "TIME", "in which half of what an account has used is forgotten; 0: nothing is (7d)",
     OPT_SECONDS(half_life), .goes_with = "shares"},
    {"resize-cost", "BASE[,NODE[,BYTE]]",
     "seconds that a resize makes a job stand still: in all, for each node of\nthe larger size, and for each byte over "
     "the nodes of the smaller one\n(0.003,0.0012,3.3e-10: as measured)",
     OPT_OWN(take_cost)},
    {"latency", "SECONDS", "from a decision to the resize, while the job computes (0.445: as measured)",
     OPT_NUMBER(latency, 0, 1e9)},
    {"noise", "SHARE", "of what is measured, as 0.05 (0)", OPT_NUMBER(noise, 0, 1)},
    {"kill-at-limit", NULL, "end jobs whose time limit is used up, as epoprm does (they run on)",
     OPT_FLAG(kill_at_limit)},
    {"watts", "IDLE,BUSY", "of a node", OPT_OWN(take_watts)},
    {"power-cap", "WATTS", "of all nodes: no start or growth takes more (none)", OPT_NUMBER(power_cap, 0, 1e15)},
    {"topology", "FILE",
     "the switches that nodes are below, as in Slurm's topology.conf; nodes are\nnumbered as they stand there (none "
     "are "
     "known)",
     OPT_TEXT(topology)},
    {"spread-cost", "SHARE",
     "by which an iteration lasts longer for each leaf switch above the fewest\npossible, as 0.05 (0)",
     OPT_NUMBER(spread_cost, 0, 1000)},
    {"speeds", "NODE=SPEED,...",
     "nodes that compute faster or slower, as n3=0.5,n[4-6]=2; a job computes at\nthat of its slowest node; nodes are "
     "n0, n1, ..., or as the topology has it (1)",
     OPT_TEXT(speeds)},
    {"file-system", "RATE",
     "bytes per second that all jobs share, as 40G; 0: so many that moving\nthem takes no time (as the workload says)",
     OPT_OWN(take_rate)},
    {"network", "RATE", "the same of the network", OPT_OWN(take_rate)},
    {"link", "RATE", "at most so many from and to a node, in both", OPT_OWN(take_rate)},
    {"script", "FILE", "nodes that fail and resizes that are refused, one a line", OPT_TEXT(script)},
    {"replay", "FILE", "a recorded run (--output): the same decisions must come again", OPT_TEXT(replay)},
    {"output", "FILE", "write the schedules as JSON, all decisions with their reasons; -: the\nstandard output",
     OPT_TEXT(output), .letter = 'o', .group = "What it shows:"},
    {"json", NULL, "the metrics as JSON instead of the table", OPT_FLAG(json)},
    {"tsv", NULL, "the metrics with tabs between them", OPT_FLAG(tsv)},
    {"describe", NULL, "show what the workload is after all options, and run nothing", OPT_FLAG(describe)},
    {"verbose", NULL, "show that before the runs", OPT_FLAG(verbose), .letter = 'v'},
    {"quiet", NULL, "no notes, no progress", OPT_FLAG(quiet), .letter = 'q'},
    {"version", NULL, "print the version", OPT_FLAG(version)},
    {0},
};

static const struct option_table table = {.rows = rows, .column = 34};

void options_help(FILE *file)
{
    fputs("Usage: epopsim [OPTIONS] WORKLOAD\n"
          "       epopsim generate [OPTIONS]\n"
          "Runs a workload in virtual time, under one scheduling policy or several side by side.\n"
          "WORKLOAD: a trace in the Standard Workload Format, or JSON; either may be compressed by gzip; - is the\n"
          "standard input. generate prints a trace that is drawn from a model (epopsim generate --help).\n",
          file);
    options_print(file, &table);
    fputs("\nExamples:\n"
          "  epopsim --load 0.9 --malleable 0.5 trace.swf.gz                  all policies side by side\n"
          "  epopsim --malleable 0.5 --policy easy,gain -o s.json trace.swf   two, and all that they decide\n"
          "  epop-report s.json -o s.html                                     that as a page\n",
          file);
    fputs("\nExit status: 0 done, 1 a run failed or could not be written, 2 wrong usage or input.\n", file);
}

/* ---- Parsing ------------------------------------------------------------------------------------ */

/* Options that do not go together, and what is missing. */
static int check_together(const struct options *options, struct error *error)
{
    double malleable = options->transform.malleable, moldable = options->transform.moldable;
    if (fmax(malleable, 0) + fmax(moldable, 0) > 1 + 1e-9)
        return error_set(error, ERROR_REFUSED, "--malleable %g and --moldable %g are more than all jobs", malleable,
                         moldable);
    if (options->json && options->tsv)
        return error_set(error, ERROR_REFUSED, "--json or --tsv, not both");
    if (options->output && !strcmp(options->output, "-") && (options->json || options->describe))
        return error_set(error, ERROR_REFUSED, "--output - and --%s both write to the standard output: take one",
                         options->json ? "json" : "describe");
    if (options->spread_cost > 0 && !options->topology)
        return error_set(error, ERROR_REFUSED, "--spread-cost needs switches: give --topology FILE");
    if (!options->workload && !options->version && !options->list_policies)
        return error_set(error, ERROR_REFUSED, "which workload? A trace (SWF) or JSON");
    return 0;
}

static int take_workload(struct options *options, int count, char **words, struct error *error)
{
    if (count > 1)
        return error_set(error, ERROR_REFUSED, "one workload, and then \"%s\"", words[1]);
    options->workload = count > 0 ? words[0] : NULL;
    return check_together(options, error);
}

int options_parse(struct options *options, int argc, char **argv, struct error *error)
{
    *options = (struct options){
        .latency = LATENCY,
        .patience = POLICY_GUARD_BUSY,
        .half_life = SHARES_HALF_LIFE,
        .power_cap = -1,
        .idle_watts = -1,
        .busy_watts = -1,
        .rates = {.all = {-1, -1}, .link = -1},
        .costs = {COST_BASE, COST_PER_NODE, COST_PER_BYTE},
        .transform =
            {.seed = 1, .malleable = -1, .moldable = -1, .min_share = 0.25, .max_share = 2, .bytes_per_node = -1},
    };
    int first = options_read(&table, argc, argv, options, error);
    options->help = first == OPTIONS_HELP;
    if (first < 0)
        return first == OPTIONS_HELP ? 0 : -1;
    return take_workload(options, argc - first, argv + first, error);
}

void options_free(struct options *options)
{
    for (size_t i = 0; i < options->policy_count; i++)
        free(options->policies[i]);
    free(options->policies);
}
