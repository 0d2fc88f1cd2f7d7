/* The start: MPI, what is agreed before anything runs, the first world, and the control plane. See job.h. */
#include "runtime/job/job.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/interpose.h"
#include "runtime/backends/ahead.h"
#include "runtime/backends/backend.h"
#include "runtime/backends/keeper.h"
#include "runtime/backends/launcher.h"
#include "runtime/control/control.h"
#include "runtime/coordinator/coordinator.h"
#include "runtime/crash/crash.h"
#include "runtime/identity.h"
#include "runtime/job/state.h"
#include "runtime/lookout.h"
#include "runtime/member/json.h"
#include "runtime/signals.h"
#include "runtime/world.h"

struct job job;

/* ---- MPI, and loading --------------------------------------------------------- */

/* With another backend a parent is none of ours. */
static bool is_spawned(const struct job_options *options)
{
    return !strcmp(options->backend, backend_spawn.coordinator.name) && spawn_joining(&job.joining);
}

int job_thread_level(const struct job_options *options)
{
    bool may_join = !strcmp(options->backend, backend_join.coordinator.name) || !strcmp(options->backend, "auto");
    bool helped = options->spawn.async || (may_join && !options->no_ahead && ahead_wanted());
    return helped ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
}

void epop__job_init(const struct job_options *options, int *process, int *processes)
{
    int provided, up;
    spawn_init(&options->spawn);
    job.joined_by = &backend_join;
    job.joins = launcher_joining(&job.joining);
    signal(SIGPIPE, SIG_IGN); /* a connection to a process that died is an error to MPI and to us, and not the end */
    MPI_Initialized(&up);
    if (!up) {
        setenv("MPIR_CVAR_SUPPRESS_ABORT_MESSAGE", "1", 0); /* our own line says more */
        MPI_Init_thread(NULL, NULL, job_thread_level(options), &provided);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &job.process);
    MPI_Comm_size(MPI_COMM_WORLD, &job.processes);
    if (is_spawned(options)) {
        job.joined_by = &backend_spawn;
        job.joins = true;
    }
    *process = job.process + (job.joins ? job.joining.first : 0);
    *processes = job.processes;
}

int epop__job_joins(void)
{
    return job.joins;
}

int epop__job_all_loaded(const char *error)
{
    int mine = error ? job.process : job.processes, first;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == job.processes)
        return 1;
    if (first == job.process)
        fprintf(stderr, "epop: %s\n", error);
    MPI_Finalize();
    return 0;
}

/* ---- The choice of parts ------------------------------------------------------ */

/* Rank 0's choice of how many ranks start, or 0 with text. */
static int choose_start(const epop_program_t *program, char *error, size_t error_size)
{
    int wanted = job.options.start ? job.options.start : job.processes;
    if (wanted > job.processes) {
        snprintf(error, error_size, "--start %d needs as many processes, but the launch has %d; raise mpiexec's -n",
                 wanted, job.processes);
        return 0;
    }
    int start = epop_sizes_round_down(&program->sizes, wanted);
    if (!start)
        snprintf(error, error_size, "%s accepts neither %d ranks nor any smaller number; raise mpiexec's -n",
                 program->name, wanted);
    else if (start < wanted && !job.options.quiet)
        fprintf(stderr, "epop: note: %s does not accept %d ranks; %d start and %d stand by\n", program->name, wanted,
                start, job.processes - start);
    return start;
}

static void choose_backend(const char *name, bool lends, char *error, size_t error_size)
{
    char why[400];
    const struct backend_wish wish = {.name = name, .lends = lends, .leave = job.options.leave};
    world.backend = backend_find(&wish, why, sizeof why);
    if (!world.backend)
        snprintf(error, error_size, "%s", why);
    else if (job.process == 0 && job.options.verbose)
        fprintf(stderr, "epop: backend '%s': %s\n", world.backend->coordinator.name, why);
}

/* Rank 0 chooses how many start and with which backend; all take the same. */
static void choose_parts(const epop_program_t *program, char *error, size_t error_size)
{
    char backend[32] = "";
    if (job.process == 0 && (job.start = choose_start(program, error, error_size)) > 0) {
        choose_backend(job.options.backend, job.start < job.processes, error, error_size);
        snprintf(backend, sizeof backend, "%s", world.backend ? world.backend->coordinator.name : "");
    }
    MPI_Bcast(&job.start, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(backend, sizeof backend, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (job.process && backend[0])
        choose_backend(backend, false, error, error_size);
}

/* ---- World, member and control plane --------------------------------------------- */

void job_begin_world(MPI_Comm comm, epop_status_t status)
{
    world_set(comm, status);
    if (world.backend->coordinator.ahead && comm != MPI_COMM_NULL)
        ahead_begin(&job.member, comm);
}

static void make_first_world(void)
{
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &world.launch);
    if (job.process < job.start)
        comm = world.backend->first_world(&world, job.start);
    job_begin_world(comm, EPOP_NEW);
}

/* Lets MPI move messages that other ranks wait for. */
static void poke(void *context)
{
    int flag;
    (void)context;
    if (world.comm != MPI_COMM_NULL)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world.comm, &flag, MPI_STATUS_IGNORE);
}

