/*
 * The four elastic MPI calls (epop/mpi_adapt.h). In an executable they do what the driver's walk does for a program: a
 * probe holds where the agreement wants it, and the processes are connected in it. Under epop, where the walk does
 * that, they hand on what it did.
 */
#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "epop/describe.h"
#include "epop/mpi_adapt.h"
#include "interpose/instead.h"
#include "interpose/interpose.h"
#include "runtime/adapt/command.h"
#include "runtime/adapt/first_probe.h"
#include "runtime/adapt/leaving.h"
#include "runtime/adapt/restart.h"
#include "runtime/base/ending.h"
#include "runtime/base/error.h"
#include "runtime/describe/program.h"
#include "runtime/hydra/holders.h"
#include "runtime/hydra/pmi.h"
#include "runtime/job/job.h"
#include "runtime/world/backend.h"
#include "runtime/world/world.h"

/* A status as these calls tell it: both count on from NEW in the same order. */
static int told(enum epop_status status)
{
    _Static_assert(MPI_ADAPT_STATUS_JOINING - MPI_ADAPT_STATUS_NEW == EPOP_JOINING - EPOP_NEW &&
                       MPI_ADAPT_STATUS_STAYING - MPI_ADAPT_STATUS_NEW == EPOP_STAYING - EPOP_NEW &&
                       MPI_ADAPT_STATUS_LEAVING - MPI_ADAPT_STATUS_NEW == EPOP_LEAVING - EPOP_NEW &&
                       MPI_ADAPT_STATUS_RESTARTING - MPI_ADAPT_STATUS_NEW == EPOP_RESTARTING - EPOP_NEW,
                   "the order is the same");
    return MPI_ADAPT_STATUS_NEW + (int)(status - EPOP_NEW);
}

/* What this process is. */
static enum {
    OUTSIDE, /* MPI_Init_adapt was not called */
    UNDER_EPOP,
    JOINER, /* not connected with the running processes yet */
    MEMBER, /* of the world */
    LEFT,
    FINALIZED
} part;

static bool is_fatal(MPI_Comm comm)
{
    MPI_Errhandler handler;
    MPI_Comm_get_errhandler(comm, &handler);
    bool is = handler == MPI_ERRORS_ARE_FATAL;
    MPI_Errhandler_free(&handler);
    return is;
}

/* A member whose error ends the job leaves that to the coordinator: if this process just aborted, its launcher could be
 * ended before it has handed the line on, and there would only be what the others say of a lost connection. */
static int wrong(const char *function, int class, const char *why)
{
    int up;
    char text[256];
    MPI_Comm comm = interpose_world(MPI_COMM_WORLD);
    snprintf(text, sizeof text, "%s: %s", function, why);
    MPI_Initialized(&up);
    up = up && part != FINALIZED;
    if (comm == MPI_COMM_NULL)
        comm = MPI_COMM_SELF;
    if (up && part == MEMBER && is_fatal(comm))
        epop__job_fail(text);
    fprintf(stderr, "epop: %s\n", text);
    if (up)
        MPI_Comm_call_errhandler(comm, class);
    return class;
}

/* ---- Start and end ---------------------------------------------------------------- */

/* How the coordinator sees an executable: one phase that goes on from the first probe to MPI_Finalize. */
static epop_program_t *description(const char *path)
{
    static epop_element_t loop = {.type = EPOP_EP, .name = "main"};
    static epop_program_t program = {.size = 1, .elements = &loop, .abi_version = EPOP_ABI_VERSION, .finalizer = -1};
    program.name = command_name(path);
    return &program;
}

/* One whose processes end when they leave; where there is none, leaving ones wait in MPI_Finalize. */
static const char *choose_backend(void)
{
    struct error reason = {0};
    static const char *const wanted[] = {"join", "shrink"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const struct backend_wish wish = {.name = wanted[i]};
        if (backend_find(&wish, &reason))
            return wanted[i];
    }
    return "auto";
}

/* The part of a joiner begins when all that were started with it are here. */
static void become_joiner(void)
{
    part = JOINER;
    if (epop__job_next() == JOB_JOIN && epop__job_join(NULL))
        return;
    const struct elastic *e = epop__job_elastic();
    struct position at;
    e->join(e->context, "another joining process could not start", &at);
    epop__job_leave();
}

static int finalize(void);
static int finalized(int *flag);

/* Of launchers of joining processes that did not end well. */
static int others_status;

static bool left; /* and ends alone: its status is nobody's affair */

enum { EXIT_REFUSED = 2 }; /* of a restart, as epop does */

static void exit_with(int status) __attribute__((noreturn));
static void exit_with(int status)
{
    fflush(NULL);
    ending_quit(status);
}

/* MPI_Finalize cannot tell what became of the others, and main() knows nothing of it. Handlers that main() registered
 * have run by now. */
