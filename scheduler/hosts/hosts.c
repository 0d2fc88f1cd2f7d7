/* The daemon of hosts, from its start to its end: deciding, commands, what it looks after each second. */
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
#include "scheduler/core/policy.h"
#include "scheduler/daemon/server.h"
#include "scheduler/hosts/accounts.h"
#include "scheduler/hosts/balance.h"
#include "scheduler/hosts/drain.h"
#include "scheduler/hosts/idle.h"
#include "scheduler/hosts/launch.h"
#include "scheduler/hosts/life.h"
#include "scheduler/hosts/nodes.h"
#include "scheduler/hosts/power.h"
#include "scheduler/hosts/queue.h"
#include "scheduler/hosts/requeue.h"
#include "scheduler/hosts/resize.h"
#include "scheduler/hosts/state.h"
#include "scheduler/policies/policies.h"

/* ---- Deciding ----------------------------------------------------------------------------------- */

static const double longest_sleep = 3600, complaint = 10; /* seconds */

static void wake_up(evutil_socket_t fd, short what, void *context)
{
    struct hosts *hosts = context;
    (void)fd, (void)what;
    hosts_news(hosts);
}

/* Told when it is another one than before. */
static void tell_promise(struct hosts_job *job, const struct decision *decision)
{
    if (job->reserved >= 0 && fabs(job->reserved - decision->time) < 5)
        return;
    job->reserved = decision->time;
    hosts_tell_event(job->hosts, (struct journal_event){.job = job->number,
                                                        .kind = "decision",
                                                        .text = decision->reason,
                                                        .to = decision->to,
                                                        .at = decision->time});
}

static void carry_out(struct hosts *hosts, const struct decision *decision)
{
    struct hosts_job *job = hosts_jobs_find(hosts, decision->job);
    if (!job)
        return;
    snprintf(job->reason, sizeof job->reason, "%s", decision->reason);
    switch (decision->kind) {
    case DECISION_START:
        hosts_start(job, decision);
        break;
    case DECISION_RESIZE:
        hosts_drain_forget(job);
        hosts_resize_begin(job, decision);
        break;
    case DECISION_BALANCE:
        hosts_balance_begin(job, decision);
        break;
    case DECISION_RESERVE:
        tell_promise(job, decision);
        break;
    }
}

static void set_wake(struct hosts *hosts, double seconds)
{
    hosts_timer(hosts, &hosts->wake, wake_up, hosts, fmin(longest_sleep, fmax(0.01, seconds)));
}

/* A plan that makes no sense is the policy's fault: jobs run on, and it is asked again later. */
static void ask_policy(struct hosts *hosts)
{
    struct error error = {0};
    struct decisions decisions;
    double now = hosts_now(hosts);
    if (core_decide(hosts->core, now, &hosts->policy, &decisions, &error)) {
        hosts_tell(hosts, 0, "daemon", "%.900s", error.text);
        set_wake(hosts, complaint);
        return;
    }
    set_wake(hosts, decisions.wake - now);
    for (int i = 0; i < decisions.count && !hosts->error.code; i++)
        carry_out(hosts, &decisions.items[i]);
}

/* When all that was there has been heard. */
static void decide(struct hosts *hosts)
{
    hosts_jobs_sweep(hosts);
    if (!hosts->news || hosts->error.code || hosts->stopping || hosts_nodes_unseen(hosts))
        return;
    hosts->news = false;
    hosts_settle(hosts);
    hosts_drain(hosts);
    ask_policy(hosts);
    hosts_idle_wake(hosts);
}

/* ---- Commands that change something ------------------------------------------------------------- */

static int do_submit(void *context, const struct submission *submission, int64_t *number, struct error *error)
{
    return hosts_submit(context, submission, number, error);
}

/* NULL, with an error. */
static struct hosts_job *find_job(struct hosts *hosts, int64_t number, bool *unknown, struct error *error)
{
    struct hosts_job *job = hosts_jobs_find(hosts, number);
    *unknown = !job;
    if (!job)
        error_set(error, ERROR_FAILED, "there is no job %lld that waits or runs", (long long)number);
    return job;
}

static int do_cancel(void *context, int64_t number, bool *unknown, struct error *error)
{
    struct hosts_job *job = find_job(context, number, unknown, error);
    if (job)
        hosts_end_ask(job, "cancelled", "cancelled by its user");
    return job ? 0 : -1;
}

static int do_hold(void *context, int64_t number, bool held, bool *unknown, struct error *error)
{
    struct hosts_job *job = find_job(context, number, unknown, error);
    if (!job)
        return -1;
    return held ? hosts_hold(job, error) : hosts_release(job, error);
}

