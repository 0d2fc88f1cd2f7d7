/* A job of MPI processes: see job.h. */
#include "runtime/job.h"

#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interpose/interpose.h"
#include "runtime/backends/ahead.h"
#include "runtime/backends/backend.h"
#include "runtime/backends/keeper.h"
#include "runtime/backends/launcher.h"
#include "runtime/backends/pmi.h"
#include "runtime/control/control.h"
#include "runtime/coordinator/coordinator.h"
#include "runtime/crash/crash.h"
#include "runtime/lookout.h"
#include "runtime/member/json.h"
#include "runtime/member/rollcall.h"
#include "runtime/plane.h"
#include "runtime/records/records.h"
#include "runtime/redist/traffic.h"
#include "runtime/signals.h"

#define FAIL_TIMEOUT 3 /* seconds */

static struct {
    int process, processes; /* of the launch */
    int start;
    struct job_options options;
    struct member member;
    bool first_part; /* epop__job_next has not been called yet */
    struct plane plane;
    bool joins; /* was started to join a running job */
    struct joining joining;
    const struct backend *joined_by;
    bool adapted;    /* took part in a window, or tried to */
    int64_t decided; /* when the present window's plan was there, ns */
    bool connected;  /* in the present window, or reported that it is not */
    bool entangled;  /* connected to processes of other launches that are not in the world, or nearly so */
    const struct rollcall_options *rollcall; /* NULL: no roll calls are held */
} job;

/* ---- MPI, and what is agreed before anything runs --------------------------------- */

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

/* The world of the processes that start together is there. Collective over it. */
static void begin_world(MPI_Comm comm, epop_status_t status)
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
    begin_world(comm, EPOP_NEW);
}

/* ---- The member's way out ----------------------------------------------------------- */

static int tell(void *context, const cJSON *message)
{
    (void)context;
    return plane_tell(&job.plane, message);
}

static int tell_coordinator(const cJSON *message)
{
    return tell(NULL, message);
}

/* Lets MPI move messages that other ranks wait for. */
static void poke(void *context)
{
    int flag;
    (void)context;
    if (world.comm != MPI_COMM_NULL)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world.comm, &flag, MPI_STATUS_IGNORE);
}

static int request(const epop_request_t *request)
{
    cJSON *message = json_message("request");
    if (request->size)
        cJSON_AddNumberToObject(message, "size", request->size);
    cJSON_AddNumberToObject(message, "world", job.member.plan ? job.member.plan->adaptation : 0);
    if (request->add_hosts)
        cJSON_AddStringToObject(message, "add_hosts", request->add_hosts);
    if (request->release_hosts)
        cJSON_AddStringToObject(message, "release_hosts", request->release_hosts);
    if (request->release_count)
        cJSON_AddItemToObject(message, "release_ranks",
                              cJSON_CreateIntArray(request->release_ranks, request->release_count));
    return member_request(&job.member, message) ? EPOP_ERR_SYSTEM : EPOP_OK;
}

/* How connecting went, once per window: the first word counts. */
static void report_connected(const char *failure)
{
    if ((world.backend->flags & BACKEND_ENDS) && !job.connected)
        member_connected(&job.member, job.member.plan->adaptation, failure);
    job.connected = true;
}

static void connected(void)
{
    keeper_expendable(false);
    report_connected(NULL);
}

/* A program that calls MPI_Abort: the process manager then kills all at once. */
static int abort_job(MPI_Comm comm, int code)
{
    char text[100];
    snprintf(text, sizeof text, "rank %d called MPI_Abort with code %d", world.rank, code);
    epop__records_fail(text);
    return MPI_Abort(comm, code);
}

/* ---- Start ---------------------------------------------------------------------------- */

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

