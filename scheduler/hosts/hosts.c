/* The life of the daemon of hosts. */
#include "scheduler/hosts/hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/wire/loop.h"
#include "scheduler/core/guard.h"
#include "scheduler/daemon/server.h"
#include "scheduler/hosts/check.h"
#include "scheduler/hosts/decide.h"
#include "scheduler/hosts/end.h"
#include "scheduler/hosts/jobs.h"
#include "scheduler/hosts/launch.h"
#include "scheduler/hosts/list.h"
#include "scheduler/hosts/recover.h"
#include "scheduler/hosts/slurm.h"
#include "scheduler/hosts/state.h"
#include "scheduler/hosts/table.h"
#include "scheduler/hosts/tell.h"
#include "scheduler/policies/policies.h"

static const double every = 1, again = 4; /* seconds */
static const struct core_costs costs = {.base = 0.1, .per_node = 0.01, .per_byte = 1e-9};

/* ---- Now and then --------------------------------------------------------------------------------- */

/* Its attendant does not answer. What was written when the job ended counts. Where nothing was, another attendant ends
 * what is left of the job; until that has happened nobody knows what runs where, and its nodes stay its own. */
static void look_for(struct hosts_job *job)
{
    struct error error = {0};
    double missing = job->attendant.path ? attend_client_missing(&job->attendant) : 0;
    cJSON *ended = missing > 0 ? hosts_launch_ended(job) : NULL;
    if (ended)
        hosts_end(job, ended, NULL);
    else if (missing > again && fmod(missing, again) < every && hosts_launch_start(job, &error))
        hosts_tell(job->hosts, job->number, "failed", "%.900s", error.text);
    cJSON_Delete(ended);
}

static void tick(evutil_socket_t fd, short what, void *context)
{
    struct hosts *hosts = context;
    (void)fd, (void)what;
    for (struct hosts_job *job = hosts->jobs, *next; job; job = next) {
        next = job->next;
        if (job->state != JOB_WAITING)
            look_for(job);
    }
    hosts_end_late(hosts);
    event_active(hosts->decide, EV_TIMEOUT, 0); /* what was put off */
    hosts_timer(hosts, &hosts->tick, tick, hosts, every);
}

static void decide(evutil_socket_t fd, short what, void *context)
{
    struct hosts *hosts = context;
    (void)fd, (void)what;
    hosts_decide(hosts);
    if (hosts->stopping && (hosts->leaving || !hosts->jobs))
        hosts_over(hosts);
}

/* ---- Signals --------------------------------------------------------------------------------------- */

static void child(int number)
{
    (void)number; /* a handler, as who is started would inherit that it is ignored */
}

/* SIGTERM is `stop --leave`. */
static void told_to_end(evutil_socket_t number, short what, void *context)
{
    struct hosts *hosts = context;
    (void)number, (void)what;
    hosts->stopping = hosts->leaving = true;
    hosts_news(hosts);
}

static int listen_to_signals(struct hosts *hosts, struct error *error)
{
    struct sigaction children = {.sa_handler = child, .sa_flags = SA_RESTART | SA_NOCLDWAIT};
    hosts->terminated = evsignal_new(hosts->base, SIGTERM, told_to_end, hosts);
    hosts->interrupted = evsignal_new(hosts->base, SIGINT, told_to_end, hosts);
    sigaction(SIGCHLD, &children, NULL);
    signal(SIGPIPE, SIG_IGN);
    if (!hosts->terminated || !hosts->interrupted || evsignal_add(hosts->terminated, NULL) ||
        evsignal_add(hosts->interrupted, NULL))
        return error_set(error, ERROR_FAILED, "signals cannot be heard");
    return 0;
}

/* ---- Beginning and end ------------------------------------------------------------------------------ */

static int lock(const struct hosts *hosts, int *fd, struct error *error)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/lock", hosts->directory);
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (*fd < 0)
        return error_set(error, ERROR_FAILED, "%.3900s cannot be opened: %s", path, strerror(errno));
    if (flock(*fd, LOCK_EX | LOCK_NB))
        return error_set(error, ERROR_REFUSED, "an epoprm runs already in %.3900s; epoprm stop ends it",
                         hosts->directory);
    return 0;
}

static int open_journal(struct hosts *hosts, struct error *error)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/journal.db", hosts->directory);
    return journal_open(&hosts->journal, path, error);
}

static int meta(struct hosts *hosts, const char *key, const char *value, struct error *error)
{
    return journal_meta_set(hosts->journal, key, value ? value : "", error);
}

