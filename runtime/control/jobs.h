/* The address files of jobs: finding jobs by them, and writing one. */
#ifndef EPOP_CONTROL_JOBS_H
#define EPOP_CONTROL_JOBS_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/error.h"
#include "runtime/base/proctree.h"

struct control_job {
    char id[128], uri[512], token[65], host[256], program[256];
    char batch[64];         /* the job of a resource manager that it is: "epoprm:17"; "" */
    struct proc_id process; /* that of its rank 0 */
    bool here;              /* on this host, so that its process can be looked at */
    bool apart;             /* on this host too, but in another namespace of process numbers, say a container */
};

/* Where it is, for people: "n1", or "n1, in another PID namespace". */
#define CONTROL_PLACE_MAX 300
void control_job_place(const struct control_job *job, char text[CONTROL_PLACE_MAX]);

/* All jobs, sorted by id; stale files are removed. *jobs is the caller's to free. How many. */
int control_jobs(struct control_job **jobs);
/* Whether the job's process is there, as far as it can be seen from here. */
bool control_job_alive(const struct control_job *job);
/* Whether its address file is still there: a job that ends removes it before it stops answering, and its process may
 * live on for a while. */
bool control_job_listed(const struct control_job *job);

/* Writes ID.json, with `job` as content and what is needed to find it; its path for the removal into path. 0, or -1
 * with text. */
int control_jobfile_write(const char *id, const cJSON *job, const char *uri, const char *token, char *path,
                          size_t path_size, struct error *error);

#endif
