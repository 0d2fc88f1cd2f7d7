/* Running a program: see run.h. */
#include "driver/run.h"

#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/launch.h"
#include "driver/recording.h"
#include "driver/walk.h"
#include "runtime/job/job.h"
#include "runtime/records/records.h"

/* ---- Arguments: INIT may change what it gets, and every INIT gets them as they were given ---- */

struct arguments {
    int argc;
    char **argv;    /* what INIT sees */
    char **strings; /* what was allocated */
};

static int copy_arguments(const struct options *options, struct arguments *copy)
{
    size_t count = (size_t)options->argc;
    copy->argc = options->argc;
    copy->argv = calloc(count + 1, sizeof *copy->argv);
    copy->strings = calloc(count + 1, sizeof *copy->strings);
    for (size_t i = 0; copy->argv && copy->strings && i < count; i++)
        copy->argv[i] = copy->strings[i] = strdup(options->argv[i]);
    return copy->argv && copy->strings ? 0 : -1;
}

static void free_arguments(struct arguments *copy)
{
    for (char **string = copy->strings; string && *string; string++)
        free(*string);
    free(copy->strings);
    free(copy->argv);
}

static enum walk_outcome walk_program(const struct options *options, struct walk *walk, bool joining)
{
    struct arguments copy;
    enum walk_outcome outcome = WALK_FAILED;
    if (copy_arguments(options, &copy))
        snprintf(walk->error, sizeof walk->error, "out of memory");
    else if (joining)
        outcome = walk_joining(walk, &copy.argc, &copy.argv);
    else
        outcome = walk_from_start(walk, &copy.argc, &copy.argv);
    free_arguments(&copy);
    return outcome;
}

/* ---- Alone --------------------------------------------------------------------------------- */

/* Where a launch runs such a program several times, that of its first process is recorded. */
static void begin_records(const struct loaded_program *program, struct drivers *drivers, int quiet)
{
    char id[96];
    if (launch_detect().rank > 0)
        return;
    snprintf(id, sizeof id, "%.60s-%ld", program->program->name, (long)getpid());
    recording_use(drivers, quiet);
    epop__records_begin(&(struct records_job){.id = id, .path = program->path, .size = 1});
}

int run_serial(const struct options *options, struct drivers *drivers, struct loaded_program *program)
{
    int told = drivers_loaded(drivers, program->program, 0);
    if (told == EPOP_DRIVER_DONE)
        return EXIT_DONE;
    if (told) {
        fprintf(stderr, "epop: %s\n", drivers->refusal);
        return EXIT_USAGE;
    }
    begin_records(program, drivers, options->quiet);
    struct walk walk = {.program = program->program, .elastic = epop__solo_elastic(), .drivers = drivers};
    if (walk_program(options, &walk, false) != WALK_FAILED) {
        epop__records_hand_over();
        return epop__records_finish(epop__solo_stopped_by()) ? EXIT_FAILED : EXIT_DONE;
    }
    fprintf(stderr, "epop: %s\n", walk.error);
    epop__records_fail(walk.error);
    return EXIT_FAILED;
}

/* ---- A job ----------------------------------------------------------------------------------- */

static enum walk_outcome walk_part(const struct options *options, struct drivers *drivers,
                                   const struct loaded_program *program, bool joining)
{
    struct walk walk = {.program = program->program, .elastic = epop__job_elastic(), .drivers = drivers};
    enum walk_outcome outcome = walk_program(options, &walk, joining);
    if (outcome == WALK_FAILED)
        epop__job_fail(walk.error);
    epop__records_hand_over();
    return outcome;
}

/* As good as new: the program is unloaded, and the memory that it freed goes back to the system. */
static void park(struct loaded_program *program)
{
    if (epop__job_hosts()) {
        malloc_trim(0);
        return;
    }
    int stays_mapped = program->handle ? unload_program(program) : 0;
    if (epop__job_leaves(!stays_mapped))
        epop__job_leave();
    malloc_trim(0);
    epop__job_parked(!stays_mapped);
}

static void join(const struct options *options, struct drivers *drivers, struct loaded_program *program)
{
    char error[512];
    /* A process of the first standby has loaded the program, and has never run it. */
    bool loaded = program->handle || load_program(options->program, program, error, sizeof error) == 0;
    if (epop__job_join(loaded ? NULL : error)) {
        if (walk_part(options, drivers, program, true) == WALK_ENDED) {
            epop__job_ended();
            return;
        }
    } else {
        const struct elastic *elastic = epop__job_elastic();
        struct position at;
        char text[200];
        if (elastic->join(elastic->context, loaded ? "another joining process could not start" : error, &at))
            elastic->window_open(elastic->context, text, sizeof text); /* others are waiting to hear of it there */
    }
    park(program);
}

/* One part after the other until the program has ended everywhere. */
static void take_parts(const struct options *options, struct drivers *drivers, struct loaded_program *program)
{
    for (;;) {
        switch (epop__job_next()) {
        case JOB_START:
            if (walk_part(options, drivers, program, false) == WALK_ENDED)
                epop__job_ended();
            else
                park(program);
            break;
        case JOB_JOIN:
            join(options, drivers, program);
            break;
        case JOB_OVER:
            return;
        }
    }
}

#define GO_ON (-1)

/* What the processes agree on before anything runs: GO_ON, or the status to end with. */
static int before_the_walk(struct drivers *drivers, const struct loaded_program *program, const char *load_error,
                           int process)
{
    bool joins = epop__job_joins();
    if (!joins && !epop__job_all_loaded(program ? NULL : load_error))
        return EXIT_USAGE;
    int told = program ? drivers_loaded(drivers, program->program, process) : 0;
    if (!joins && !epop__job_all_loaded(told && told != EPOP_DRIVER_DONE ? drivers->refusal : NULL))
        return EXIT_USAGE;
    if (told == EPOP_DRIVER_DONE)
        MPI_Finalize();
    return told == EPOP_DRIVER_DONE ? EXIT_DONE : GO_ON;
}

int run_job(const struct options *options, struct drivers *drivers, struct loaded_program *program,
            const char *load_error)
{
    int process, processes;
    struct loaded_program none = {0};
    struct job_options job = {
        .start = options->start,
        .backend = options->backend,
        .leave = options->leave,
        .prepare_timeout = options->prepare_timeout,
        .min_interval = options->min_interval,
        .finish_timeout = options->finish_timeout,
        .watchdog = options->watchdog,
        .watchdog_abort = options->watchdog_abort,
        .quiet = options->quiet,
        .verbose = options->verbose,
        .path = program && program->path ? program->path : options->program,
        .maximum = options->maximum,
        .no_ahead = options->no_ahead || (program && program->uses.error_handlers),
        .spawn = {.baseline = options->spawn_baseline, .single = options->spawn_single, .async = options->spawn_async},
        .command = options->full_argv,
    };
    recording_use(drivers, options->quiet);
    epop__job_init(&job, &process, &processes);
    int status = before_the_walk(drivers, program, load_error, process);
    if (status != GO_ON)
        return status;
    if (!program)
        program = &none;
    if (epop__job_start(&job, program->program))
        return EXIT_USAGE;
    take_parts(options, drivers, program);
    drivers_close(drivers);
    unload_program(program);
    return epop__job_close();
}
