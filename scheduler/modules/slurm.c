/* lib/epop/slurm.so: libslurm behind scheduler/slurm/module.h. What has not changed is not sent again by slurmctld. */
#include "scheduler/slurm/module.h"

#include <errno.h>
#include <math.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdlib.h>

#include <epop/visibility.h>

static struct {
    bool ready;
    job_info_msg_t *jobs;
    node_info_msg_t *nodes;
    partition_info_msg_t *partitions;
} last;

/* Each: 0: there is a new one; 1: the last one holds; -1: an error. */
static int outcome(int result)
{
    if (result == SLURM_SUCCESS)
        return 0;
    return errno == SLURM_NO_CHANGE_IN_DATA ? 1 : -1;
}

static int load_jobs(void)
{
    job_info_msg_t *fresh = NULL;
    int result = outcome(slurm_load_jobs(last.jobs ? last.jobs->last_update : 0, &fresh, SHOW_ALL));
    if (!result) {
        slurm_free_job_info_msg(last.jobs);
        last.jobs = fresh;
    }
    return result;
}

static int load_nodes(void)
{
    node_info_msg_t *fresh = NULL;
    int result = outcome(slurm_load_node(last.nodes ? last.nodes->last_update : 0, &fresh, SHOW_ALL));
    if (!result) {
        slurm_free_node_info_msg(last.nodes);
        last.nodes = fresh;
    }
    return result;
}

static int load_partitions(void)
{
    partition_info_msg_t *fresh = NULL;
    int result = outcome(slurm_load_partitions(last.partitions ? last.partitions->last_update : 0, &fresh, SHOW_ALL));
    if (!result) {
        slurm_free_partition_info_msg(last.partitions);
        last.partitions = fresh;
    }
    return result;
}

/* -1: it is over. */
static int state_of(const slurm_job_info_t *job, enum slurm_job_state *state)
{
    uint32_t base = job->job_state & JOB_STATE_BASE;
    if (job->job_state & JOB_COMPLETING)
        *state = SLURM_JOB_ENDS;
    else if (base == JOB_PENDING)
        *state = SLURM_JOB_WAITS;
    else if (base == JOB_RUNNING || base == JOB_SUSPENDED)
        *state = SLURM_JOB_RUNS;
    else
        return -1;
    return 0;
}

static double limit_of(const slurm_job_info_t *job)
{
    return job->time_limit == INFINITE || job->time_limit == NO_VAL ? INFINITY : 60.0 * job->time_limit;
}

/* Words of Slurm or of the site (state_desc) if there are any, else the name that squeue has. */
static const char *reason_of(const slurm_job_info_t *job)
{
    if (job->state_desc)
        return job->state_desc;
    switch (job->state_reason) {
    case WAIT_NO_REASON:
        return "None";
    case WAIT_PRIORITY:
        return "Priority";
    case WAIT_RESOURCES:
        return "Resources";
    case WAIT_DEPENDENCY:
        return "Dependency";
    case WAIT_HELD:
        return "JobHeldAdmin";
    case WAIT_HELD_USER:
        return "JobHeldUser";
    case WAIT_TIME:
        return "BeginTime";
    }
    return "other";
}

static void give_job(const struct slurm_sink *sink, void *to, const slurm_job_info_t *job)
{
    struct slurm_job_given given = {.id = job->job_id,
                                    .uid = job->user_id,
                                    .nodes = (int)job->num_nodes,
                                    .hosts = job->nodes,
                                    .requested = job->req_nodes,
                                    .partition = job->partition,
                                    .reason = reason_of(job),
                                    .name = job->name,
                                    .comment = job->comment,
                                    .priority = job->priority,
                                    .limit = limit_of(job),
                                    .submitted = (double)job->submit_time,
                                    .started = (double)job->start_time};
    if (!state_of(job, &given.state))
        sink->job(to, &given);
}

static enum slurm_node_state node_state(uint32_t state)
{
    const uint32_t off = NODE_STATE_DRAIN | NODE_STATE_NO_RESPOND | NODE_STATE_FAIL | NODE_STATE_RES |
                         NODE_STATE_MAINT | NODE_STATE_POWERED_DOWN | NODE_STATE_POWERING_DOWN |
                         NODE_STATE_POWERING_UP | NODE_STATE_REBOOT_REQUESTED | NODE_STATE_REBOOT_ISSUED |
                         NODE_STATE_INVALID_REG;
    uint32_t base = state & NODE_STATE_BASE;
    if (base == NODE_STATE_ALLOCATED || base == NODE_STATE_MIXED || state & NODE_STATE_COMPLETING)
        return base == NODE_STATE_DOWN ? SLURM_NODE_DOWN : SLURM_NODE_BUSY;
    return base == NODE_STATE_IDLE && !(state & off) ? SLURM_NODE_IDLE : SLURM_NODE_DOWN;
}

static void give_nodes(const struct slurm_sink *sink, void *to, const partition_info_t *partition)
{
    const int32_t *pair = partition->node_inx;
    for (; pair && pair[0] >= 0; pair += 2) {
        for (int32_t i = pair[0]; i <= pair[1] && i < (int32_t)last.nodes->record_count; i++) {
            const node_info_t *node = &last.nodes->node_array[i];
            struct slurm_node_given given = {.name = node->name,
                                             .state = node_state(node->node_state),
                                             .drained = node->node_state & NODE_STATE_DRAIN,
                                             .cpus = node->cpus,
                                             .partition = partition->name,
                                             .tier = partition->priority_tier,
                                             .up = partition->state_up == PARTITION_UP};
            given.planned = given.state == SLURM_NODE_IDLE && node->node_state & NODE_STATE_PLANNED;
            if (node->name)
                sink->node(to, &given);
        }
    }
}

static void give(const struct slurm_sink *sink, void *to)
{
    for (uint32_t i = 0; i < last.partitions->record_count; i++)
        give_nodes(sink, to, &last.partitions->partition_array[i]);
    for (uint32_t i = 0; i < last.jobs->record_count; i++)
        give_job(sink, to, &last.jobs->job_array[i]);
}

static const char *read_all(const struct slurm_sink *sink, void *to, bool again, bool *unchanged)
{
    if (!last.ready)
        slurm_init(NULL);
    last.ready = true;
    int jobs = load_jobs(), nodes = jobs < 0 ? -1 : load_nodes(), partitions = nodes < 0 ? -1 : load_partitions();
    if (partitions < 0)
        return slurm_strerror(errno);
    *unchanged = !again && jobs && nodes && partitions;
    if (!*unchanged)
        give(sink, to);
    return NULL;
}

EPOP_EXPORT extern const struct slurm_module slurm_module;
const struct slurm_module slurm_module = {SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER) * 10000 +
                                              SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER) * 100 +
                                              SLURM_VERSION_MICRO(SLURM_VERSION_NUMBER),
                                          read_all};
