/*
 * The four elastic MPI calls (epop/mpi_adapt.h). In an executable they do what the driver's walk does for a program: a
 * probe holds where the agreement wants it, and the processes are connected in it. Under epop, where the walk does
 * that, they hand on what it did.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "epop/describe.h"
#include "epop/mpi_adapt.h"
#include "interpose/instead.h"
#include "interpose/interpose.h"
#include "runtime/adapt/first_probe.h"
#include "runtime/adapt/leaving.h"
#include "runtime/adapt/part.h"
#include "runtime/base/error.h"
#include "runtime/control/supervisor.h"
#include "runtime/describe/look.h"
#include "runtime/describe/program.h"
#include "runtime/job/follow.h"
#include "runtime/job/job.h"
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

static int deferred(void)
{
    return MPI_SUCCESS; /* the driver does it when the program has ended everywhere */
}

int epop__instead_MPI_Init_adapt(int *argc, char ***argv, int *local_status)
{
    int error = MPI_SUCCESS;
    if (!local_status)
        return part_wrong("MPI_Init_adapt", MPI_ERR_ARG, "local_status is NULL");
    if (part_has_sessions())
        return part_wrong("MPI_Init_adapt", MPI_ERR_OTHER,
                          "this program began with MPI_Session_init, and adapts by process sets or re-initialization");
    if (part_now() != PART_OUTSIDE && part_now() != PART_UNDER_EPOP)
        return part_wrong("MPI_Init_adapt", MPI_ERR_OTHER, "it was called before");
    if (part_now() == PART_UNDER_EPOP || world.launch != MPI_COMM_NULL) {
        part_become(PART_UNDER_EPOP);
        interpose_life.finalize = deferred;
    } else {
        error = part_begin(argc, argv, PART_OF_MPI, NULL);
        follow_start(FOLLOW_BETWEEN_WINDOWS);
    }
    *local_status = told(world.status);
    return error;
}

/* ---- The probe -------------------------------------------------------------------- */

/* All processes are told at the same probe. There is no answer of a probe that means it: only an interpreter, which has
 * much of the script to end, goes on as if it had left. */
static void stop(void)
{
    epop__job_ended();
    part_end();
    if (!part_is_script())
        exit(part_others_status());
}

/* From one probe to the next is an iteration: all there is to be counted. */
static void count_on(const struct elastic *e)
{
    epop_position_t at = {.pc = 0, .visit = 1, .iteration = (int64_t)ceiling_count(e->ceiling)};
    e->world(e->context, &at.rank, &at.size);
    part_locate(at.rank, at.size);
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
    epop__tally_end(&e->live->tally, count);
    enum action action = part_hold(e, count);
    if (action == ACTION_STOP) {
        stop();
        return;
    }
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
    part_become(PART_MEMBER);
}

/* From probe to probe. */
static void measure(const struct elastic *e, int64_t count)
{
    const epop_progress_t progress = part_progress(count);
    if (epop__meter_iteration(e->meter, 0, world.size) && world.rank == 0)
        epop__meter_progress(
            e->meter, &(struct meter_progress){.visit = 1, .iteration = progress.iteration, .bound = progress.bound});
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
    else if (count == part_probes_before() + 1) /* what was before is no iteration */
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
    if (part_now() == PART_FINALIZED)
        return EPOP_LEAVING;
    if (world.state == WINDOW_OFFERED)
        return world.window.status;
    if (world.status == EPOP_LEAVING || (world.status == EPOP_JOINING && !world.committed))
        return world.status;
    return EPOP_STAYING;
}

