/* The job that a command is about. */
#ifndef EPOP_CTL_JOBS_H
#define EPOP_CTL_JOBS_H

#include "runtime/control/jobs.h"

/* The job that `name` (or a unique beginning of it; NULL: any) means. CTL_DONE, or another exit code after one
 * line on stderr. */
int ctl_job_select(const char *name, struct control_job *job);

#endif
