/* The Slurm allocation that the job runs in: its nodes and cores, and how launches reach them. */
#include "runtime/backends/allocation.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/batch.h"
#include "runtime/base/host.h"
#include "runtime/base/paths.h"
#include "runtime/coordinator/releases.h"
#include "runtime/coordinator/resize.h"

static struct {
    int job;
    struct nodelist nodes;
    int *cores; /* of each node, as far as the job has them */
} allocation;

/* "4(x2),2" into one number for each node; what is missing is 1. */
static void read_cores(const char *text)
{
    size_t node = 0;
    for (const char *at = text; at && *at && node < allocation.nodes.count;) {
        char *end;
        long cores = strtol(at, &end, 10), times = 1;
        if (!strncmp(end, "(x", 2))
            times = strtol(end + 2, &end, 10);
        while (times-- > 0 && node < allocation.nodes.count)
            allocation.cores[node++] = cores > 0 ? (int)cores : 1;
        at = strchr(end, ',');
        at = at ? at + 1 : NULL;
    }
    while (node < allocation.nodes.count)
        allocation.cores[node++] = 1;
}

bool allocation_take(void)
{
    const char *nodes = getenv("SLURM_JOB_NODELIST");
    allocation.job = slurm_job();
    if (!allocation.job || !nodes || nodelist_add(&allocation.nodes, nodes) ||
        !(allocation.cores = calloc(allocation.nodes.count, sizeof *allocation.cores)))
        return false;
    read_cores(getenv("SLURM_JOB_CPUS_PER_NODE"));
    return true;
}

bool allocation_owns(const char *variable)
{
    static const char *const kept[] = {"SLURM_CONF=", "SLURM_JOB_ID=", "SLURM_JOBID="};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (!strncmp(variable, kept[i], strlen(kept[i])))
            return false;
    return !strncmp(variable, "SLURM_", 6) || !strncmp(variable, "SRUN_", 5) || !strncmp(variable, "SLURMD_", 7) ||
           !strncmp(variable, "HYDRA_LAUNCHER", 14);
}

/* ---- Which nodes --------------------------------------------------------------------------- */

struct place {
    const char *node;
    int ranks, cores, joining;
    size_t number;
};

/* A parked process has its core as a rank has. */
static int count_on(const struct coordinator *c, const char *node)
{
    int count = 0;
    for (int p = 0; p < processes_count(c); p++)
        count += (processes_is_rank(c, p) || processes_state(c, p) == PROCESS_STANDBY) &&
                 hostlist_has(node, processes_host(c, p));
    return count;
}

static int by_ranks(const void *a, const void *b)
{
    const struct place *one = a, *other = b;
    if (one->ranks != other->ranks)
        return one->ranks < other->ranks ? -1 : 1;
    return one->number < other->number ? -1 : 1;
}

/* Onto free cores first; what is left over goes to all in turn. */
static void distribute(struct place *places, size_t count, int joining)
{
    for (size_t i = 0; i < count && joining > 0; i++) {
        int free_cores = places[i].cores > places[i].ranks ? places[i].cores - places[i].ranks : 0;
        places[i].joining = free_cores < joining ? free_cores : joining;
        joining -= places[i].joining;
    }
    for (size_t i = 0; joining > 0; i++, joining--)
        places[i % count].joining++;
}

static char *as_text(const struct place *places, size_t count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    const char *comma = "";
    for (size_t i = 0; stream && i < count; i++)
        if (places[i].joining) {
            fprintf(stream, "%s%s:%d", comma, places[i].node, places[i].joining);
            comma = ",";
        }
    return stream && !fclose(stream) ? text : NULL;
}

char *allocation_hosts(const struct coordinator *c, int joining)
{
    size_t count = allocation.nodes.count;
    struct place *places = calloc(count, sizeof *places);
    for (size_t i = 0; places && i < count; i++)
        places[i] = (struct place){.node = allocation.nodes.names[i],
                                   .ranks = count_on(c, allocation.nodes.names[i]),
                                   .cores = allocation.cores[i],
                                   .number = i};
    if (!places)
        return NULL;
    qsort(places, count, sizeof *places, by_ranks);
    distribute(places, count, joining);
    char *text = as_text(places, count);
    free(places);
    return text;
}

/* ---- How they are reached -------------------------------------------------------------------- */

int allocation_options(char *options[ENGINE_OPTIONS_MAX], int *count)
{
    static char helper[4096], launcher[] = "ssh"; /* any of Hydra's that starts one program for each host */
    bool can = engine()->launch_by && !helper_find("step", helper, sizeof helper);
    return can ? engine()->launch_by(options, count, launcher, helper) : -1;
}

static bool is_own(const char *host)
{
    for (size_t i = 0; i < allocation.nodes.count; i++)
        if (hostlist_has(allocation.nodes.names[i], host))
            return true;
    return false;
}

char *allocation_variable(const struct coordinator *c, const char *hosts)
{
    char *text = NULL, host[HOST_MAX];
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    const char *separator = " ";
    if (!stream)
        return NULL;
    fprintf(stream, "EPOP_STEP=%d", allocation.job);
    for (const char *at = hosts; hostlist_next(&at, host, NULL); separator = ",") {
        int known = slurm_jobs_of(c, host), job = known || !is_own(host) ? known : allocation.job;
        if (job)
            fprintf(stream, "%s%s=%d", separator, host, job);
        else
            fprintf(stream, "%s%s=+", separator, host); /* one of its own */
    }
    return fclose(stream) ? NULL : text;
}

void allocation_joining(void)
{
    unsetenv("EPOP_STEP");
    unsetenv("HYDRA_LAUNCHER_AUTOFORK");
    if (getenv(SLURM_STEP_JOB))
        signal(SIGTERM, SIG_DFL);
}
