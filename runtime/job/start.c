/* The start: MPI, what is agreed before anything runs, the first world, and the control plane. */
#include "runtime/job/job.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "epop_api/program.h"
#include "interpose/interpose.h"
#include "runtime/ahead/ahead.h"
#include "runtime/backends/device.h"
#include "runtime/backends/launcher.h"
#include "runtime/backends/preconnect.h"
#include "runtime/base/error.h"
#include "runtime/base/json.h"
#include "runtime/base/say.h"
#include "runtime/base/thread.h"
#include "runtime/base/tried.h"
#include "runtime/control/control.h"
#include "runtime/control/supervisor.h"
#include "runtime/coordinator/coordinator.h"
#include "runtime/crash/crash.h"
#include "runtime/hydra/holders.h"
#include "runtime/hydra/hydra.h"
#include "runtime/hydra/keeper.h"
#include "runtime/hydra/pmi.h"
#include "runtime/job/beside.h"
#include "runtime/job/checkpoints.h"
#include "runtime/job/hwloc.h"
#include "runtime/job/plane.h"
#include "runtime/job/sampler.h"
#include "runtime/job/signals.h"
#include "runtime/job/state.h"
#include "runtime/job/supervised.h"
#include "runtime/job/tell.h"
#include "runtime/job/walk.h"
#include "runtime/launch/engine.h"
#include "runtime/wire/messages.h"
#include "runtime/world/backend.h"
#include "runtime/world/world.h"

/* ---- MPI, and loading --------------------------------------------------------- */

/* With another backend a parent is none of ours. */
static bool is_spawned(const struct job_options *options)
{
    return backend_may_be(options->backend, &backend_spawn) && spawn_joining(&job.joining);
}

/* With an extension of MPICH's a thread of ours need not complete requests of process sets (runtime/adapt/psetop.c). */
#ifdef MPICH_VERSION
enum { COMPLETES = false };
#else
enum { COMPLETES = true };
#endif

/* The level of thread support that MPI is wanted with. */
static int thread_level(const struct job_options *options)
{
    bool preconnects = backend_may_be(options->backend, &backend_join) && !options->no_ahead && preconnect_wanted();
    bool helped = options->spawn.async || preconnects || options->sessions || (COMPLETES && options->executable);
    return helped ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
}

/* Before MPI has the connection. */
static void look_at_launcher(void)
{
    if (hydra_loses_statuses(device_read().version))
        pmi_outlive();
}

int job_init_mpi(const struct job_options *options, int *argc, char ***argv)
{
    int provided;
    sigset_t before;
    unsigned left_out = hwloc_look_less();
    look_at_launcher();
    device_be_found();
    engine_prepare();
    thread_mask_signals(&before); /* an MPI library may have threads, too */
    int error = MPI_Init_thread(argc, argv, thread_level(options), &provided);
    thread_unmask_signals(&before);
    hwloc_look_at_all(left_out);
    return error;
}

void epop__job_init(const struct job_options *options, int *process, int *processes)
{
    int up;
    engine_for(device_read().maker);
    supervisor_know();
    spawn_init(&options->spawn);
    job.joined_by = &backend_join;
    job.joins = launcher_joining(&job.joining);
    if (!job.joins)
        supervised_starts();
    signal(SIGPIPE, SIG_IGN); /* a connection to a process that died is an error to MPI and to us, and not the end */
    MPI_Initialized(&up);
    if (!up)
        job_init_mpi(options, NULL, NULL);
    if (engine()->follow)
        engine()->follow();
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
    if (first == job.process) {
        say_line("%s", error);
        supervised_fail(0, error); /* with the launch's status */
    }
    MPI_Finalize();
    return 0;
}

/* ---- The choice of size and backend ------------------------------------------------------ */

/* Those who go on from a checkpoint have counted on that many: 0 with text where the phase does not accept them. */
static int choose_size_again(const epop_program_t *program, int wanted, struct error *error)
{
    int pc = checkpoints_position()->pc;
    const epop_sizes_t *sizes = epop_sizes_at(program, pc);
    char text[200];
    int fits = epop_sizes_round_down(sizes, wanted);
    if (fits == wanted)
        return wanted;
    if (supervised_again() && fits) { /* whoever started it knew no size rules */
        supervised_fits(fits);
        error_set(error, ERROR_FAILED, "note: element %d accepts %d of the %d ranks that there is room for", pc, fits,
                  wanted);
        return 0;
    }
    epop_sizes_text(sizes, text, sizeof text);
    error_set(error, ERROR_FAILED, "element %d '%s', with which %s goes on, does not accept %d ranks; it accepts %s",
              pc, program->elements[pc].name ? program->elements[pc].name : "", program->name, wanted, text);
    return 0;
}

/* None of an executable's ranks can stand by. */
static int refuse_size(const epop_program_t *program, int size, int fits, struct error *error)
{
    char text[200], instead[40] = "a larger number";
    epop_sizes_text(&program->sizes, text, sizeof text);
    if (fits)
        snprintf(instead, sizeof instead, "-n %d", fits);
    error_set(error, ERROR_FAILED, "%s does not accept %d ranks, but %s; start it with %s", program->name, size, text,
              instead);
    return 0;
}

