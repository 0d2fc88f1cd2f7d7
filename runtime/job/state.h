/* This process's part in its job, shared by the files of this folder; each member is written by the one that is named.
 * One per process: MPI has one state per process too. */
#ifndef EPOP_JOB_STATE_H
#define EPOP_JOB_STATE_H

#include <mpi.h>
#include <stdbool.h>

#include "epop/elastic.h"
#include "runtime/backends/launcher.h"
#include "runtime/job/job.h"
#include "runtime/job/plane.h"
#include "runtime/member/member.h"
#include "runtime/member/meter.h"
#include "runtime/world/backend.h"

struct job {
    /* ---- start.c: what the job began with ---- */
    struct job_options options;
    enum backend_leave leave; /* of the options */
    int process, processes;   /* of the launch */
    int start;                /* so many of them have the first world */
    bool joins;               /* this process was started to join a running job: */
    struct joining joining;
    const struct backend *joined_by;
    /* ---- Parts that keep their own state ---- */
    struct member member;
    struct meter meter;
    struct plane plane;
    /* ---- walk.c, and roles.c where a process joins: the windows ---- */
    bool adapted;   /* took part in one, or tried to */
    bool connected; /* in the present one, or reported that it is not */
    bool entangled; /* connected to processes of other launches that are not in the world, or nearly so */
    /* ---- roles.c ---- */
    bool alone; /* left, and runs on: how it ends is nobody's affair */
    /* ---- tell.c ---- */
    const struct rollcall_options *rollcall; /* NULL: no roll calls are held */
};

extern struct job job;

/* The world of the processes that start together is there: start.c. Collective over it. */
void job_begin_world(MPI_Comm comm, epop_status_t status);

#endif