static int do_requeue(void *context, int64_t number, bool held, bool *unknown, struct error *error)
{
    struct hosts_job *job = find_job(context, number, unknown, error);
    if (!job || hosts_requeue(job, "put back into the queue by its user", error))
        return -1;
    if (held && !job->on_hold) {
        job->on_hold = true;
        hosts_queueing_keep(job, "held", "held by its user");
    }
    return 0;
}

static int do_change(void *context, int64_t number, const struct daemon_change *change, bool *unknown,
                     struct error *error)
{
    struct hosts_job *job = find_job(context, number, unknown, error);
    return job ? hosts_change(job, change, error) : -1;
}

static void drain(struct hosts *hosts, int number, bool undo, struct error *error)
{
    struct hosts_node *node = &hosts->nodes[number];
    const char *state = undo ? "up" : "drain", *reason = undo ? "" : "drained by its user";
    if (node->drained == !undo)
        return;
    node->drained = !undo;
    node->since = hosts_now(hosts);
    if (node->up) {
        snprintf(node->reason, sizeof node->reason, "%s", reason);
        hosts_must(hosts, journal_node_set_state(hosts->journal, node->name, state, reason, node->since, error), error);
    }
    hosts_tell(hosts, 0, "node", undo ? "%s takes jobs again" : "%s is drained: it takes no jobs", node->name);
    hosts_nodes_show(hosts, number);
}

/* A node, or all those of a host. */
static int do_drain(void *context, const char *name, bool undo, bool *unknown, struct error *error)
{
    struct hosts *hosts = context;
    *unknown = true;
    for (int i = 0; i < hosts->node_count; i++)
        if (!strcmp(hosts->nodes[i].name, name) || !strcmp(hosts_node_called(hosts, i), name)) {
            *unknown = false;
            drain(hosts, i, undo, error);
        }
    return *unknown ? error_set(error, ERROR_FAILED, "there is no node '%.100s'", name) : 0;
}

static int do_stop(void *context, enum daemon_stop how, struct error *error)
{
    struct hosts *hosts = context;
    int count = 0;
    for (struct hosts_job *job = hosts->jobs; job; job = job->next)
        count++;
    if (count && how == DAEMON_STOP_IDLE)
        return error_set(
            error, ERROR_REFUSED,
            "%d job%s or run%s; --jobs cancels %s, --leave lets %s run, and the next start takes them over", count,
            count == 1 ? " waits" : "s wait", count == 1 ? "s" : "", count == 1 ? "it" : "them",
            count == 1 ? "it" : "them");
    hosts->stopping = true;
    for (struct hosts_job *job = hosts->jobs, *next; how == DAEMON_STOP_JOBS && job; job = next) {
        next = job->next;
        hosts_end_ask(job, "cancelled", "epoprm was stopped");
    }
    hosts->leaving = how == DAEMON_STOP_LEAVE;
    hosts_news(hosts);
    return 0;
}

/* ---- Commands that look ------------------------------------------------------------------------- */

static const char *kind_text(epop_policy_kind_t kind)
{
    static const char *const texts[] = {[EPOP_RIGID] = "rigid",
                                        [EPOP_MOLDABLE] = "moldable",
                                        [EPOP_MALLEABLE] = "malleable",
                                        [EPOP_EVOLVING] = "evolving"};
    return texts[kind];
}

/* Also of one that is not in the queue. */
static double usage_of(const struct hosts *hosts, const char *account)
{
    if (!hosts->options->shares)
        return -1;
    const struct account *known = shares_find(core_shares(hosts->core), account);
    return known ? known->usage : 0;
}

static void list_jobs(void *context, void (*each)(void *to, const struct daemon_job *job), void *to)
{
    struct hosts *hosts = context;
    core_state(hosts->core, hosts_now(hosts));
    hosts_power_count(hosts);
    for (struct hosts_job *job = hosts->jobs; job; job = job->next) {
        const epop_policy_job_t *known = core_job(hosts->core, job->number);
        char *names = hosts_names(hosts, job->nodes, job->held);
        struct daemon_job view = {.number = job->number, .name = job->name, .kind = kind_text(job->kind)};
        view.state = hosts_state_text(job->state);
        view.reason = job->reason;
        view.ranks_min = job->ranks_min;
        view.ranks_max = job->ranks_max;
        view.nodes_min = job->nodes_min;
        view.nodes_max = job->nodes_max;
        view.nodes = job->size;
        view.target = job->resize.id ? job->resize.to : job->size;
        view.ranks = job->size ? hosts_jobs_ranks(job, job->size) : 0;
        view.hosts = names ? names : "";
        view.submitted = job->submitted;
        view.started = job->state == JOB_WAITING ? -1 : job->started;
        view.limit = job->limit > 0 ? job->limit : -1;
        view.left = known && job->state != JOB_WAITING ? known->left : -1;
        view.reserved = job->state == JOB_WAITING ? job->reserved : -1;
        view.joules = job->joules;
        view.leaves = known ? known->leaves : 0;
        view.priority = job->priority;
        view.deadline = job->deadline;
        view.drop_late = job->drop_late;
        view.account = hosts->options->shares ? accounts_of(job->account) : job->account;
        view.usage = usage_of(hosts, view.account);
        view.held = job->on_hold;
        each(to, &view);
        free(names);
    }
}