/* Of a crash, on the thread that hands it over. */
static int deliver_crash(const char *text, bool core)
{
    cJSON *message = json_message("crashed");
    cJSON_AddStringToObject(message, "text", text);
    cJSON_AddBoolToObject(message, "core", core);
    int result = plane_tell(&job.plane, message);
    cJSON_Delete(message);
    return result;
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
    job.member.tell = tell;
    job.member.poke = poke;
    job.member.other = on_other_message;
    job.member.describe = lookout_describe;
    lookout_start(&job.member.where);
    crash_install(&job.member.where, process, deliver_crash);
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
    world_request = request;
    world_connected = connected;
    interpose_life.abort = abort_job;
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

/* ---- The parts of a process -------------------------------------------------------------- */

enum job_role epop__job_next(void)
{
    bool starts = job.first_part && !job.joins && job.process < job.start;
    job.first_part = false;
    if (starts)
        return JOB_START;
    return member_standby(&job.member) == TASK_JOIN ? JOB_JOIN : JOB_OVER;
}

/* Where the first of several groups accepts the others. */
static cJSON *open_ports(int count)
{
    cJSON *ports = cJSON_CreateArray();
    while (count-- > 0) {
        char *port = world.backend->port();
        cJSON_AddItemToArray(ports, cJSON_CreateString(port ? port : ""));
        free(port);
    }
    return ports;
}

/* Joiners of several launches sleep until all have come, and are connected then. MPI_COMM_NULL if that is off. */
static MPI_Comm come_together(const struct gathering *joiners, MPI_Comm group)
{
    cJSON *own = joiners->index == 0 ? open_ports(joiners->groups - 1) : NULL;
    cJSON *meeting = member_meet(&job.member, joiners->adaptation, own);
    MPI_Comm all = MPI_COMM_NULL;
    if (meeting) {
        job.entangled = true;
        all = gathering_all(joiners, group, cJSON_GetObjectItemCaseSensitive(meeting, "ports"));
    } else {
        MPI_Comm_free(&group);
    }
    cJSON_Delete(meeting);
    cJSON_Delete(own);
    return all;
}

int epop__job_join(const char *failure)
{
    struct gathering joiners;
    int mine = failure || job.joining.failure[0], any;
    if (gathering_read(&joiners, job.member.wake, job.member.process))
        epop__job_fail("out of memory");
    MPI_Comm comm = world.backend->joiners_world(&world, &joiners);
    if (joiners.groups > 1)
        comm = come_together(&joiners, comm);
    gathering_free(&joiners);
    begin_world(comm, EPOP_JOINING);
    if (comm == MPI_COMM_NULL)
        return 0;
    /* A joiner that cannot load the program must not leave the others waiting for it in INIT. */
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, comm);
    return !any;
}

void epop__job_ended(void)
{
    fflush(NULL); /* the end may be an abort, if a process is stuck */
    member_end(&job.member);
}

void epop__job_parked(int reusable)
{
    if (world.comm != MPI_COMM_NULL)
        MPI_Comm_free(&world.comm);
    world_set(MPI_COMM_NULL, EPOP_LEAVING);
    keeper_expendable(true);
    member_parked(&job.member, reusable);
}

/* ---- The table for the walk ---------------------------------------------------------------- */

/* In a window a joining process goes by the rank that it will have: its own world says nothing to anybody. */
static void elastic_world(void *context, int *rank, int *size)
{
    (void)context;
    bool joining = world.state != WINDOW_NONE && world.window.status == EPOP_JOINING;
    *rank = joining ? world.window.new_rank : world.rank;
    *size = joining ? world.window.new_size : world.size;
}

static enum action elastic_hold(void *context, const struct position *at, int needs)
{
    (void)context;
    return member_hold(&job.member, at, needs);
}

static double (*mpi_time)(void);

void epop__job_mpi_time(double (*seconds)(void))
{
    mpi_time = seconds;
}

static void elastic_progress(void *context, const epop_progress_t *progress)
{
    (void)context;
    member_report_progress(&job.member, progress, mpi_time ? mpi_time() : -1);
}

static bool elastic_join(void *context, const char *failure, struct position *at)
{
    (void)context;
    if (job.joining.failure[0])
        failure = job.joining.failure;
    char *port = world.rank == 0 && !failure ? world.backend->port() : NULL;
    member_ready(&job.member, json_int(job.member.wake, "adaptation", 0), failure, port);
    world.failure = failure;
    bool joins = member_await_window(&job.member);
    if (!joins && port)
        MPI_Close_port(port); /* a parked process may open many */
    free(port);
    if (!joins)
        return false;
    *at = job.member.plan->at;
    return true;
}

static int elastic_open(void *context, char *error, size_t error_size)
{
    (void)context;
    job.connected = job.member.plan->connected;
    job.decided = monotonic_ns();
    int failed = world_offer_window(job.member.plan, job.member.process, error, error_size);
    report_connected(failed ? error : NULL);
    if (!failed && job.joins)
        signals_install(NULL);
    /* A connect that failed leaves something behind, which MPI_Finalize would wait for. */
    job.adapted |= !failed || world.backend->coordinator.kill;
    if (!failed)
        redist_traffic_begin(plan_total(job.member.plan));
    job.entangled = failed != 0;
    return failed;
}

static enum window_result elastic_close(void *context, char *error, size_t error_size)
{
    (void)context;
    const struct plan *plan = job.member.plan;
    if (world_close_window(error, error_size))
        return WINDOW_BROKEN;
    if (world.status == EPOP_LEAVING)
        return WINDOW_LEAVE;
    double stall = world.status == EPOP_STAYING ? monotonic_seconds() - job.member.held : 0;
    member_committed(&job.member, plan->adaptation, stall);
    return WINDOW_STAY;
}

static const epop_adapted_t *elastic_adapted(void *context)
{
    static epop_adapted_t adapted;
    (void)context;
    const epop_window_t *window = &world.window;
    const struct plan *plan = job.member.plan;
    free((epop_traffic_t *)adapted.traffic);
    adapted = (epop_adapted_t){.adaptation = plan->adaptation,
                               .process = job.member.process,
                               .old_rank = window->old_rank,
                               .old_size = window->old_size,
                               .new_rank = window->new_rank,
                               .new_size = window->new_size,
                               .least = redist_traffic.least,
                               .decided = job.decided,
                               .move_begin = redist_traffic.begin,
                               .move_end = redist_traffic.end,
                               .commit_begin = world.commit_begin,
                               .commit_end = world.commit_end};
    adapted.traffic = redist_traffic_list(plan->processes, &adapted.traffic_count);
    return &adapted;
}

