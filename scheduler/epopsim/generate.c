/* `epopsim generate`: jobs of a model, written as a trace in the Standard Workload Format. */
#include "scheduler/epopsim/generate.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scheduler/epopsim/options.h"
#include "scheduler/epopsim/output.h"
#include "scheduler/workload/lublin.h"
#include "terminal/options.h"
#include "terminal/output.h"

static const struct option_row rows[] = {
    {"nodes", "N", "of the machine (128)", OPT_WHOLE(nodes, 2, MOST_NODES)},
    {"jobs", "N", "so many (1000)", OPT_WHOLE(transform.jobs, 1, INT_MAX)},
    {"load", "LOAD",
     "scale the times between submissions until the jobs ask for that share\nof the machine, as 0.9 (as published)",
     OPT_NUMBER(transform.load, 1e-6, 1000)},
    {"seed", "N", "of all that is drawn (1)", OPT_OWN(options_take_seed)},
    {0},
};

static const struct option_table table = {.rows = rows, .column = 34};

static void print_help(void)
{
    fputs("Usage: epopsim generate [OPTIONS]\n"
          "Prints a trace in the Standard Workload Format: batch jobs drawn from the model of Lublin and Feitelson "
          "(2003).\n"
          "They are rigid: epopsim's --malleable makes others of them.\n",
          stdout);
    options_print(stdout, &table);
    fputs("\nExample:\n"
          "  epopsim generate --nodes 256 --load 0.9 | epopsim --malleable 0.5 -\n"
          "\nExit status: 0 done, 1 it could not be written, 2 wrong usage.\n",
          stdout);
}

static void print_job(const struct work *work)
{
    double seconds = work_seconds(work, work->wanted);
    printf("%" PRId64 " %.0f -1 %.0f %d -1 -1 %d %.0f -1 1 -1 -1 -1 -1 -1 -1 -1\n", work->id, floor(work->submit),
           seconds, work->wanted, work->wanted, seconds);
}

static void print_trace(const struct workload *workload, const struct options *options)
{
    printf("; Version: 2.2\n; Computer: the model of Lublin and Feitelson (2003), batch jobs; epopsim %s\n"
           "; MaxJobs: %zu\n; MaxProcs: %d\n; Note: seed %" PRIu64 ", load %.4g\n",
           EPOP_VERSION, workload->count, workload->nodes, options->transform.seed, workload_load(workload));
    for (size_t i = 0; i < workload->count; i++)
        print_job(&workload->works[i]);
}

static int generate(const struct options *options, struct error *error)
{
    struct workload workload;
    int failed = lublin_draw(&workload, options->nodes, options->transform.jobs, options->transform.seed)
                     ? error_memory(error)
                     : transform(&workload, &options->transform, error);
    if (!failed)
        print_trace(&workload, options);
    workload_free(&workload);
    return failed;
}

int generate_main(int argc, char **argv)
{
    struct options options = {
        .nodes = 128, .transform = {.seed = 1, .jobs = 1000, .malleable = -1, .moldable = -1, .bytes_per_node = -1}};
    struct error error;
    int first = options_read(&table, argc, argv, &options, &error);
    if (first == OPTIONS_HELP) {
        print_help();
        return EXIT_DONE;
    }
    if (first >= 0 && first < argc)
        error_set(&error, ERROR_REFUSED, "generate takes options alone, not \"%s\"", argv[first]);
    if (first < 0 || first < argc) {
        term_complain("%s (see epopsim generate --help)", error.text);
        return EXIT_USAGE;
    }
    return generate(&options, &error) ? output_complain(EXIT_USAGE, &error) : EXIT_DONE;
}
