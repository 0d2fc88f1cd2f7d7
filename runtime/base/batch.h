/* The job of a batch system that this process belongs to: "epoprm:17", "slurm:1234". */
#ifndef EPOP_BASE_BATCH_H
#define EPOP_BASE_BATCH_H

#define BATCH_MAX 64

/* As EPOP_BATCH_JOB says, else by the environment that Slurm makes; NULL: to none. What it was at the first call: a
 * program may change its environment later. Valid for good. Any thread after that call. */
const char *batch_job(void);

#endif