static void list_nodes(void *context, void (*each)(void *to, const struct daemon_node *node), void *to)
{
    struct hosts *hosts = context;
    for (int i = 0; i < hosts->node_count; i++) {
        const struct hosts_node *node = &hosts->nodes[i];
        struct daemon_node view = {.name = node->name, .host = node->host, .reason = node->reason};
        view.state = node->power != HOSTS_ON ? "off"
                     : !node->up             ? "down"
                     : node->drained         ? "drain"
                     : node->job >= 0        ? "busy"
                                             : "idle";
        view.slots = node->slots;
        view.job = node->job;
        view.speed = node->speed;
        view.leaf = hosts->topology.count ? hosts->topology.switches[hosts->topology.leaves[i]].name : NULL;
        view.since = node->since;
        view.watts = hosts_power_draw(node);
        each(to, &view);
    }
}

static const struct daemon_table commands = {.submit = do_submit,
                                             .cancel = do_cancel,
                                             .hold = do_hold,
                                             .requeue = do_requeue,
                                             .change = do_change,
                                             .drain = do_drain,
                                             .stop = do_stop,
                                             .jobs = list_jobs,
                                             .nodes = list_nodes};

/* ---- Now and then ------------------------------------------------------------------------------- */

static const double every = 1, again = 4, keep_every = 60; /* seconds */

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

/* What a daemon that dies has not written is reckoned by watts. */
static void keep_energy(struct hosts *hosts)
{
    hosts_power_count(hosts);
    if (hosts->power_at - hosts->power_kept < keep_every)
        return;
    hosts->power_kept = hosts->power_at;
    for (struct hosts_job *job = hosts->jobs; job; job = job->next)
        hosts_power_keep(job);
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
    keep_energy(hosts);
    hosts_idle_look(hosts);
    hosts_requeue_for_the_first(hosts);
    event_active(hosts->decide, EV_TIMEOUT, 0); /* what was put off */
    hosts_timer(hosts, &hosts->tick, tick, hosts, every);
}

static void on_decide(evutil_socket_t fd, short what, void *context)
{
    struct hosts *hosts = context;
    (void)fd, (void)what;
    decide(hosts);
    if (hosts->stopping && (hosts->leaving || !hosts->jobs))
        hosts_over(hosts);
}

/* ---- Signals ------------------------------------------------------------------------------------ */

static void on_child(int number)
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
    struct sigaction children = {.sa_handler = on_child, .sa_flags = SA_RESTART | SA_NOCLDWAIT};
    hosts->terminated = evsignal_new(hosts->base, SIGTERM, told_to_end, hosts);
    hosts->interrupted = evsignal_new(hosts->base, SIGINT, told_to_end, hosts);
    sigaction(SIGCHLD, &children, NULL);
    signal(SIGPIPE, SIG_IGN);
    if (!hosts->terminated || !hosts->interrupted || evsignal_add(hosts->terminated, NULL) ||
        evsignal_add(hosts->interrupted, NULL))
        return error_set(error, ERROR_FAILED, "signals cannot be heard");
    return 0;
}

/* ---- The beginning ------------------------------------------------------------------------------ */

static const struct core_costs costs = {.base = 0.1, .per_node = 0.01, .per_byte = 1e-9};

static int lock_directory(const struct hosts *hosts, int *fd, struct error *error)
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

static int write_word(struct hosts *hosts, const char *key, const char *value, struct error *error)
{
    return journal_meta_set(hosts->journal, key, value ? value : "", error);
}

static int read_nodes(struct hosts *hosts, struct error *error)
{
    const struct hosts_options *options = hosts->options;
    int failed = options->hosts ? hosts_nodes_read(hosts, options->hosts, error)
                                : hosts_nodes_local(hosts, options->local, error);
    if (failed || hosts_launch_by_slurm(hosts, error))
        return -1;
    hosts->slots = hosts->nodes[0].slots;
    hosts->core = core_create(hosts->node_count, &costs, options->power_cap);
    if (!hosts->core)
        return error_memory(error);
    return hosts_nodes_described(hosts, error) || hosts_power_begin(hosts, error) || hosts_idle_begin(hosts, error);
}