static void on_exit_of_main(int status)
{
    char text[120];
    if (part == MEMBER) {
        snprintf(text, sizeof text, "rank %d called exit(%d), or returned from main, before MPI_Finalize", world.rank,
                 status);
        epop__job_exits(text);
    }
    if (part == FINALIZED || left)
        holders_end();
    if (!status && others_status)
        exit_with(others_status);
}

static const char *what_quits(const char *call)
{
    static char text[80];
    snprintf(text, sizeof text, "rank %d called %s before MPI_Finalize", world.rank, call);
    return part == MEMBER ? text : NULL;
}

static const struct job_exits exits = {.exits = on_exit_of_main, .quits = what_quits};

/* For those who say where this process is: size 0: it has not joined yet, -1: it has left. */
static void locate(int rank, int size)
{
    const struct elastic *e = epop__job_elastic();
    atomic_store(&e->live->rank, rank);
    atomic_store(&e->live->size, size);
}

/* What is wrong with the environment, or NULL. */
static const char *unfit(void)
{
    const char *text = first_probe_read();
    return text ? text : leaving_read();
}

static int start(int *argc, char ***argv)
{
    static char path[PATH_MAX];
    int up, process, processes, error = MPI_SUCCESS;
    struct job_options options = {JOB_OPTIONS_USUAL, .finish_timeout = 30, .executable = true};
    options.command = command_line();
    options.path = command_path(path, sizeof path);
    options.checkpoint.arguments = options.command;
    MPI_Initialized(&up);
    if (!up)
        error = job_init_mpi(&options, argc, argv);
    if (error)
        return error;
    epop__job_init(&options, &process, &processes);
    if (!epop__job_all_loaded(unfit()))
        exit(EXIT_FAILURE);
    options.finish_timeout += leaving_seconds();
    options.backend = choose_backend();
    const epop_program_t *program = description(path);
    if (!options.command || epop__job_start(&options, program)) /* it has said why */
        exit(getenv("EPOP_RESTART") ? EXIT_REFUSED : EXIT_FAILURE);
    epop__job_watch_exit(&exits);
    interpose_life.finalize = finalize;
    interpose_life.finalized = finalized;
    const struct elastic *e = epop__job_elastic();
    locate(world.rank, epop__job_joins() ? 0 : world.size);
    atomic_store(&e->live->program, program);
    atomic_store(&e->live->visit, 1);
    atomic_store(&e->live->pc, 0);
    epop__tally_open(&e->live->tally, program->size);
    part = MEMBER;
    if (world.status == EPOP_RESTARTING)
        restart_begin(e);
    if (epop__job_joins())
        become_joiner();
    else
        epop__job_next();
    return MPI_SUCCESS;
}

static int deferred(void)
{
    return MPI_SUCCESS; /* the driver does it when the program has ended everywhere */
}

int epop__instead_MPI_Init_adapt(int *argc, char ***argv, int *local_status)
{
    int error = MPI_SUCCESS;
    if (!local_status)
        return wrong("MPI_Init_adapt", MPI_ERR_ARG, "local_status is NULL");
    if (part != OUTSIDE && part != UNDER_EPOP)
        return wrong("MPI_Init_adapt", MPI_ERR_OTHER, "it was called before");
    if (part == UNDER_EPOP || world.launch != MPI_COMM_NULL) {
        part = UNDER_EPOP;
        interpose_life.finalize = deferred;
    } else {
        error = start(argc, argv);
    }
    *local_status = told(world.status);
    return error;
}

/* In a process that left while the others go on, or in all at the end. */
static int finalize(void)
{
    if (part == FINALIZED || world.state != WINDOW_NONE)
        return wrong("MPI_Finalize", MPI_ERR_OTHER,
                     part == FINALIZED ? "it was called before" : "an adaptation is open; commit it before");
    const struct elastic *e = epop__job_elastic();
    struct position at;
    bool parked = part == LEFT && !epop__job_leaves(0), alone = part == JOINER || (part == LEFT && !parked);
    if (part == JOINER) {
        e->join(e->context, "the joining process came to MPI_Finalize before it had joined", &at);
        epop__job_detach();
    }
    if (part == MEMBER)
        epop__job_ended();
    else if (parked)
        epop__job_next();
    if (part == JOINER)
        pmi_finalize();
    if (!alone)
        others_status = epop__job_finalize();
    part = FINALIZED;
    return MPI_SUCCESS;
}

static int finalized(int *flag)
{
    *flag = part == FINALIZED;
    return MPI_SUCCESS;
}

/* ---- The probe -------------------------------------------------------------------- */

/* All processes are told at the same probe. There is no answer of a probe that means it. */
static void stop(void)
{
    epop__job_ended();
    int status = epop__job_finalize();
    part = FINALIZED;
    exit(status);
}

