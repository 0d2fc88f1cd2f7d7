/*
 * Which Slurm job each host is in: as its processes say, or as a request said before there are any. A host that nobody
 * knows about is none of the job's.
 */
#ifndef EPOP_COORDINATOR_SLURM_JOBS_H
#define EPOP_COORDINATOR_SLURM_JOBS_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/error.h"
#include "runtime/base/host.h"
#include "runtime/wire/messages.h"

struct coordinator;

struct slurm_job {
    char host[HOST_MAX];
    int job;
};

/* What requests said; in struct coordinator. */
struct slurm_jobs {
    struct slurm_job *table;
    size_t count, room;
};

/* Takes note of what a resize request says of the hosts that it adds: "slurm_job" for all of them, or "slurm_jobs" by
 * host. False with the reason in why: nothing is noted then. */
bool slurm_jobs_take(struct coordinator *c, const struct request_resize *request, struct error *why);

/* The job that this host is in; 0: not known. */
int slurm_jobs_of(const struct coordinator *c, const char *host);

void slurm_jobs_destroy(struct slurm_jobs *jobs);

#endif
