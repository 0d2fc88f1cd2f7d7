/* Submitting: see hosts_submit.h. */
#include "scheduler/hosts/submit.h"

#include <stdlib.h>
#include <string.h>

#include "scheduler/core/text.h"
#include "scheduler/hosts/jobs.h"
#include "scheduler/hosts/tell.h"

static int least(int one, int other)
{
    return one < other ? one : other;
}

/* Nodes by ranks or ranks by nodes, whichever was given; both hold where both were. */
static int choose_sizes(const struct hosts *hosts, const struct submission *given, struct journal_job *job,
                        struct error *error)
{
    int slots = hosts->slots;
    job->ranks_min = given->ranks_min ? given->ranks_min : given->nodes_min * slots;
    job->ranks_max = given->ranks_max ? given->ranks_max : given->nodes_max * slots;
    if (job->ranks_min < 1 || job->ranks_max < job->ranks_min)
        return error_set(error, ERROR_REFUSED, "from %d to %d ranks: give --ranks MIN-MAX, or one number",
                         job->ranks_min, job->ranks_max);
    job->nodes_min = given->nodes_min ? given->nodes_min : hosts_jobs_nodes(hosts, job->ranks_min);
    job->nodes_max = given->nodes_max ? given->nodes_max : hosts_jobs_nodes(hosts, job->ranks_max);
    if (job->nodes_min > job->nodes_max || job->nodes_min < 1)
        return error_set(error, ERROR_REFUSED, "from %d to %d nodes: give --nodes MIN-MAX, or one number",
                         job->nodes_min, job->nodes_max);
    if (job->nodes_min > hosts->node_count)
        return error_set(error, ERROR_REFUSED, "it needs %d nodes of %d slot%s, and there are %d", job->nodes_min,
                         slots, slots == 1 ? "" : "s", hosts->node_count);
    job->nodes_max = least(job->nodes_max, hosts->node_count);
    job->wanted = job->nodes_max;
    return 0;
}

static bool is_object(const char *program)
{
    const char *dot = strrchr(program, '.');
    return dot && !strcmp(dot, ".so");
}

/* One size is rigid. With a range, what epop runs can change it where its MPI can; of others that has to turn out. */
static const char *choose_kind(const struct hosts *hosts, const struct submission *given, const struct journal_job *job)
{
    bool one = job->ranks_min == job->ranks_max || job->nodes_min == job->nodes_max;
    bool elastic = is_object(given->argv[0]) && !given->once;
    return one ? "rigid" : elastic && (hosts->joins || hosts->local) ? "malleable" : "moldable";
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Tables, pages and JSON have it, so it is one line of UTF-8 for all of them. */
static char *choose_name(const struct submission *given)
{
    char *name = strdup(given->name && *given->name ? given->name : base_name(given->argv[0]));
    if (name)
        line_text(name);
    return name;
}

struct hosts_job *hosts_submit_known(struct hosts *hosts, const struct journal_job *from, struct error *error)
{
    struct hosts_job *job = hosts_jobs_add(hosts, from);
    if (!job) {
        error_memory(error);
        return NULL;
    }
    if (!hosts_jobs_submit(job, error))
        return job;
    hosts_jobs_over(job);
    return NULL;
}

static int write_down(struct hosts *hosts, struct journal_job *job, int64_t *number, struct error *error)
{
    if (journal_begin(hosts->journal, error))
        return -1;
    if (journal_job_add(hosts->journal, job, number, error)) {
        journal_rollback(hosts->journal);
        return -1;
    }
    job->number = *number;
    hosts_tell_event(hosts, (struct journal_event){
                                .job = *number, .kind = "submitted", .text = job->name, .state = "waiting", .at = -1});
    return journal_commit(hosts->journal, error);
}

int hosts_submit(struct hosts *hosts, const struct submission *given, int64_t *number, struct error *error)
{
    struct journal_job job = {.argv = given->argv,
                              .cwd = given->cwd,
                              .environment = given->environment,
                              .output = given->output ? given->output : "",
                              .limit = given->limit,
                              .once = given->once,
                              .reason = "",
                              .state = "waiting",
                              .started = -1,
                              .ended = -1,
                              .status = -1};
    if (hosts->stopping)
        return error_set(error, ERROR_REFUSED, "epoprm is stopping");
    if (!given->argv || !given->argv[0])
        return error_set(error, ERROR_REFUSED, "no program is named");
    if (choose_sizes(hosts, given, &job, error))
        return -1;
    job.kind = choose_kind(hosts, given, &job);
    char *name = choose_name(given);
    if (!name)
        return error_memory(error);
    job.name = name;
    job.submitted = hosts_now(hosts);
    bool known = !write_down(hosts, &job, number, error) && hosts_submit_known(hosts, &job, error);
    free(name);
    if (known)
        hosts_news(hosts);
    return known ? 0 : -1;
}