/* From one probe to the next is an iteration: all there is to be counted. */
static void count_on(const struct elastic *e)
{
    epop_position_t at = {.pc = 0, .visit = 1, .iteration = (int64_t)ceiling_count(e->ceiling)};
    e->world(e->context, &at.rank, &at.size);
    locate(at.rank, at.size);
    epop__tally_begin(&e->live->tally, &at);
}

/* What was done in the hold is no iteration; neither is what the program does up to the next probe in a window. */
static void measure_from_here(const struct elastic *e)
{
    if (world.state != WINDOW_NONE)
        epop__meter_world(e->meter);
    else if (meter_is_on(e->meter))
        epop__meter_begin(e->meter, 0, world.size);
    else
        epop__meter_forget(e->meter);
}

static void hold(const struct elastic *e, int64_t count)
{
    struct error unheard;
    struct position at = {.pc = 0, .visit = 1, .iteration = count};
    enum action action;
    epop__tally_end(&e->live->tally, count);
    while ((action = e->hold(e->context, &at, 0)) == ACTION_PROGRESS || action == ACTION_CHECKPOINT)
        if (action == ACTION_PROGRESS)
            e->report_progress(e->context, &(epop_progress_t){.iteration = count});
        else
            e->checkpoint(e->context, &at);
    if (action == ACTION_STOP)
        stop();
    if (action == ACTION_ADAPT)
        e->window_open(e->context, &unheard); /* if it cannot be, it is off everywhere */
    if (world.state == WINDOW_NONE)
        count_on(e);
    measure_from_here(e);
}

/* A joiner waits here for its window. If that is called off, the process has nothing to do in the world. */
static void join(void)
{
    const struct elastic *e = epop__job_elastic();
    struct position at;
    struct error unheard;
    if (!e->join(e->context, NULL, &at) || e->window_open(e->context, &unheard))
        epop__job_leave();
    epop__meter_world(e->meter);
    part = MEMBER;
}

/* From probe to probe. */
static void measure(const struct elastic *e, int64_t count)
{
    if (epop__meter_iteration(e->meter, 0, world.size) && world.rank == 0)
        epop__meter_progress(e->meter, &(struct meter_progress){.visit = 1, .iteration = count});
}

static void probe(void)
{
    const struct elastic *e = epop__job_elastic();
    if (first_probe_open)
        first_probe_tell();
    if (meter_is_on(e->meter))
        measure(e, (int64_t)ceiling_count(e->ceiling));
    bool holds = ceiling_probe(e->ceiling);
    int64_t count = (int64_t)ceiling_count(e->ceiling);
    atomic_store_explicit(&e->live->iteration, count, memory_order_relaxed);
    if (holds)
        hold(e, count);
    else if (count == restart_count() + 1) /* what was before is no iteration */
        count_on(e);
}

/* What is pending, for a process that does not want to open the window to see it. */
static MPI_Info describe(const epop_window_t *window)
{
    const struct {
        const char *key;
        int64_t value;
    } entries[] = {{"epop_from", window->old_size},
                   {"epop_to", window->new_size},
                   {"epop_adaptation", world.plan->adaptation},
                   {"epop_iteration", world.plan->at.iteration}};
    MPI_Info info;
    MPI_Info_create(&info);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        char text[24];
        snprintf(text, sizeof text, "%lld", (long long)entries[i].value);
        MPI_Info_set(info, entries[i].key, text);
    }
    return info;
}

/* A probe has three answers, none of which is NEW (chapter 6.1.2). One that joined is like the others after commit. */
static enum epop_status status_in_probe(void)
{
    if (world.state == WINDOW_OFFERED)
        return world.window.status;
    if (world.status == EPOP_LEAVING || (world.status == EPOP_JOINING && !world.committed))
        return world.status;
    return EPOP_STAYING;
}

int epop__instead_MPI_Probe_adapt(int *pending_adaptation, int *local_status, MPI_Info *info)
{
    if (!pending_adaptation || !local_status)
        return wrong("MPI_Probe_adapt", MPI_ERR_ARG, "pending_adaptation or local_status is NULL");
    if (part == OUTSIDE || part == FINALIZED)
        return wrong("MPI_Probe_adapt", MPI_ERR_OTHER, "it was called before MPI_Init_adapt or after MPI_Finalize");
    if (world.state == WINDOW_OPEN)
        return wrong("MPI_Probe_adapt", MPI_ERR_OTHER, "it was called between begin and commit");
    if (part == JOINER)
        join();
    else if (part == MEMBER && world.state == WINDOW_NONE && restart_waits())
        return wrong("MPI_Probe_adapt", MPI_ERR_OTHER,
                     "the job goes on from a checkpoint, and epop_mpi_describe was not called, which brings the data");
    else if (part == MEMBER && world.state == WINDOW_NONE)
        probe();
    *pending_adaptation = world.state == WINDOW_OFFERED ? MPI_ADAPT_TRUE : MPI_ADAPT_FALSE;
    *local_status = told(status_in_probe());
    if (info)
        *info = *pending_adaptation ? describe(&world.window) : MPI_INFO_NULL;
    restart_tell_fault(info);
    return MPI_SUCCESS;
}

