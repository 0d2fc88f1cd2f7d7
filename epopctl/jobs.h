/* The job that a command is about. */
#ifndef EPOP_CTL_JOBS_H
#define EPOP_CTL_JOBS_H

#include "runtime/control/jobs.h"

/* The job that `name` means: its id or a unique beginning of that, or its batch system's job ("slurm:17"); NULL: that
 * of the batch job that we are in, else the only one. CTL_DONE, or another exit code after one line on stderr. */
int ctl_job_select(const char *name, struct control_job *job);

#endif
