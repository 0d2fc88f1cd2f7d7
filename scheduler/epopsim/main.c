/* epopsim: a workload in virtual time, under one scheduling policy or several side by side. */
#include <stdio.h>
#include <string.h>

#include "scheduler/epopsim/generate.h"
#include "scheduler/epopsim/load.h"
#include "scheduler/epopsim/options.h"
#include "scheduler/epopsim/output.h"
#include "scheduler/epopsim/trials.h"
#include "terminal/output.h"

static int show_results(const struct trials *trials, const struct options *options, const struct workload *workload,
                        struct error *error)
{
    bool taken = options->output && !strcmp(options->output, "-");
    if (options->output && output_write(options->output, output_schedules(trials, options, workload), error))
        return -1;
    if (options->json)
        return output_write("-", output_metrics(trials, options, workload), error);
    if (options->tsv && !taken)
        output_tsv(stdout, trials);
    else if (!taken)
        output_table(stdout, trials);
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
        load_describe(stderr, workload, options);
    else if (!options->quiet)
        load_describe_notes(stderr, workload);
    if (!options->quiet && options->transform.malleable < 0 && all_rigid(workload))
        fputs("note: all jobs are rigid: --malleable SHARE lets policies resize them\n", stderr);
}

static int run_workload(struct options *options, const struct workload *workload)
{
    struct trials trials;
    struct error error;
    size_t failed;
    if (options->describe) {
        load_describe(stdout, workload, options);
        return EXIT_DONE;
    }
    say_before(options, workload);
    if (trials_run(&trials, options, workload, &failed, &error))
        return output_complain(EXIT_USAGE, &error);
    int status = failed ? EXIT_FAILED : EXIT_DONE;
    if (trials.count > 0 && show_results(&trials, options, workload, &error))
        status = output_complain(EXIT_FAILED, &error);
    trials_free(&trials);
    return status;
}

static int load_and_run(struct options *options)
{
    struct workload workload;
    struct error error;
    if (load_workload(&workload, options, &error))
        return output_complain(EXIT_USAGE, &error);
    int status = run_workload(options, &workload);
    workload_free(&workload);
    return status;
}

int main(int argc, char **argv)
{
    struct options options;
    struct error error;
    int status = EXIT_DONE;
    if (argc > 1 && !strcmp(argv[1], "generate"))
        return term_finish(generate_main(argc - 1, argv + 1));
    if (options_parse(&options, argc, argv, &error)) {
        term_complain("%s (see epopsim --help)", error.text);
        status = EXIT_USAGE;
    } else if (options.help) {
        options_help(stdout);
    } else if (options.version) {
        printf("epopsim %s\n", EPOP_VERSION);
    } else if (options.list_policies) {
        options_list_policies(stdout);
    } else {
        status = load_and_run(&options);
    }
    options_free(&options);
    return term_finish(status);
}