/* ---- The window ---------------------------------------------------------------------- */

int epop__instead_MPI_Comm_adapt_begin(MPI_Comm *intercomm, MPI_Comm *new_comm_world, int *staying_count,
                                       int *leaving_count, int *joining_count)
{
    epop_window_t window;
    if (!intercomm || !new_comm_world || !staying_count || !leaving_count || !joining_count)
        return wrong("MPI_Comm_adapt_begin", MPI_ERR_ARG, "one of its arguments is NULL");
    if (part == JOINER)
        join();
    if (world.state == WINDOW_OPEN)
        return wrong("MPI_Comm_adapt_begin", MPI_ERR_OTHER, "a window is open already; commit it before");
    if (epop_adapt_begin(&window))
        return wrong(
            "MPI_Comm_adapt_begin", MPI_ERR_OTHER,
            "no adaptation is pending; call it when MPI_Probe_adapt answered MPI_ADAPT_TRUE, whatever an earlier "
            "status was");
    if (part != UNDER_EPOP && window.status == EPOP_LEAVING)
        leaving_opens();
    *intercomm = window.intercomm;
    *new_comm_world = window.after;
    *staying_count = window.staying;
    *leaving_count = window.leaving;
    *joining_count = window.joining;
    return MPI_SUCCESS;
}

/* The job goes on without this process at once, however long it still has to do. */
static void depart(void)
{
    part = LEFT;
    locate(-1, -1);
    left = epop__job_leaves(0);
    if (left) {
        epop__job_detach();
        leaving_begin();
    } else {
        epop__job_parked(0);
    }
    if (!leaving_in_commit())
        return;
    finalize();
    exit(EXIT_SUCCESS);
}

int epop__instead_MPI_Comm_adapt_commit(void)
{
    if (part != UNDER_EPOP && world.state == WINDOW_OPEN && world.status == EPOP_LEAVING)
        leaving_commits();
    if (epop_adapt_commit())
        return wrong("MPI_Comm_adapt_commit", MPI_ERR_OTHER, "no window is open; MPI_Comm_adapt_begin opens it");
    if (part == UNDER_EPOP)
        return MPI_SUCCESS;
    const struct elastic *e = epop__job_elastic();
    struct error unheard;
    bool joins = world.window.status == EPOP_JOINING, some_join = world.window.joining > 0;
    if (e->window_close(e->context, &unheard) == WINDOW_LEAVE) {
        depart();
        return MPI_SUCCESS;
    }
    count_on(e);
    if (some_join)
        first_probe_begin(joins);
    return MPI_SUCCESS;
}

int epop_mpi_describe(void (*block)(void *data, epop_description_t *d), void *data)
{
    if (part == OUTSIDE || part == LEFT || part == FINALIZED)
        return wrong("epop_mpi_describe", MPI_ERR_OTHER, "it was called before MPI_Init_adapt or after MPI_Finalize");
    if (!block)
        return wrong("epop_mpi_describe", MPI_ERR_ARG, "there is no block");
    if (part != UNDER_EPOP)
        restart_describe(epop__job_elastic(), block, data, part == JOINER);
    return MPI_SUCCESS;
}

int epop_mpi_adapt_described(void)
{
    MPI_Comm between, after;
    int staying, leaving, joining;
    if (!describe_program.describe)
        return wrong("epop_mpi_adapt_described", MPI_ERR_OTHER,
                     "nothing has said what the data is; epop_mpi_describe does that");
    int result = epop__instead_MPI_Comm_adapt_begin(&between, &after, &staying, &leaving, &joining);
    if (result != MPI_SUCCESS)
        return result;
    if (epop_redist_described(&world.window, describe_program.describe, describe_program.data))
        return wrong("epop_mpi_adapt_described", MPI_ERR_OTHER, "the described data did not move");
    return epop__instead_MPI_Comm_adapt_commit();
}

int epop_mpi_leave(epop_mpi_leave_t how)
{
    if (part == OUTSIDE || part == FINALIZED)
        return wrong("epop_mpi_leave", MPI_ERR_OTHER, "it was called before MPI_Init_adapt or after MPI_Finalize");
    if (leaving_choose(how))
        return wrong("epop_mpi_leave", MPI_ERR_ARG, "it takes EPOP_MPI_LEAVE_RETURN or EPOP_MPI_LEAVE_COMMIT");
    return MPI_SUCCESS;
}
