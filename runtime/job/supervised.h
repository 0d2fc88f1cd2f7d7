/*
 * The job under `epop --recover`, where that has started it (runtime/control/supervisor.h): what it has left for a job
 * that it started again, and what the job tells it.
 */
#ifndef EPOP_JOB_SUPERVISED_H
#define EPOP_JOB_SUPERVISED_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "runtime/checkpoint/format.h"
#include "runtime/member/member.h"

/* ---- Going on after a fault ----------------------------------------------------------------------- */

/* Was this job started again? */
bool supervised_again(void);

/* The directory for checkpoints in memory; NULL: there is none, as nobody supervises the job. */
const char *supervised_memory(void);

/* Looks for the newest whole checkpoint in memory, where each process knows its own host alone. Collective over the
 * launch; nothing happens in a job that was not started again. */
void supervised_look(void);
/* Its head, with number 0 where there is none. Belongs to this module. */
const struct checkpoint_head *supervised_found(void);

/* Since when the job runs, its earlier starts counted: seconds since 1970. */
double supervised_since(void);

/* ---- What the job tells --------------------------------------------------------------------------- */

/* Before MPI is there, in each process of the launch: the first one of them says that it is. */
void supervised_starts(void);

/* In process 0, which says a few times a second where it is from here on. 0, or -1 with text. */
int supervised_begin(struct member *member, struct error *error);

/* In process 0: where the ranks run, in their order, as "n1:2,n2:2". Any thread. */
void supervised_hosts(const char *hosts);

/* In process 0: a checkpoint is whole, which was made at the probe of that count. Any thread. */
void supervised_saved(int number, uint64_t count);

/* In process 0 of a job that was started again: the ranks go on with checkpoint `number`, made at `time`, from "memory"
 * or a "file"; or from the "beginning": 0, 0. */
void supervised_runs(const char *from, int number, double time);

/* In process 0, before that: this launch is not of a size that it can go on with, but that is. */
void supervised_fits(int ranks);

/* In process 0: the job has come to its end, with that status. */
void supervised_end(int status);

/* This process ends the job by an error of its own, and may be ended before anybody else hears of it. Any thread,
 * signal handlers. */
void supervised_fail(int status, const char *text);

#endif