static void on_other_message(const cJSON *message)
{
    const char *op = json_text(message, "op");
    if (op && !strcmp(op, "dump"))
        crash_dump();
    else if (world.backend->message)
        world.backend->message(message);
}

static void make_member(int process)
{
    member_init(&job.member, process);
    world.member = &job.member;
    job.member.tell = job_tell;
    job.member.poke = poke;
    job.member.other = on_other_message;
    job.member.describe = lookout_describe;
    lookout_start(&job.member.where);
    crash_install(&job.member.where, process, job_deliver_crash);
}

static int tell_coordinator(const cJSON *message)
{
    return job_tell(NULL, message);
}

/* What is needed to have others join: by a launcher on process 0, by spawning on all. */
static int set_launcher_job(char **command, char *error, size_t error_size)
{
    struct launcher_job all = {command, job.plane.uri, job.plane.token, tell_coordinator};
    spawn_set_job(&all);
    if (job.member.process || !launcher_init(&all))
        return 0;
    snprintf(error, error_size, "out of memory");
    return -1;
}

static int start_control(const struct job_options *options, const epop_program_t *program, char *error,
                         size_t error_size)
{
    struct coordinator_config config = {
        .path = options->path,
        .program = program,
        .backend = &world.backend->coordinator,
        .size = job.start,
        .processes = job.processes,
        .maximum = world.backend->flags & BACKEND_LENDS ? job.processes : options->maximum,
        .prepare_timeout = options->prepare_timeout,
        .freeze_timeout = 10,
        .connect_timeout = BACKEND_CONNECT_TIMEOUT,
        .min_interval = options->min_interval,
        .finish_timeout = options->finish_timeout,
        .rollcall = job.rollcall,
        .watchdog = options->watchdog,
        .watchdog_abort = options->watchdog_abort,
    };
    job.plane.verbose = options->verbose;
    job.plane.quiet = options->quiet;
    if (plane_start(&job.plane, &job.member, &config, error, error_size))
        return -1;
    return set_launcher_job(options->command, error, error_size);
}

/* The wake-up of a process that was started to join is that it was started; so is the decision, if it comes with it. */
static void wake_up(void)
{
    member_receive(&job.member, job.joining.wake);
    cJSON_Delete(job.joining.wake);
    if (!job.joining.plan)
        return;
    cJSON *decide = json_message("decide");
    cJSON_AddStringToObject(decide, "action", "adapt");
    cJSON_AddItemToObject(decide, "plan", job.joining.plan);
    member_receive(&job.member, decide);
    cJSON_Delete(decide);
}

/* A process that was started to join. */
static int start_joining(void)
{
    char error[300] = "";
    keeper_expendable(true);
    MPI_Comm_dup(MPI_COMM_WORLD, &world.launch);
    world.first = job.joining.first;
    world.backend = job.joined_by;
    world_set(MPI_COMM_NULL, EPOP_JOINING);
    make_member(job.joining.first + job.process);
    wake_up();
    if (plane_follow(&job.plane, &job.member, job.joining.uri, job.joining.token, error, sizeof error)) {
        fprintf(stderr, "epop: %s\n", error);
        return -1;
    }
    return set_launcher_job(job.options.command, error, sizeof error);
}

int epop__job_start(const struct job_options *options, const epop_program_t *program)
{
    char error[400] = "";
    job.options = *options;
    job.first_part = true;
    world_request = job_request;
    world_connected = job_connected;
    interpose_life.abort = job_abort;
    control_prepare();
    if (program) /* one that could not be loaded says so later */
        identity_text(options->path, job.plane.identity);
    if (job.joins) {
        signals_install_joining();
        return start_joining();
    }
    choose_parts(program, error, sizeof error);
    if (!epop__job_all_loaded(world.backend ? NULL : error[0] ? error : "rank 0 cannot start"))
        return -1;
    make_member(job.process);
    make_first_world();
    bool up = start_control(options, program, error, sizeof error) == 0;
    if (!epop__job_all_loaded(up ? NULL : error))
        return -1;
    signals_install(job.plane.coordinator);
    return 0;
}

int epop__job_directory(const char *purpose, char *path, size_t size, char *error, size_t error_size)
{
    if (job.member.process == 0)
        control_directories_sweep(); /* before a new one is made, what killed jobs have left */
    return control_directory(purpose, job.plane.token, path, size, error, error_size);
}
