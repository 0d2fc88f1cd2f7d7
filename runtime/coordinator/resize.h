/*
 * Requests for another size, from epopctl and from the program: checked, rounded to what the program accepts, or
 * refused with the reason; and the Slurm jobs that hosts were added with.
 */
#ifndef EPOP_COORDINATOR_RESIZE_H
#define EPOP_COORDINATOR_RESIZE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/error.h"
#include "runtime/base/host.h"
#include "runtime/coordinator/record.h"
#include "runtime/wire/messages.h"

struct adaptation;
struct coordinator;

/* ---- Jobs of Slurm that hosts come with ---------------------------------------------------------- */

/*
 * Which Slurm job each host is in: as its processes say, or as a request said before there are any. A host that nobody
 * knows about is none of the job's.
 */

struct slurm_job {
    char host[HOST_MAX];
    int job;
};

/* What requests said; in struct coordinator. */
struct slurm_jobs {
    struct slurm_job *table;
    size_t count, room;
};

/* The job that this host is in; 0: not known. */
int slurm_jobs_of(const struct coordinator *c, const char *host);

struct resize_requests {
    struct message deferred; /* the program's, out of a world that is being made: a report_request, if there is one */
    int asks;                /* where epoprm rules the size: what the program asked for last; 0: nothing */
};

/* What a request has for its size or delta when it says none. */
#define RESIZE_NOT_SAID INT_MIN

/* One resize request on its way through the checks. */
struct resize {
    int wanted;  /* the size asked for */
    int granted; /* rounded to what the program accepts */
    int named;   /* ranks that are told to leave by name */
    char *leaves;
};

/* The checks and the start of a resize: at least size, delta or who leaves is said. 0; 1: nothing to do; -1 with the
 * reason in why. */
int resize_start(struct coordinator *c, const struct request_resize *request, enum requester by, struct error *why);

/* A request of epopctl, an adviser or a gateway; the answer goes to handle. */
void resize_from_tool(struct coordinator *c, void *handle, const struct request_resize *request);
/* What a rank says that the program asks for. */
void resize_from_program(struct coordinator *c, int process, const struct report_request *report);

/* Is the answer to come when it has happened; and when the processes that left have ended? */
bool resize_waits(const struct request_resize *request);
bool resize_waits_for_end(const struct request_resize *request);

/* May that rank leave? Then it is marked. */
bool resize_mark(struct coordinator *c, struct resize *r, int rank, struct error *why);
/* The adaptation that takes the marked ranks out, which is pending then; NULL with the reason. */
struct adaptation *resize_release(struct coordinator *c, struct resize *r, struct error *why);

#endif