/* Rank 0's choice of how many ranks start, or 0 with text. */
static int choose_size(const epop_program_t *program, struct error *error)
{
    int wanted = job.options.start ? job.options.start : job.processes;
    if (wanted > job.processes) {
        error_set(error, ERROR_FAILED, "--start %d needs as many processes, but the launch has %d; raise mpiexec's -n",
                  wanted, job.processes);
        return 0;
    }
    if (checkpoints_restarting())
        return choose_size_again(program, wanted, error);
    int start = epop_sizes_round_down(&program->sizes, wanted);
    if (start < wanted && job.options.executable)
        return refuse_size(program, wanted, start, error);
    if (!start)
        error_set(error, ERROR_FAILED, "%s accepts neither %d ranks nor any smaller number; raise mpiexec's -n",
                  program->name, wanted);
    else if (start < wanted && !job.options.quiet)
        say_line("note: %s does not accept %d ranks; %d start and %d stand by", program->name, wanted, start,
                 job.processes - start);
    return start;
}

/* For --verbose. */
static void tell_of_library(void)
{
    struct device device = device_read();
    char untried[TRIED_TEXT];
    if (device.maker[0] && !tried_with(device.maker, device.version, untried))
        say_line("note: %s", untried);
}

static void choose_backend(const char *name, bool lends, struct error *error)
{
    struct error why = {0};
    if (backend_leave(job.options.leave, &job.leave, error))
        return;
    const struct backend_wish wish = {.name = name, .lends = lends, .leave = job.leave};
    world.backend = backend_find(&wish, &why);
    if (!world.backend)
        error_set(error, ERROR_FAILED, "%s", why.text);
    if (!world.backend || job.process || !job.options.verbose)
        return;
    tell_of_library();
    say_line("backend '%s': %s", world.backend->name, why.text);
}

/* Rank 0 chooses how many start and with which backend; all take the same. */
static void choose_start(const epop_program_t *program, struct error *error)
{
    char backend[32] = "";
    supervised_look();
    if (job.process == 0 && !checkpoints_open(error) && (job.start = choose_size(program, error)) > 0) {
        choose_backend(job.options.backend, job.start < job.processes, error);
        snprintf(backend, sizeof backend, "%s", world.backend ? world.backend->name : "");
    }
    MPI_Bcast(&job.start, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(backend, sizeof backend, MPI_CHAR, 0, MPI_COMM_WORLD);
    checkpoints_share();
    if (job.process && backend[0])
        choose_backend(backend, false, error);
}

/* ---- World, member and control plane --------------------------------------------- */

void job_begin_world(MPI_Comm comm, epop_status_t status)
{
    world_set(comm, status);
    if (world.backend->begin && comm != MPI_COMM_NULL)
        world.backend->begin(&world);
}

static void make_first_world(void)
{
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &world.launch);
    if (job.process < job.start)
        comm = world.backend->first_world(&world, job.start);
    job_begin_world(comm, checkpoints_restarting() ? EPOP_RESTARTING : EPOP_NEW);
}

/* Lets MPI move messages that other ranks wait for. */
static void poke(void *context)
{
    int flag;
    MPI_Comm comm = job.options.sessions ? MPI_COMM_SELF : world.comm; /* which an agent may be about to free */
    (void)context;
    if (comm != MPI_COMM_NULL)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
}

static void on_dump(void *context, const struct order_dump *order)
{
    (void)context, (void)order;
    crash_dump();
}

TAKES(order, dump, on_dump)
TAKES(order, gauge, sampler_measure)
TAKES(order, gauge_off, sampler_measure_no_more)
TAKES(order, keep, checkpoints_keep)

static const struct message_row messages[] = {
    {order_dump_id, order_dump_taken},
    {order_gauge_id, order_gauge_taken},
    {order_gauge_off_id, order_gauge_off_taken},
    {order_keep_id, order_keep_taken},
};

static void make_member(int process)
{
    member_init(&job.member, process);
    world.member = &job.member;
    job.member.tell = job_tell;
    job.member.poke = poke;
    member_understand(&job.member, messages, sizeof messages / sizeof *messages, NULL);
    member_understand(&job.member, world.backend->messages, world.backend->message_count, NULL);
    job.member.describe = sampler_place;
    job.member.waits = sampler_waits;
    ahead_init(&job.member, job.plane.uri, job.options.ahead_limit);
    sampler_start(&job.member.live);
    crash_install(&job.member.live, process, job_deliver_crash);
}

static int tell_coordinator(const cJSON *message)
{
    return job_tell(NULL, message);
}

int epop__job_grows(void)
{
    return world.backend && world.backend != &backend_shrink;
}

/* What is needed to have others join: by a launcher on process 0, by spawning on all. */
static int set_launcher_job(char **command, struct error *error)
{
    struct launcher_job all = {command, job.plane.uri, job.plane.token, tell_coordinator};
    spawn_set_job(&all);
    if (job.member.process || !launcher_init(&all))
        return 0;
    return error_memory(error);
}

