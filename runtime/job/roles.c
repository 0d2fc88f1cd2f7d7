/* The roles that a process plays, one after the other, and its end. */
#include "runtime/job/job.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "interpose/interpose.h"
#include "runtime/backends/gathering.h"
#include "runtime/backends/launcher.h"
#include "runtime/backends/preconnect.h"
#include "runtime/base/ending.h"
#include "runtime/base/say.h"
#include "runtime/hydra/holders.h"
#include "runtime/hydra/keeper.h"
#include "runtime/hydra/leftovers.h"
#include "runtime/hydra/pmi.h"
#include "runtime/job/beside.h"
#include "runtime/job/checkpoints.h"
#include "runtime/job/signals.h"
#include "runtime/job/state.h"
#include "runtime/job/supervised.h"
#include "runtime/launch/engine.h"
#include "runtime/wire/messages.h"
#include "runtime/world/backend.h"
#include "runtime/world/world.h"

#define LAST_LIMIT 2 /* seconds, for a file that the coordinator has given up */

enum job_role epop__job_next(void)
{
    static bool asked;
    bool starts = !asked && !job.joins && job.process < job.start;
    asked = true;
    if (starts && job.process == 0 && !checkpoints_restarting())
        supervised_runs("beginning", 0, 0);
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
    struct message meeting;
    MPI_Comm all = MPI_COMM_NULL;
    if (member_meet(&job.member, joiners->adaptation, own, &meeting)) {
        job.entangled = true;
        all = gathering_all(joiners, group, &((const struct order_meet *)meeting.is)->ports);
    } else {
        MPI_Comm_free(&group);
    }
    message_free(&meeting);
    cJSON_Delete(own);
    return all;
}

int epop__job_join(const char *failure)
{
    struct gathering joiners;
    int mine = failure || job.joining.failure.code, any;
    job.connected = false;
    if (gathering_read(&joiners, job.member.wake.is, job.member.process))
        epop__job_fail("out of memory");
    MPI_Comm comm = world.backend->joiners_world(&world, &joiners);
    if (joiners.groups > 1)
        comm = come_together(&joiners, comm);
    gathering_free(&joiners);
    job_begin_world(comm, EPOP_JOINING);
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
    if (backend_ends(world.backend)) /* it may die without the job */
        control_step_aside();
    member_parked(&job.member, reusable);
}

/* ---- Leaving ---------------------------------------------------------------------- */

/* Where both can be, a process parks if it comes out of the world; one whose first joining is called off ends. */
int epop__job_leaves(int reusable)
{
    bool parks = job.adapted && !job.entangled && reusable && job.leave == LEAVE_PARK;
    return world.backend->leavers == LEAVERS_END || (world.backend->leavers == LEAVERS_DO_BOTH && !parks);
}

void epop__job_keep(char **command)
{
    if (pmi_can_leave())
        keeper_start(command);
}

int epop__job_hosts(void)
{
    if (job.member.process || !backend_ends(world.backend))
        return 0;
    member_hosts(&job.member);
    return 1;
}

/* What it has of a checkpoint is still being written: the others go on meanwhile. */
void epop__job_detach(void)
{
    checkpoints_await_disk(STORING_LIMIT);
    if (!job.adapted && world.backend->abandon)
        world.backend->abandon();
    member_gone(&job.member);
    signals_leave_by(NULL);
    plane_stop(&job.plane, NULL, 0);
}

void epop__job_alone(void)
{
    job.alone = true;
    signals_remove();
    engine_alone();
}

void epop__job_await_end(void)
{
    control_await_end(job.plane.uri, job.plane.token);
}

void epop__job_spare(int pid)
{
    holders_spare(pid);
}

void epop__job_leave(void)
{
    epop__job_detach();
    holders_end();
    engine_leave(0);
}

/* ---- The end ---------------------------------------------------------------------- */

/* Processes of other launches, and those that left, would be missed in MPI_Finalize; and a helper thread may be in a
 * call of MPI for ever. */
static bool ends_without_mpi(void)
{
    bool helped = job.options.spawn.async || preconnect_tried();
    return (job.adapted || helped) && backend_ends(world.backend);
}

/* The control plane's end; the status that comes of the job's and those of the launchers. */
static int come_down(void)
{
    int status = job.member.status;
    char stuck[240], note[300];
    checkpoints_await_disk(LAST_LIMIT);
    if (ends_without_mpi())
        engine_done(); /* before others end, whose connections may close without a word */
    signals_install(NULL);
    signals_leave_by(NULL);
    bool all = plane_stop(&job.plane, stuck, sizeof stuck);
    if (job.member.process == 0)
        beside_companions_end(); /* the other ranks have ended */
    supervised_end(status ? status : launcher_status());
    if (!all) {
        snprintf(note, sizeof note, "note: %s did not come to the end, and was ended with the job", stuck);
        ending_end(note, status);
    }
    world_serve(NULL);
    if (job.member.process == 0)
        leftovers_remove(); /* mpiexec may have ended before its processes */
    if (status || !launcher_status())
        return status;
    say_line("note: a launcher of joining processes ended with status %d; so does the job", launcher_status());
    return launcher_status();
}

static void finalize(void)
{
    if (world.comm != MPI_COMM_NULL)
        MPI_Comm_free(&world.comm);
    preconnect_end();
    interpose_set_world(MPI_COMM_WORLD); /* for callbacks of MPI_Finalize */
    MPI_Comm_free(&world.launch);
    MPI_Finalize();
    member_destroy(&job.member);
}

int epop__job_close(void)
{
    int status = come_down();
    holders_end();
    if (ends_without_mpi())
        engine_leave(status);
    finalize();
    return status;
}

int epop__job_finalize(void)
{
    int status = come_down();
    if (ends_without_mpi())
        engine()->finalize();
    else
        finalize();
    signals_remove();
    return status;
}
