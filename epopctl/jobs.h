/* The jobs of this user, by their address files. */
#ifndef EPOP_CTL_JOBS_H
#define EPOP_CTL_JOBS_H

#include <stdbool.h>

struct ctl_job {
    char id[128], uri[512], token[65], host[256], program[256];
    long pid;
    unsigned long long start_time;
    bool here; /* on this host, so that its process can be looked at */
};

/* All jobs, sorted by id; stale files are removed. *jobs is the caller's to free. How many. */
int ctl_jobs(struct ctl_job **jobs);
/* The job that `name` (or a unique beginning of it; NULL: any) means. CTL_DONE, or another exit code after one
 * line on stderr. */
int ctl_job_select(const char *name, struct ctl_job *job);
/* Whether the job's process is there, as far as it can be seen from here. */
bool ctl_job_alive(const struct ctl_job *job);
/* Whether its address file is still there: a job that ends removes it before it stops answering, and its process may
 * live on for a while. */
bool ctl_job_listed(const struct ctl_job *job);

#endif
