/* epop: loads a program and has it walked, or only looked at, by the drivers that the command line names. */
#include <stdio.h>
#include <string.h>

#include "driver/epop/capabilities.h"
#include "driver/epop/drivers.h"
#include "driver/epop/launch.h"
#include "driver/epop/load.h"
#include "driver/epop/object.h"
#include "driver/epop/options.h"
#include "driver/epop/recover.h"
#include "driver/epop/run.h"
#include "driver/epop/watch.h"
#include "driver/trace/collector.h"
#include "runtime/backends/device.h"
#include "runtime/base/error.h"
#include "runtime/base/say.h"
#include "runtime/job/job.h"
#include "runtime/launch/engine.h"
#include "runtime/launch/mpiexec.h"
#include "runtime/world/backend.h"

/* Drivers that never walk: no MPI, no launcher needed. */
static int look_only(const struct options *options, struct drivers *drivers, struct loaded_program *program)
{
    int result = drivers_loaded(drivers, program->program, launch_detect().rank);
    if (result != 0 && result != EPOP_DRIVER_DONE) {
        if (launch_speaks())
            say_line("%s", drivers->refusal);
        return EXIT_USAGE;
    }
    char why[400];
    object_why_it_stays(program->path, why, sizeof why);
    if (unload_program(program) != 0 && launch_speaks() && !options->job.quiet)
        say_line("note: %s stays in memory after it is closed, so that a rank that left cannot join again in the "
                 "same process: %s",
                 options->program, why);
    return EXIT_DONE;
}

static int walk_without_mpi(const struct options *options, struct drivers *drivers, struct loaded_program *program)
{
    struct launch launch = launch_detect();
    if (launch.launcher && launch.size != 1 && launch_speaks() && !options->job.quiet)
        say_line("note: %s does not use MPI: every process of the launch runs it alone, none can be resized",
                 options->program);
    return run_serial(options, drivers, program);
}

static int walk_or_relaunch(const struct options *options, struct drivers *drivers, struct loaded_program *program)
{
    char line[MPIEXEC_LINE];
    bool speaks;
    if (!program->uses.mpi)
        return walk_without_mpi(options, drivers, program);
    if (mpiexec_is_foreign(line, sizeof line, &speaks)) {
        if (speaks)
            say_line("%s", line);
        return EXIT_USAGE;
    }
    if (!launch_detect().launcher) {
        unload_program(program);
        drivers_close(drivers);
        launch_again_under_mpiexec(options->job.command, options->job.quiet);
        return EXIT_USAGE;
    }
    return run_job(options, drivers, program, NULL);
}

/* Before the program is loaded, which is done in the process that is kept. */
static void keep_if_it_parks(const struct options *options)
{
    if (epop__backend_parks(options->job.backend, options->job.leave))
        epop__job_keep(options->job.command);
}

/* Under a launcher the processes have to agree on who says it, except where none of them needs MPI. */
static int report_load_error(const struct options *options, struct drivers *drivers, const char *error)
{
    if (launch_detect().launcher && !drivers->no_walk)
        return run_job(options, drivers, NULL, error);
    if (launch_speaks())
        say_line("%s", error);
    return EXIT_USAGE;
}

/* ---- From the command line to the exit status --------------------------------------------------- */

/* What epop itself has printed must have got there: `epop --driver check prog.so > /dev/full` has not done its work. */
static int finish_output(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    if (launch_speaks())
        say_line("cannot write to the standard output");
    return status == EXIT_DONE ? EXIT_FAILED : status;
}

int main(int argc, char **argv)
{
    struct options options;
    struct drivers drivers;
    struct loaded_program program = {0};
    struct error error = {0};
    engine_for(device_read().maker);
    if (argc > 1 && !strcmp(argv[1], TRIAL_ARGUMENT)) /* one of those that --capabilities starts */
        return capabilities_try(argc - 2, argv + 2);
    if (argc > 1 && !strcmp(argv[1], TRACE_ARGUMENT)) /* the one that a traced job has */
        return collector_main(argc - 2, argv + 2);
    int status = options_parse(argc, argv, &options, &drivers);
    if (status == OPTIONS_GO_ON && recover_is_wanted(&options)) {
        status = recover_run(&options);
    } else if (status == OPTIONS_GO_ON && object_is_executable(options.program)) {
        status = watch_run(&options, &drivers);
    } else if (status == OPTIONS_GO_ON) {
        keep_if_it_parks(&options);
        if (load_program(options.program, &program, &error) != 0)
            status = report_load_error(&options, &drivers, error.text);
        else if (drivers.no_walk)
            status = finish_output(look_only(&options, &drivers, &program));
        else
            status = walk_or_relaunch(&options, &drivers, &program);
    } else {
        status = finish_output(status); /* --help and the like */
    }
    unload_program(&program);
    drivers_close(&drivers);
    return status;
}