static int write_meta(struct hosts *hosts, struct error *error)
{
    char local[16], cap[32], after[32], preempt[32], spread[32], half[32];
    snprintf(half, sizeof half, "%.17g", hosts->options->half_life);
    snprintf(local, sizeof local, "%d", hosts->options->local);
    snprintf(cap, sizeof cap, "%.17g", hosts->options->power_cap);
    snprintf(preempt, sizeof preempt, "%.17g", hosts->options->preempt_after);
    snprintf(spread, sizeof spread, "%.17g", hosts->options->spread_cost);
    snprintf(after, sizeof after, "%.17g", hosts->options->suspend_after);
    return write_word(hosts, "policy", policy_called(&hosts->policy), error) ||
                   write_word(hosts, "hosts", hosts->options->hosts, error) ||
                   write_word(hosts, "local", local, error) ||
                   write_word(hosts, "launcher", hosts->options->launcher, error) ||
                   write_word(hosts, "launcher-exec", hosts->options->launcher_exec, error) ||
                   write_word(hosts, "watts", hosts->options->watts, error) ||
                   write_word(hosts, "power-cap", cap, error) || write_word(hosts, "spread-cost", spread, error) ||
                   write_word(hosts, "speeds", hosts->options->speeds, error) ||
                   write_word(hosts, "topology", hosts->options->topology, error) ||
                   write_word(hosts, "shares", hosts->options->shares, error) ||
                   write_word(hosts, "half-life", half, error) ||
                   write_word(hosts, "energy", hosts->options->energy, error) ||
                   write_word(hosts, "suspend", hosts->options->suspend, error) ||
                   write_word(hosts, "resume", hosts->options->resume, error) ||
                   write_word(hosts, "suspend-after", after, error) ||
                   write_word(hosts, "preempt-after", preempt, error)
               ? -1
               : 0;
}

static int set_shares(struct hosts *hosts, struct error *error)
{
    const struct hosts_options *options = hosts->options;
    struct shares shares;
    if (!options->shares)
        return 0;
    if (accounts_read(&shares, options->shares, options->half_life, hosts_now(hosts), hosts->journal, error))
        return -1;
    int failed = core_set_shares(hosts->core, &shares) ? error_memory(error) : 0;
    shares_free(&shares);
    return failed;
}

static int open_base(struct hosts *hosts, struct error *error)
{
    hosts->base = wire_base_new();
    hosts->decide = hosts->base ? event_new(hosts->base, -1, 0, on_decide, hosts) : NULL;
    if (!hosts->decide)
        return error_memory(error);
    event_priority_set(hosts->decide, WIRE_OTHERS);
    return 0;
}

static int prepare_all(struct hosts *hosts, int *held, struct error *error)
{
    const char *policy = hosts->options->policy ? hosts->options->policy : "gain";
    if (lock_directory(hosts, held, error) || policy_open(&hosts->policy, policy, policies, error))
        return -1;
    if (read_nodes(hosts, error) || open_journal(hosts, error) || set_shares(hosts, error))
        return -1;
    return hosts_launch_joins(&hosts->joins, error) || write_meta(hosts, error) || hosts_recover(hosts, error) ||
                   listen_to_signals(hosts, error) || hosts_nodes_check(hosts, error)
               ? -1
               : 0;
}

/* ---- Its life, and the end ---------------------------------------------------------------------- */

static int serve_until_end(struct hosts *hosts, void (*ready)(void *context), void *context, struct error *error)
{
    char path[4096];
    struct server *server;
    snprintf(path, sizeof path, "%s/socket", hosts->directory);
    if (server_open(&server, path, hosts->base, &commands, hosts, error))
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

static void free_all(struct hosts *hosts, int held)
{
    hosts_nodes_check_end(hosts);
    hosts_idle_end(hosts);
    hosts_jobs_free(hosts);
    core_destroy(hosts->core);
    journal_close(hosts->journal);
    policy_close(&hosts->policy);
    hosts_nodes_free(hosts);
    hosts_power_end(hosts);
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
    policy_guard_install(POLICY_GUARD_BUSY, POLICY_GUARD_ALONE);
    int failed = !hosts.directory ? error_memory(error)
                                  : open_base(&hosts, error) || prepare_all(&hosts, &held, error) ||
                                        serve_until_end(&hosts, ready, context, error);
    free_all(&hosts, held);
    return failed ? -1 : 0;
}
