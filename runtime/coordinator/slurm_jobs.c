/* Which Slurm job each host is in: see slurm_jobs.h. */
#include "runtime/coordinator/slurm_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/json.h"
#include "runtime/coordinator/hosts.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/state.h"

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
static int job_for(const cJSON *request, const char *host)
{
    const cJSON *of;
    cJSON_ArrayForEach(of, cJSON_GetObjectItemCaseSensitive(request, "slurm_jobs"))
    {
        if (hosts_has(of->string, host))
            return of->valueint;
    }
    return json_int(request, "slurm_job", 0);
}

static bool check_job(const cJSON *job, struct error *why)
{
    if (!job || (cJSON_IsNumber(job) && job->valuedouble == job->valueint && job->valueint > 0))
        return true;
    error_set(why, ERROR_FAILED, "a Slurm job is named by its number, which is greater than 0");
    return false;
}

static bool check(const cJSON *request, struct error *why)
{
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(request, "slurm_job"), *of;
    const cJSON *each = cJSON_GetObjectItemCaseSensitive(request, "slurm_jobs");
    const char *hosts = json_text(request, "add_hosts");
    if ((all || each) && !hosts) {
        error_set(why, ERROR_FAILED, "it says which Slurm job hosts are in, but not which hosts (add_hosts)");
        return false;
    }
    if (!check_job(all, why))
        return false;
    cJSON_ArrayForEach(of, each)
    {
        if (!check_job(of, why))
            return false;
        if (!hosts_has(hosts, of->string)) {
            error_set(why, ERROR_FAILED, "%.100s is in a Slurm job, but not among the hosts to be added", of->string);
            return false;
        }
    }
    return true;
}

bool slurm_jobs_take(struct coordinator *c, const cJSON *request, struct error *why)
{
    char host[HOSTS_NAME_MAX];
    if (!check(request, why))
        return false;
    for (const char *at = json_text(request, "add_hosts"); at && hosts_next(&at, host, NULL);)
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
