/* The jobs of this user: the one that a command is about, or all of them. */
#ifndef EPOP_CTL_JOBS_H
#define EPOP_CTL_JOBS_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "epopctl/command.h"
#include "runtime/control/jobs.h"

/* The job that `name` means: its id or a unique beginning of that, or its batch system's job ("slurm:17"); NULL: that
 * of the batch job that we are in, else the only one. COMMAND_DONE, or another exit code after one line on stderr. */
int ctl_job_select(const char *name, struct control_job *job);

/* For --wait, until a time on the monotonic clock in seconds: that of the arguments. Waits until there is such a job.
 * COMMAND_DONE, or another exit code after one line on stderr. */
double ctl_deadline(const struct options *arguments);
int ctl_job_await(const char *name, double until);
/* Do the processes of the job with that status still attach? */
bool ctl_is_starting(const cJSON *status);
/* True after a moment; false: the time is over. */
bool ctl_may_look_again(double until);

/* Asks all jobs at a time. With `keep` > 0 each measures for so many seconds more, and what it has measured since this
 * terminal's top asked last is under "measure" in its status. *jobs and *statuses, of the same order, are the caller's
 * to free; one that does not answer has the state "unreachable". How many; -1 when out of memory. */
int ctl_ask_all(struct control_job **jobs, cJSON ***statuses, double keep);

#endif
