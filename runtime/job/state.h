/* This process's part in its job, shared by the files of this folder. One per process: MPI has one state per process
 * too. */
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
    int process, processes; /* of the launch */
    int start;
    struct job_options options;
    enum backend_leave leave; /* of the options */
    struct member member;
    struct meter meter;
    bool first_role; /* epop__job_next has not been called yet */
    struct plane plane;
    bool joins; /* was started to join a running job */
    struct joining joining;
    const struct backend *joined_by;
    bool adapted;    /* took part in a window, or tried to */
    int64_t decided; /* when the present window's plan was there, ns */
    bool connected;  /* in the present window, or reported that it is not */
    bool entangled;  /* connected to processes of other launches that are not in the world, or nearly so */
    bool alone;      /* left, and runs on: how it ends is nobody's affair */
    const struct rollcall_options *rollcall; /* NULL: no roll calls are held */
};

extern struct job job;

/* The world of the processes that start together is there: start.c. Collective over it. */
void job_begin_world(MPI_Comm comm, epop_status_t status);

#endif