const struct elastic *epop__job_elastic(void)
{
    static struct elastic elastic = {
        .world = elastic_world,
        .hold = elastic_hold,
        .report_progress = elastic_progress,
        .join = elastic_join,
        .window_open = elastic_open,
        .window_close = elastic_close,
        .adapted = elastic_adapted,
    };
    elastic.ceiling = &job.member.ceiling;
    elastic.where = &job.member.where;
    return &elastic;
}

/* ---- The end --------------------------------------------------------------------------------- */

int epop__job_clock(struct clock_reading *reading)
{
    *reading = (struct clock_reading){.same_clock = true, .same_host = true};
    return job.member.process == 0 ? 0 : clock_ask(tell, NULL, reading);
}

int epop__job_directory(const char *purpose, char *path, size_t size, char *error, size_t error_size)
{
    if (job.member.process == 0)
        control_directories_sweep(); /* before a new one is made, what killed jobs have left */
    return control_directory(purpose, job.plane.token, path, size, error, error_size);
}

/* Where both can be, a process parks if it comes out of the world; one whose first joining is called off ends. */
int epop__job_leaves(int reusable)
{
    bool parks = job.adapted && !job.entangled && reusable && !strcmp(job.options.leave, "park");
    return (world.backend->flags & BACKEND_ENDS) && !((world.backend->flags & BACKEND_PARKS) && parks);
}

void epop__job_keep(void)
{
    if (pmi_can_leave())
        keeper_start();
}

int epop__job_hosts(void)
{
    if (job.member.process || !(world.backend->flags & BACKEND_ENDS))
        return 0;
    member_hosts(&job.member);
    return 1;
}

void epop__job_detach(void)
{
    if (!job.adapted && world.backend->abandon)
        world.backend->abandon();
    member_gone(&job.member);
    plane_stop(&job.plane);
}

void epop__job_leave(void)
{
    epop__job_detach();
    pmi_leave(0);
}

/* The control plane's end; the status that comes of the job's and those of the launchers. */
static int come_down(void)
{
    int status = job.member.status;
    signals_install(NULL);
    int stuck = plane_stop(&job.plane);
    if (stuck) {
        char note[120];
        snprintf(note, sizeof note,
                 "note: %d process%s still in INIT of a resize that was called off; ended with the job", stuck,
                 stuck == 1 ? " was" : "es were");
        plane_end(note, status);
    }
    world_request = NULL;
    return status ? status : launcher_status();
}

/* Processes of other launches, and those that left, would be missed in MPI_Finalize; and a helper thread may be in a
 * call of MPI for ever. */
static bool ends_without_mpi(void)
{
    bool helped = job.options.spawn.async || ahead_tried();
    return (job.adapted || helped) && (world.backend->flags & BACKEND_ENDS);
}

static void finalize(void)
{
    if (world.comm != MPI_COMM_NULL)
        MPI_Comm_free(&world.comm);
    ahead_end();
    interpose_set_world(MPI_COMM_WORLD); /* for callbacks of MPI_Finalize */
    MPI_Comm_free(&world.launch);
    MPI_Finalize();
    member_destroy(&job.member);
}

int epop__job_close(void)
{
    int status = come_down();
    if (ends_without_mpi())
        pmi_leave(status);
    finalize();
    return status;
}

int epop__job_finalize(void)
{
    int status = come_down();
    if (ends_without_mpi())
        pmi_finalize();
    else
        finalize();
    signals_remove();
    return status;
}

/* ---- Roll calls --------------------------------------------------------------------------------- */

void epop__job_call_rolls(const struct rollcall_options *options)
{
    job.rollcall = options;
}

void epop__job_rollcall(const struct claim *claim)
{
    if (job.member.tell)
        member_rollcall(&job.member, claim);
}

void epop__job_breach(const char *text)
{
    bool alone = !job.member.tell;
    if (alone)
        fprintf(stderr, "epop: %s%s\n", job.rollcall->warns ? "warning: " : "", text);
    if (alone && !job.rollcall->warns)
        exit(EXIT_FAILURE);
    if (alone)
        return;
    if (!job.rollcall->warns)
        epop__job_fail(text);
    cJSON *message = json_message("breach");
    cJSON_AddStringToObject(message, "text", text);
    plane_tell(&job.plane, message);
    cJSON_Delete(message);
}

void epop__job_fail(const char *text)
{
    cJSON *message = json_message("failed");
    cJSON_AddStringToObject(message, "text", text);
    plane_tell(&job.plane, message);
    sleep(FAIL_TIMEOUT); /* the coordinator ends us all before this is over, unless it cannot be reached */
    plane_abort(text);
}
