/* Requests: see hosts_request.h. */
#include "scheduler/hosts/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/json.h"
#include "scheduler/hosts/jobs.h"

/* Names of hosts as mpiexec is told them (with slots), or as the job's processes say them. The caller's to free. */
static char *list(const struct hosts_job *job, bool slots)
{
    size_t length = 1;
    for (int i = 0; i < job->resize.count; i++)
        length += strlen(job->hosts->nodes[job->resize.nodes[i]].host) + 272;
    char *text = calloc(length, 1), *at = text;
    for (int i = 0; text && i < job->resize.count; i++) {
        const struct hosts_node *node = &job->hosts->nodes[job->resize.nodes[i]];
        const char *comma = i ? "," : "", *known = node->known ? node->known : node->host;
        at += slots ? sprintf(at, "%s%s:%d", comma, node->host, node->slots) : sprintf(at, "%s%.255s", comma, known);
    }
    return text;
}

static void add_list(const struct hosts_job *job, cJSON *request, const char *key, bool slots)
{
    char *text = list(job, slots);
    cJSON_AddStringToObject(request, key, text ? text : "");
    free(text);
}

static bool gives_back(const struct hosts_job *job, int node)
{
    for (int i = 0; i < job->resize.count; i++)
        if (job->resize.nodes[i] == node)
            return true;
    return false;
}

/* Nodes of one host can only be told apart by the order of their ranks. */
static void add_ranks(const struct hosts_job *job, cJSON *request)
{
    cJSON *ranks = cJSON_AddArrayToObject(request, "release_ranks");
    int slots = job->hosts->slots, all = hosts_jobs_ranks(job, job->resize.from);
    for (int i = 0; i < job->resize.from; i++)
        for (int rank = i * slots; gives_back(job, job->nodes[i]) && rank < (i + 1) * slots && rank < all; rank++)
            cJSON_AddItemToArray(ranks, cJSON_CreateNumber(rank));
}

cJSON *hosts_request_resize(const struct hosts_job *job)
{
    cJSON *request = json_message("resize");
    bool grows = job->resize.to > job->resize.from;
    if (grows || job->pool)
        cJSON_AddNumberToObject(request, "size", hosts_jobs_ranks(job, job->resize.to));
    if (grows && !job->hosts->local)
        add_list(job, request, "add_hosts", true);
    else if (!grows && job->hosts->local && !job->pool)
        add_ranks(job, request);
    else if (!grows && !job->hosts->local)
        add_list(job, request, "release_hosts", false);
    cJSON_AddStringToObject(request, "wait", "vacated");
    cJSON_AddTrueToObject(request, "scheduler");
    return request;
}

cJSON *hosts_request_status(void)
{
    return json_message("status");
}

cJSON *hosts_request_measure(void)
{
    cJSON *request = json_message("measure");
    cJSON_AddStringToObject(request, "asker", "epoprm");
    cJSON_AddNumberToObject(request, "keep", 60);
    return request;
}