static int read_nodes(struct hosts *hosts, struct error *error)
{
    const struct hosts_options *options = hosts->options;
    int failed =
        options->hosts ? hosts_list_read(hosts, options->hosts, error) : hosts_list_local(hosts, options->local, error);
    if (failed || hosts_slurm_begin(hosts, error))
        return -1;
    hosts->slots = hosts->nodes[0].slots;
    hosts->core = core_create(hosts->node_count, &costs, 0);
    return hosts->core ? 0 : error_memory(error);
}

static int write_meta(struct hosts *hosts, struct error *error)
{
    char local[16];
    snprintf(local, sizeof local, "%d", hosts->options->local);
    return meta(hosts, "policy", policy_called(&hosts->policy), error) ||
                   meta(hosts, "hosts", hosts->options->hosts, error) || meta(hosts, "local", local, error) ||
                   meta(hosts, "launcher", hosts->options->launcher, error) ||
                   meta(hosts, "launcher-exec", hosts->options->launcher_exec, error)
               ? -1
               : 0;
}

static int prepare(struct hosts *hosts, int *held, struct error *error)
{
    const char *policy = hosts->options->policy ? hosts->options->policy : "gain";
    if (lock(hosts, held, error) || policy_open(&hosts->policy, policy, policies, error))
        return -1;
    if (read_nodes(hosts, error) || open_journal(hosts, error))
        return -1;
    hosts->joins = hosts_launch_joins();
    return write_meta(hosts, error) || hosts_recover(hosts, error) || listen_to_signals(hosts, error) ||
                   hosts_check_begin(hosts, error)
               ? -1
               : 0;
}

static int serve(struct hosts *hosts, void (*ready)(void *context), void *context, struct error *error)
{
    char path[4096];
    struct server *server;
    snprintf(path, sizeof path, "%s/socket", hosts->directory);
    if (server_open(&server, path, hosts->base, &hosts_table, hosts, error))
        return -1;
    hosts->listener = (struct daemon_listener){server_tell, server};
    hosts_tell(hosts, 0, "daemon", "it runs, with %d node%s and policy %s", hosts->node_count,
               hosts->node_count == 1 ? "" : "s", policy_called(&hosts->policy));
    hosts_recover_go_on(hosts);
    tick(-1, 0, hosts);
    if (ready)
        ready(context);
    int failed = wire_wait(hosts->base, &hosts->ends, -1)
                     ? 0
                     : error_set(error, ERROR_FAILED, "cannot wait for anything any more");
    if (!failed && hosts->error.code) {
        *error = hosts->error;
        failed = -1;
    }
    if (!failed)
        hosts_tell(hosts, 0, "daemon", hosts->jobs ? "it ends, and jobs run on" : "it ends");
    server_close(server);
    return failed;
}

static int open_base(struct hosts *hosts, struct error *error)
{
    hosts->base = wire_base_new();
    hosts->decide = hosts->base ? event_new(hosts->base, -1, 0, decide, hosts) : NULL;
    if (!hosts->decide)
        return error_memory(error);
    event_priority_set(hosts->decide, WIRE_OTHERS);
    return 0;
}

static void close_base(struct hosts *hosts)
{
    struct event *events[] = {hosts->decide, hosts->terminated, hosts->interrupted,
                              hosts->wake,   hosts->checks,     hosts->tick};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i])
            event_free(events[i]);
    if (hosts->base)
        event_base_free(hosts->base);
}

static void clean(struct hosts *hosts, int held)
{
    hosts_check_end(hosts);
    hosts_jobs_free(hosts);
    core_destroy(hosts->core);
    journal_close(hosts->journal);
    policy_close(&hosts->policy);
    hosts_list_free(hosts);
    close_base(hosts);
    free(hosts->directory);
    if (held >= 0)
        close(held);
}

int hosts_run(const struct hosts_options *options, void (*ready)(void *context), void *context, struct error *error)
{
    struct hosts hosts = {.options = options, .wall = wall_seconds(), .monotonic = monotonic_seconds()};
    int held = -1;
    hosts.directory = strdup(options->directory);
    guard_install(GUARD_BUSY, GUARD_ALONE);
    int failed = !hosts.directory ? error_memory(error)
                                  : open_base(&hosts, error) || prepare(&hosts, &held, error) ||
                                        serve(&hosts, ready, context, error);
    clean(&hosts, held);
    return failed ? -1 : 0;
}