int epop__instead_MPI_Probe_adapt(int *pending_adaptation, int *local_status, MPI_Info *info)
{
    if (!pending_adaptation || !local_status)
        return part_wrong("MPI_Probe_adapt", MPI_ERR_ARG, "pending_adaptation or local_status is NULL");
    if (part_now() == PART_OUTSIDE || part_now() == PART_FINALIZED)
        return part_wrong("MPI_Probe_adapt", MPI_ERR_OTHER,
                          "it was called before MPI_Init_adapt or after MPI_Finalize");
    if (world.state == WINDOW_OPEN)
        return part_wrong("MPI_Probe_adapt", MPI_ERR_OTHER, "it was called between begin and commit");
    if (part_now() == PART_JOINER)
        join();
    else if (part_now() == PART_MEMBER && world.state == WINDOW_NONE && part_awaits_data())
        return part_wrong(
            "MPI_Probe_adapt", MPI_ERR_OTHER,
            "the job goes on from a checkpoint, and epop_mpi_describe was not called, which brings the data");
    else if (part_now() == PART_MEMBER && world.state == WINDOW_NONE)
        probe();
    *pending_adaptation = world.state == WINDOW_OFFERED ? MPI_ADAPT_TRUE : MPI_ADAPT_FALSE;
    *local_status = told(status_in_probe());
    if (info)
        *info = *pending_adaptation ? describe(&world.window) : MPI_INFO_NULL;
    if (part_now() != PART_FINALIZED)
        part_tell_fault(info);
    return MPI_SUCCESS;
}

int epop_mpi_probe_fault(int *pending_adaptation, int *local_status, MPI_Info *info, int *nfailed, int failed_ranks[])
{
    if (!nfailed || !failed_ranks)
        return part_wrong("MPI_Probe_adapt", MPI_ERR_ARG, "nfailed or failed_ranks is NULL");
    bool news = part_fault_is_news();
    int error = epop__instead_MPI_Probe_adapt(pending_adaptation, local_status, info);
    if (error != MPI_SUCCESS)
        return error;
    *nfailed = news ? supervisor_lost_ranks(failed_ranks, world.size) : 0;
    if (news)
        *pending_adaptation = MPI_ADAPT_FAULT; /* a window that is open to others is offered by the next probe again */
    return MPI_SUCCESS;
}

/* ---- The window ---------------------------------------------------------------------- */

int epop__instead_MPI_Comm_adapt_begin(MPI_Comm *intercomm, MPI_Comm *new_comm_world, int *staying_count,
                                       int *leaving_count, int *joining_count)
{
    epop_window_t window;
    if (!intercomm || !new_comm_world || !staying_count || !leaving_count || !joining_count)
        return part_wrong("MPI_Comm_adapt_begin", MPI_ERR_ARG, "one of its arguments is NULL");
    if (part_now() == PART_JOINER)
        join();
    if (world.state == WINDOW_OPEN)
        return part_wrong("MPI_Comm_adapt_begin", MPI_ERR_OTHER, "a window is open already; commit it before");
    if (epop_adapt_begin(&window))
        return part_wrong(
            "MPI_Comm_adapt_begin", MPI_ERR_OTHER,
            "no adaptation is pending; call it when MPI_Probe_adapt answered MPI_ADAPT_TRUE, whatever an earlier "
            "status was");
    if (part_now() != PART_UNDER_EPOP && window.status == EPOP_LEAVING)
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
    part_depart();
    if (!leaving_in_commit())
        return;
    part_finalize();
    exit(EXIT_SUCCESS);
}

int epop__instead_MPI_Comm_adapt_commit(void)
{
    if (part_now() != PART_UNDER_EPOP && world.state == WINDOW_OPEN && world.status == EPOP_LEAVING)
        leaving_commits();
    if (epop_adapt_commit())
        return part_wrong("MPI_Comm_adapt_commit", MPI_ERR_OTHER, "no window is open; MPI_Comm_adapt_begin opens it");
    if (part_now() == PART_UNDER_EPOP)
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
    INTERPOSE_CALL(epop_mpi_describe);
    if (part_now() == PART_OUTSIDE || part_now() == PART_LEFT || part_now() == PART_FINALIZED)
        return part_wrong("epop_mpi_describe", MPI_ERR_OTHER,
                          "it was called before MPI_Init_adapt or after MPI_Finalize");
    if (!block)
        return part_wrong("epop_mpi_describe", MPI_ERR_ARG, "there is no block");
    if (part_now() == PART_UNDER_EPOP)
        return MPI_SUCCESS;
    struct error error;
    if (part_now() != PART_JOINER && !part_awaits_data() && describe_look_alone(block, data, &error))
        return part_wrong("epop_mpi_describe", MPI_ERR_ARG, error.text);
    part_describe(epop__job_elastic(), block, data, part_now() == PART_JOINER);
    return MPI_SUCCESS;
}

