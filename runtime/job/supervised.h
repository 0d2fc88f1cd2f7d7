/* What the job tells `epop --recover`, where that has started it (runtime/control/supervisor.h). */
#ifndef EPOP_JOB_SUPERVISED_H
#define EPOP_JOB_SUPERVISED_H

#include <stdint.h>

#include "runtime/base/error.h"
#include "runtime/member/member.h"

/* Before MPI is there, in each process of the launch: the first one of them says that it is. */
void supervised_starts(void);

/* In process 0, which says a few times a second where it is from here on. 0, or -1 with text. */
int supervised_begin(struct member *member, struct error *error);

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
