/* The same conditions for joining processes: see conditions.h. */
#include "runtime/backends/conditions.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/backends/allocation.h"
#include "runtime/base/batch.h"
#include "runtime/base/error.h"

extern char **environ;

/* ---- Environment and directory ------------------------------------------------------ */

/* What belongs to this process's own launch, or its host, and would confuse the new one. */
static bool is_launchers(const char *variable)
{
    static const char *const prefixes[] = {
        "PMI_",       "PMIX_",          "HYDI_",     "MPI_LOCAL",       "MPIEXEC_", "MPIR_CVAR_CH3_INTERFACE_HOSTNAME=",
        "EPOP_JOIN=", "EPOP_TETHERED=", "EPOP_STEP", SLURM_STEP_JOB "="};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (!strncmp(variable, prefixes[i], strlen(prefixes[i])))
            return true;
    return false;
}

static int take_environment(struct conditions *conditions)
{
    size_t count = 0;
    while (environ[count])
        count++;
    conditions->environment = calloc(count + 1, sizeof *conditions->environment);
    conditions->count = 0;
    for (size_t i = 0; conditions->environment && i < count; i++)
        if (!is_launchers(environ[i]) && !(slurm_job() && allocation_owns(environ[i])) &&
            !(conditions->environment[conditions->count++] = strdup(environ[i])))
            return -1;
    return conditions->environment ? 0 : -1;
}

int conditions_take(struct conditions *conditions)
{
    for (int i = 0; i < (int)RLIM_NLIMITS; i++)
        getrlimit((__rlimit_resource_t)i, &conditions->limits[i]);
    if (!getcwd(conditions->directory, sizeof conditions->directory))
        conditions->directory[0] =
            0; /* it was removed, or cannot be seen: joiners start where the launcher puts them */
    return take_environment(conditions);
}

/* ---- Descriptors ---------------------------------------------------------------------- */

/* For each joiner the control plane and, at most, MPI; for a launch its output, and what is used in between. */
#define OF_A_JOINER 2
#define OF_A_LAUNCH 8

/* How many this process has; what it may have where it cannot look, since it has them all. */
static rlim_t open_descriptors(rlim_t limit)
{
    rlim_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder)
        return limit;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count - 3; /* itself, . and .. */
}

int conditions_suffice(int joining, struct error *error)
{
    struct rlimit limit;
    rlim_t needed = OF_A_JOINER * (rlim_t)joining + OF_A_LAUNCH;
    getrlimit(RLIMIT_NOFILE, &limit);
    rlim_t used = limit.rlim_cur == RLIM_INFINITY ? 0 : open_descriptors(limit.rlim_cur);
    if (used + needed <= limit.rlim_cur)
        return 0;
    return error_set(
        error, ERROR_FAILED,
        "rank 0's process may have %llu files and connections open, has %llu, and needs up to %llu more (ulimit -n)",
        (unsigned long long)limit.rlim_cur, (unsigned long long)used, (unsigned long long)needed);
}

/* ---- Limits --------------------------------------------------------------------------- */

static const struct {
    int resource;
    const char *name;
    bool hosts_own; /* its default depends on the host's memory: not worth a refusal */
} known[] = {
    {RLIMIT_CPU, "cpu", false},           {RLIMIT_FSIZE, "fsize", false},
    {RLIMIT_DATA, "data", false},         {RLIMIT_STACK, "stack", false},
    {RLIMIT_CORE, "core", false},         {RLIMIT_RSS, "rss", false},
    {RLIMIT_NPROC, "nproc", true},        {RLIMIT_NOFILE, "nofile", false},
    {RLIMIT_MEMLOCK, "memlock", true},    {RLIMIT_AS, "as", false},
    {RLIMIT_LOCKS, "locks", false},       {RLIMIT_SIGPENDING, "sigpending", true},
    {RLIMIT_MSGQUEUE, "msgqueue", false}, {RLIMIT_NICE, "nice", false},
    {RLIMIT_RTPRIO, "rtprio", false},     {RLIMIT_RTTIME, "rttime", false},
};
#define KNOWN (sizeof known / sizeof known[0])

/* As text: a JSON number does not hold all 64 bits. "-" is no limit. */
static void add_value(cJSON *list, rlim_t value)
{
    char text[24] = "-";
    if (value != RLIM_INFINITY)
        snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    cJSON_AddItemToArray(list, cJSON_CreateString(text));
}

static rlim_t value_of(const cJSON *item)
{
    const char *text = cJSON_GetStringValue(item);
    return text && text[0] != '-' ? (rlim_t)strtoull(text, NULL, 10) : RLIM_INFINITY;
}

cJSON *conditions_limits(const struct conditions *conditions)
{
    cJSON *limits = cJSON_CreateObject();
    for (size_t i = 0; i < KNOWN; i++) {
        cJSON *pair = cJSON_AddArrayToObject(limits, known[i].name);
        add_value(pair, conditions->limits[known[i].resource].rlim_cur);
        add_value(pair, conditions->limits[known[i].resource].rlim_max);
    }
    return limits;
}

/* The soft limit is what a program meets; a hard one that is lower here than there is kept. */
static int set_limit(int resource, struct rlimit wanted)
{
    struct rlimit here;
    if (!setrlimit((__rlimit_resource_t)resource, &wanted))
        return 0;
    if (getrlimit((__rlimit_resource_t)resource, &here))
        return -1;
    if (wanted.rlim_max < here.rlim_max)
        here.rlim_max = wanted.rlim_max;
    here.rlim_cur = wanted.rlim_cur < here.rlim_max ? wanted.rlim_cur : here.rlim_max;
    return setrlimit((__rlimit_resource_t)resource, &here) || here.rlim_cur != wanted.rlim_cur ? -1 : 0;
}

int conditions_apply_limits(const cJSON *limits, struct error *error)
{
    for (size_t i = 0; i < KNOWN; i++) {
        const cJSON *pair = cJSON_GetObjectItemCaseSensitive(limits, known[i].name);
        if (cJSON_GetArraySize(pair) != 2)
            continue;
        struct rlimit wanted = {value_of(cJSON_GetArrayItem(pair, 0)), value_of(cJSON_GetArrayItem(pair, 1))};
        if (!set_limit(known[i].resource, wanted) || known[i].hosts_own)
            continue;
        return error_set(error, ERROR_FAILED, "the resource limit '%s' of the running ranks cannot be had there: %s",
                         known[i].name, strerror(errno));
    }
    return 0;
}
