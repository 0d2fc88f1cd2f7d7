/* attend run JOBDIR: starts a job's command, and stays beside it until nothing of it is left. */
#ifndef SCHEDULER_ATTEND_RUN_H
#define SCHEDULER_ATTEND_RUN_H

/* Its exit status. */
int run_job(const char *directory);

#endif
