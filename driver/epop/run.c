/* Runs a program in this process: alone, or in the roles that a job gives it, one after the other. */
#include "driver/epop/run.h"

#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/epop/drivers.h"
#include "driver/epop/launch.h"
#include "driver/epop/walk.h"
#include "driver/tune/tuned.h"
#include "runtime/base/ending.h"
#include "runtime/base/error.h"
#include "runtime/base/say.h"
#include "runtime/coordinator/progress.h"
#include "runtime/job/job.h"
#include "runtime/records/records.h"

/* ---- Arguments: INIT may change what it gets, and every INIT gets them as they were given ------- */

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

/* ---- A program that calls exit() in one of its blocks ------------------------------------------- */

static struct walk *walking; /* NULL: no walk is under way */
static bool alone;

static void on_exit_of_program(int status)
{
    struct walk *walk = walking;
    walking = NULL;
    if (!walk || !walk_exits(walk, status))
        return;
    if (!alone) {
        epop__job_exits(walk->error);
        return;
    }
    say_line("%s", walk->error);
    epop__records_fail(walk->error);
    fflush(NULL);
    ending_quit(EXIT_FAILED);
}

static const char *what_quits(const char *call)
{
    struct walk *walk = walking;
    if (!walk)
        return NULL;
    walk_quits(walk, call);
    return walk->error;
}

static const struct job_exits exits = {.exits = on_exit_of_program, .quits = what_quits};

/* ---- The walk ----------------------------------------------------------------------------------- */

static enum walk_outcome walk_program(const struct options *options, struct walk *walk, bool joining)
{
    struct arguments copy;
    enum walk_outcome outcome = WALK_FAILED;
    walking = walk;
    if (copy_arguments(options, &copy))
        snprintf(walk->error, sizeof walk->error, "out of memory");
    else if (joining)
        outcome = walk_joining(walk, &copy.argc, &copy.argv);
    else
        outcome = walk_from_start(walk, &copy.argc, &copy.argv);
    free_arguments(&copy);
    walking = NULL;
    return outcome;
}

/* ---- What an earlier run has found --------------------------------------------------------------- */

/* In the phase that was tuned; they stay. */
static void hand_on_speeds(const struct tuned *tuned, const epop_program_t *program, struct job_options *job)
{
    static struct speed speeds[SEARCH_VALUES];
    int pc = program->size;
    while (pc-- > 0 && (!program->elements[pc].name || strcmp(program->elements[pc].name, tuned->phase)))
        ;
    if (pc < 0)
        return;
    for (int i = 0; i < tuned->speed_count; i++)
        speeds[i] = (struct speed){pc, tuned->speeds[i].ranks, tuned->speeds[i].iterations, tuned->speeds[i].seconds};
    job->speeds = speeds;
    job->speed_count = tuned->speed_count;
}

/* Schedulers get to know how many ranks the program uses well. NULL, or what is wrong. */
static const char *fit_tuned(const struct options *options, epop_program_t *program, struct job_options *job)
{
    static char text[400];
    const struct tuned *tuned = options->tuned;
    if (!tuned || !program)
        return NULL;
    if (strcmp(tuned->program, program->name)) {
        snprintf(text, sizeof text, "--tuned: that is of the program '%.100s', and this one is '%.100s'",
                 tuned->program, program->name);
        return text;
    }
    if (!program->sizes.preferred && epop_sizes_accept(&program->sizes, tuned->preferred))
        program->sizes.preferred = tuned->preferred;
    hand_on_speeds(tuned, program, job);
    return NULL;
}

static const struct tuned *tuned_before;
static bool tuned_speaks;

static void set_tuned(void)
{
    tuned_set(tuned_before, tuned_speaks);
}

/* In the walk of this process. */
static void use_tuned(const struct options *options, bool speaks, struct walk *walk)
{
    tuned_before = options->tuned;
    tuned_speaks = speaks && !options->job.quiet;
    walk->begun = options->tuned ? set_tuned : NULL;
}

/* ---- Alone -------------------------------------------------------------------------------------- */

/* Where a launch runs such a program several times, that of its first process is recorded. */
static void begin_records(const struct loaded_program *program, struct drivers *drivers, int quiet)
{
    char id[96];
    if (launch_detect().rank > 0)
        return;
    snprintf(id, sizeof id, "%.60s-%ld", program->program->name, (long)getpid());
    drivers_record(drivers, quiet);
    epop__records_begin(&(struct records_job){.id = id, .path = program->path, .size = 1});
}