static int start_control(const struct job_options *options, const epop_program_t *program, struct error *error)
{
    struct coordinator_config config = {
        .path = options->path,
        .arguments = options->checkpoint.arguments,
        .program = program,
        .backend = world.backend,
        .size = job.start,
        .processes = job.processes,
        .maximum = backend_ends(world.backend) ? options->maximum : job.processes,
        .prepare_timeout = options->prepare_timeout,
        .ahead_limit = options->ahead_limit,
        .freeze_timeout = 10,
        .connect_timeout = BACKEND_CONNECT_TIMEOUT,
        .min_interval = options->min_interval,
        .balance = options->balance,
        .finish_timeout = options->finish_timeout,
        .rollcall = job.rollcall,
        .executable = options->executable && !options->sessions, /* agents do not probe on their own */
        .sessions = options->sessions,
        .ahead = program && epop__program_blocks(program).describe && !options->no_ahead_data,
        .watchdog = options->watchdog,
        .measure_to = options->measure_to,
        .speeds = options->speeds,
        .speed_count = options->speed_count,
        .watchdog_abort = options->watchdog_abort,
    };
    job.plane.verbose = options->verbose;
    job.plane.quiet = options->quiet;
    job.plane.no_gateway = options->no_pmix;
    if (plane_start(&job.plane, &job.member, &config, error) || set_launcher_job(options->command, error))
        return -1;
    return job.process == 0 ? plane_open(&job.plane, program, error) : 0;
}

/* The wake-up of a process that was started to join is that it was started; so is the decision, if it comes with it. */
static void wake_up(void)
{
    member_receive(&job.member, job.joining.wake);
    cJSON_Delete(job.joining.wake);
    if (!job.joining.plan)
        return;
    cJSON *decide = json_message(ORDER(decide));
    cJSON_AddStringToObject(decide, "action", "adapt");
    cJSON_AddNumberToObject(decide, "count", json_number(job.joining.plan, "count", 0));
    cJSON_AddItemToObject(decide, "plan", job.joining.plan);
    member_receive(&job.member, decide);
    cJSON_Delete(decide);
}

static void tell_leaving(void)
{
    cJSON *message = json_message(REPORT(leave));
    plane_tell(&job.plane, message);
    cJSON_Delete(message);
}

/* A process that was started to join. */
static int start_joining(void)
{
    struct error error = {0};
    keeper_expendable(true);
    backend_leave(job.options.leave, &job.leave, &error); /* the first processes have it from the same command line */
    MPI_Comm_dup(MPI_COMM_WORLD, &world.launch);
    world.first = job.joining.first;
    world.backend = job.joined_by;
    world_set(MPI_COMM_NULL, EPOP_JOINING);
    make_member(job.joining.first + job.process);
    wake_up();
    if (plane_follow(&job.plane, &job.member, job.joining.uri, job.joining.token, &error)) {
        say_line("%s", error.text);
        return -1;
    }
    signals_leave_by(tell_leaving);
    return set_launcher_job(job.options.command, &error);
}

/* The probes of an executable are its iterations. Nobody asks for the count before the control plane is there. */
static void count_on(void)
{
    atomic_store(&job.member.ceiling.count, (uint64_t)checkpoints_position()->iteration - 1);
}

static const struct world_services services = {.request = job_request,
                                               .request_balance = job_request_balance,
                                               .request_checkpoint = job_request_checkpoint,
                                               .connected = job_connected};

int epop__job_start(const struct job_options *options, const epop_program_t *program)
{
    struct error error = {0};
    job.options = *options;
    holders_begin();
    pmi_only_here();
    world_serve(&services);
    world.hidden = options->sessions;
    interpose_life.abort = job_abort;
    if (program) /* one that could not be loaded says so later */
        plane_identify(&job.plane, options->path);
    if (job.joins) {
        signals_install_joining();
        if (program)
            checkpoints_read(options, program, &error); /* what is wrong with it process 0 has refused */
        return start_joining();
    }
    struct beside_nodes range;
    if (!beside_companions_read(options->elastic, &range, &error) && !checkpoints_read(options, program, &error))
        choose_start(program, &error);
    if (!epop__job_all_loaded(world.backend ? NULL : error.text[0] ? error.text : "rank 0 cannot start"))
        return -1;
    make_member(job.process);
    make_first_world();
    if (options->executable && checkpoints_restarting())
        count_on();
    if (job.process != 0)
        signals_install(NULL); /* whoever is attached is signalled, too */
    bool up = start_control(options, program, &error) == 0;
    if (!epop__job_all_loaded(up ? NULL : error.text))
        return -1;
    if (job.process == 0)
        beside_companions_begin(&range, options->companions, coordinator_job(job.plane.coordinator), job.start);
    return 0;
}

int epop__job_directory(const char *purpose, char *path, size_t size, struct error *error)
{
    if (job.member.process == 0)
        control_directories_sweep(); /* before a new one is made, what killed jobs have left */
    return control_directory(purpose, job.plane.token, path, size, error);
}
