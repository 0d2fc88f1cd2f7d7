/*
 * A job of Slurm that an adviser gave nodes, and that has none any more: nobody would ask for these nodes, and Slurm
 * takes none back from a partition for jobs of the same one. So the job looks at the queue itself, and gives companions
 * in its own partition back when somebody waits there.
 */
#ifndef SCHEDULER_ATTEND_ALONE_H
#define SCHEDULER_ATTEND_ALONE_H

#include "runtime/base/error.h"
#include "scheduler/attend/service.h"

struct alone {
    struct service *service;
    long job; /* Slurm's number */
    struct event *look;
};

/* Takes the answers to the service's own questions. */
int alone_open(struct alone *alone, struct service *service, long job, struct error *error);
/* The adviser is gone: it looks after EPOP_ADVISER_SECONDS (60), and again and again. */
void alone_begin(struct alone *alone);
/* There is one. */
void alone_end(struct alone *alone);

#endif
