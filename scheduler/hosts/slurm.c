/* Inside a Slurm allocation: see hosts_slurm.h. */
#include "scheduler/hosts/slurm.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/helper.h"
#include "runtime/base/nodelist.h"
#include "runtime/base/slurm.h"

char *hosts_slurm_list(void)
{
    const char *names = getenv("SLURM_JOB_NODELIST"), *cores = getenv("SLURM_JOB_CPUS_PER_NODE"), *comma = "";
    struct nodelist nodes = {0};
    char *text = NULL;
    size_t size = 0;
    int slots = cores ? atoi(cores) : 1;
    if (!slurm_job() || !names || nodelist_add(&nodes, names))
        return NULL;
    FILE *stream = open_memstream(&text, &size);
    for (size_t i = 0; stream && i < nodes.count; i++, comma = ",")
        fprintf(stream, "%s%s:%d", comma, nodes.names[i], slots > 0 ? slots : 1);
    nodelist_free(&nodes);
    return stream && !fclose(stream) ? text : NULL;
}

/* Which job each host is in, as lib/epop/step has it. */
static int set_step(const struct hosts *hosts)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return -1;
    fprintf(stream, "%d", slurm_job());
    for (int i = 0; i < hosts->node_count; i++)
        fprintf(stream, "%c%s=%d", i ? ',' : ' ', hosts->nodes[i].host, slurm_job());
    int failed = fclose(stream) || setenv("EPOP_STEP", text, 1);
    free(text);
    return failed ? -1 : 0;
}

int hosts_slurm_begin(const struct hosts *hosts, struct error *error)
{
    char step[PATH_MAX];
    if (!slurm_job() || hosts->local || hosts->options->launcher || hosts->options->launcher_exec)
        return 0;
    if (tree_path("lib/epop/step", step, sizeof step) || set_step(hosts) || setenv("EPOP_STEP_FIRST", "1", 1) ||
        setenv("HYDRA_LAUNCHER", "ssh", 1) || setenv("HYDRA_LAUNCHER_EXEC", step, 1) ||
        setenv("HYDRA_LAUNCHER_AUTOFORK", "0", 1))
        return error_memory(error);
    return 0;
}

void hosts_slurm_set(cJSON *environment)
{
    static const char *const names[] = {
        "SLURM_CONF",     "SLURM_JOB_ID",        "SLURM_JOB_NODELIST",      "SLURM_JOB_CPUS_PER_NODE",
        "HYDRA_LAUNCHER", "HYDRA_LAUNCHER_EXEC", "HYDRA_LAUNCHER_AUTOFORK", "EPOP_STEP",
        "EPOP_STEP_FIRST"};
    for (size_t i = 0; getenv("EPOP_STEP") && i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        cJSON_DeleteItemFromObjectCaseSensitive(environment, names[i]);
        if (value)
            cJSON_AddStringToObject(environment, names[i], value);
    }
}