int epop_mpi_pack(int (*pack)(void *data))
{
    if (part_now() == PART_OUTSIDE || part_now() == PART_LEFT || part_now() == PART_FINALIZED)
        return part_wrong("epop_mpi_pack", MPI_ERR_OTHER, "it was called before MPI_Init_adapt or after MPI_Finalize");
    if (part_now() != PART_UNDER_EPOP)
        describe_program.pack = pack;
    return MPI_SUCCESS;
}

int epop_mpi_adapt_described(void)
{
    INTERPOSE_CALL(epop_mpi_adapt_described);
    MPI_Comm between, after;
    int staying, leaving, joining;
    if (!describe_program.describe)
        return part_wrong("epop_mpi_adapt_described", MPI_ERR_OTHER,
                          "nothing has said what the data is; epop_mpi_describe does that");
    int result = epop__instead_MPI_Comm_adapt_begin(&between, &after, &staying, &leaving, &joining);
    if (result != MPI_SUCCESS)
        return result;
    if (describe_program_pack() ||
        epop_redist_described(&world.window, describe_program.describe, describe_program.data))
        return part_wrong("epop_mpi_adapt_described", MPI_ERR_OTHER, "the described data did not move");
    return epop__instead_MPI_Comm_adapt_commit();
}

int epop_mpi_leave(epop_mpi_leave_t how)
{
    if (part_now() == PART_OUTSIDE || part_now() == PART_FINALIZED)
        return part_wrong("epop_mpi_leave", MPI_ERR_OTHER, "it was called before MPI_Init_adapt or after MPI_Finalize");
    if (leaving_choose(how))
        return part_wrong("epop_mpi_leave", MPI_ERR_ARG, "it takes EPOP_MPI_LEAVE_RETURN or EPOP_MPI_LEAVE_COMMIT");
    return MPI_SUCCESS;
}

int epop_mpi_progress(int64_t iteration, int64_t bound)
{
    if (iteration < 0 || bound < 0 || (bound && iteration > bound))
        return part_wrong("epop_mpi_progress", MPI_ERR_ARG, "so many iterations cannot be done of so many");
    part_set_progress(iteration, bound);
    return MPI_SUCCESS;
}

int epop_mpi_script(const char *name)
{
    if (!name || !*name)
        return part_wrong("epop_mpi_script", MPI_ERR_ARG, "the script has no name");
    if (part_now() != PART_OUTSIDE)
        return part_wrong("epop_mpi_script", MPI_ERR_OTHER, "it was called after MPI_Init_adapt");
    return part_interpret(name) ? MPI_SUCCESS : part_wrong("epop_mpi_script", MPI_ERR_OTHER, "out of memory");
}

int epop_mpi_sizes(const char *rule)
{
    char text[400];
    if (part_now() != PART_OUTSIDE)
        return part_wrong("epop_mpi_sizes", MPI_ERR_OTHER, "it was called after MPI_Init_adapt");
    const char *wrong = rule ? part_accept(rule) : "is none";
    if (!wrong)
        return MPI_SUCCESS;
    snprintf(text, sizeof text, "the rule is '%.60s', which %s", rule ? rule : "", wrong);
    return part_wrong("epop_mpi_sizes", MPI_ERR_ARG, text);
}