int run_serial(const struct options *options, struct drivers *drivers, struct loaded_program *program)
{
    struct job_options job = options->job;
    const char *unfit = fit_tuned(options, program->program, &job);
    if (unfit) {
        say_line("%s", unfit);
        return EXIT_USAGE;
    }
    int answer = drivers_loaded(drivers, program->program, 0);
    if (answer == EPOP_DRIVER_DONE)
        return EXIT_DONE;
    if (answer) {
        say_line("%s", drivers->refusal);
        return EXIT_USAGE;
    }
    begin_records(program, drivers, options->job.quiet);
    alone = true;
    epop__job_watch_exit(&exits);
    struct walk walk = {.program = program->program, .elastic = epop__solo_elastic(), .drivers = drivers};
    use_tuned(options, launch_speaks(), &walk);
    if (walk_program(options, &walk, false) != WALK_FAILED) {
        epop__records_hand_over();
        return epop__records_finish(epop__solo_stopped_by()) ? EXIT_FAILED : EXIT_DONE;
    }
    say_line("%s", walk.error);
    epop__records_fail(walk.error);
    return EXIT_FAILED;
}

/* ---- A job -------------------------------------------------------------------------------------- */

static enum walk_outcome walk_role(const struct options *options, struct drivers *drivers,
                                   const struct loaded_program *program, bool joining)
{
    struct walk walk = {.program = program->program, .elastic = epop__job_elastic(), .drivers = drivers};
    use_tuned(options, launch_speaks() && !joining, &walk);
    enum walk_outcome outcome = walk_program(options, &walk, joining);
    if (outcome == WALK_FAILED)
        epop__job_fail(walk.error);
    epop__records_hand_over();
    return outcome;
}

/* As good as new: the program is unloaded, and the memory that it freed goes back to the system. */
static void park_process(struct loaded_program *program)
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

static void join_ranks(const struct options *options, struct drivers *drivers, struct loaded_program *program)
{
    struct error error = {0};
    /* A process of the first standby has loaded the program, and has never run it. */
    bool loaded = program->handle || load_program(options->program, program, &error) == 0;
    if (epop__job_join(loaded ? NULL : error.text)) {
        if (walk_role(options, drivers, program, true) == WALK_ENDED) {
            epop__job_ended();
            return;
        }
    } else {
        const struct elastic *elastic = epop__job_elastic();
        struct position position;
        struct error text;
        if (elastic->join(elastic->context, loaded ? "another joining process could not start" : error.text, &position))
            elastic->window_open(elastic->context, &text); /* others are waiting to hear of it there */
    }
    park_process(program);
}

/* One role after the other until the program has ended everywhere. */
static void take_roles(const struct options *options, struct drivers *drivers, struct loaded_program *program)
{
    for (;;) {
        switch (epop__job_next()) {
        case JOB_START:
            if (walk_role(options, drivers, program, false) == WALK_ENDED)
                epop__job_ended();
            else
                park_process(program);
            break;
        case JOB_JOIN:
            join_ranks(options, drivers, program);
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
    if (!joins && !epop__job_all_loaded(load_error))
        return EXIT_USAGE;
    int answer = program ? drivers_loaded(drivers, program->program, process) : 0;
    if (!joins && !epop__job_all_loaded(answer && answer != EPOP_DRIVER_DONE ? drivers->refusal : NULL))
        return EXIT_USAGE;
    if (answer == EPOP_DRIVER_DONE)
        MPI_Finalize();
    return answer == EPOP_DRIVER_DONE ? EXIT_DONE : GO_ON;
}

int run_job(const struct options *options, struct drivers *drivers, struct loaded_program *program,
            const char *load_error)
{
    int process, processes;
    struct loaded_program none = {0};
    struct job_options job = options->job;
    job.path = program && program->path ? program->path : options->program;
    if (program)
        load_error = fit_tuned(options, program->program, &job);
    job.no_ahead |= program && program->uses.error_handlers;
    drivers_record(drivers, options->job.quiet);
    epop__job_init(&job, &process, &processes);
    int status = before_the_walk(drivers, program, load_error, process);
    if (status != GO_ON)
        return status;
    if (!program)
        program = &none;
    if (epop__job_start(&job, program->program))
        return EXIT_USAGE;
    epop__job_watch_exit(&exits);
    take_roles(options, drivers, program);
    drivers_close(drivers);
    unload_program(program);
    return epop__job_close();
}
