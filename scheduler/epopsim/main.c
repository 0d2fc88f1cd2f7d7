/* epopsim: a workload in virtual time, under one scheduling policy or several side by side. */
#include <stdio.h>
#include <string.h>

#include "scheduler/epopsim/complain.h"
#include "scheduler/epopsim/describe.h"
#include "scheduler/epopsim/load.h"
#include "scheduler/epopsim/options.h"
#include "scheduler/epopsim/policies.h"
#include "scheduler/epopsim/table.h"
#include "scheduler/epopsim/trials.h"
#include "scheduler/epopsim/write.h"

/* What has gone before is no success if it did not get there: `epopsim ... > /dev/full`. */
static int finish(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fputs("epopsim: cannot write to the standard output\n", stderr);
    return status == EXIT_DONE ? EXIT_FAILED : status;
}

static int show(const struct trials *trials, const struct options *options, const struct workload *workload,
                struct error *error)
{
    bool taken = options->output && !strcmp(options->output, "-");
    if (options->output && write_json(options->output, trials_json(trials, options, workload), error))
        return -1;
    if (options->json)
        return write_json("-", trials_metrics_json(trials, options, workload), error);
    if (options->tsv && !taken)
        table_tsv(stdout, trials);
    else if (!taken)
        table_print(stdout, trials);
    return 0;
}

static bool all_rigid(const struct workload *workload)
{
    size_t i = 0;
    while (i < workload->count && workload->works[i].kind == EPOP_RIGID)
        i++;
    return i == workload->count;
}

static void say_before(const struct options *options, const struct workload *workload)
{
    if (options->verbose)
        describe(stderr, workload, options);
    else if (!options->quiet)
        describe_notes(stderr, workload);
    if (!options->quiet && options->transform.malleable < 0 && all_rigid(workload))
        fputs("note: all jobs are rigid: --malleable SHARE lets policies resize them\n", stderr);
}

static int run(struct options *options, const struct workload *workload)
{
    struct trials trials;
    struct error error;
    size_t failed;
    if (options->describe) {
        describe(stdout, workload, options);
        return EXIT_DONE;
    }
    say_before(options, workload);
    if (trials_run(&trials, options, workload, &failed, &error))
        return complain(EXIT_USAGE, &error);
    int status = failed ? EXIT_FAILED : EXIT_DONE;
    if (trials.count > 0 && show(&trials, options, workload, &error))
        status = complain(EXIT_FAILED, &error);
    trials_free(&trials);
    return status;
}

static int load_and_run(struct options *options)
{
    struct workload workload;
    struct error error;
    if (load_workload(&workload, options, &error))
        return complain(EXIT_USAGE, &error);
    int status = run(options, &workload);
    workload_free(&workload);
    return status;
}

int main(int argc, char **argv)
{
    struct options options;
    struct error error;
    int status = EXIT_DONE;
    if (options_parse(&options, argc, argv, &error))
        status = complain(EXIT_USAGE, &error);
    else if (options.help)
        options_help(stdout);
    else if (options.version)
        printf("epopsim %s\n", EPOP_VERSION);
    else if (options.list_policies)
        policies_list(stdout);
    else
        status = load_and_run(&options);
    options_free(&options);
    return finish(status);
}
