/* Which Slurm job each host is in: see slurm_jobs.h. */
#include "runtime/coordinator/slurm_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/coordinator/hosts.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/state.h"
#include "runtime/wire/messages.h"

static struct slurm_job *find(const struct slurm_jobs *jobs, const char *host)
{
    for (size_t i = 0; i < jobs->count; i++)
        if (hosts_has(jobs->table[i].host, host))
            return &jobs->table[i];
    return NULL;
}

static bool note(struct slurm_jobs *jobs, const char *host, int job)
{
    struct slurm_job *known = find(jobs, host);
    if (!known && array_reserve(&jobs->table, &jobs->room, jobs->count + 1, sizeof *jobs->table))
        return false;
    if (!known) {
        known = &jobs->table[jobs->count++];
        strcpy(known->host, host);
    }
    known->job = job;
    return true;
}

/* What a request without a job says of a host is that it is in none that was named before. */
static int job_for(const struct request_resize *request, const char *host)
{
    const struct named_ints *each = &request->slurm_jobs;
    for (int i = 0; i < each->count; i++)
        if (hosts_has(each->items[i].name, host))
            return each->items[i].value;
    return request->slurm_job;
}

static bool are_added(const struct request_resize *request, struct error *why)
{
    const struct named_ints *each = &request->slurm_jobs;
    for (int i = 0; i < each->count; i++)
        if (!hosts_has(request->add_hosts, each->items[i].name)) {
            error_set(why, ERROR_FAILED, "%.100s is in a Slurm job, but not among the hosts to be added",
                      each->items[i].name);
            return false;
        }
    return true;
}

bool slurm_jobs_take(struct coordinator *c, const struct request_resize *request, struct error *why)
{
    char host[HOST_MAX];
    if (!are_added(request, why))
        return false;
    for (const char *at = request->add_hosts; at && hosts_next(&at, host, NULL);)
        if (!note(&c->slurm_jobs, host, job_for(request, host))) {
            error_memory(why);
            return false;
        }
    return true;
}

/* A companion goes with what it was made for: where all leave, its number is of no use any more. */
static bool stays(const struct process *process)
{
    return process->state == PROCESS_RUNNING || process->state == PROCESS_STANDBY ||
           process->state == PROCESS_JOINING || process->state == PROCESS_HOSTING;
}

int slurm_jobs_of(const struct coordinator *c, const char *host)
{
    const struct slurm_job *named = find(&c->slurm_jobs, host);
    if (named && named->job)
        return named->job;
    for (int p = 0; p < c->processes.count; p++) {
        const struct process *process = process_at(c, p);
        if (stays(process) && process->slurm_job && hosts_has(host, process->host))
            return process->slurm_job;
    }
    return 0;
}

void slurm_jobs_destroy(struct slurm_jobs *jobs)
{
    free(jobs->table);
    *jobs = (struct slurm_jobs){0};
}
