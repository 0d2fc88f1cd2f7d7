/* The adviser: what Slurm says, decisions and how they become requests, what epoprm's commands ask, and its life. */
#include "scheduler/slurm/adviser.h"

#include <ctype.h>
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
#include "runtime/base/tried.h"
#include "runtime/wire/loop.h"
#include "scheduler/core/policy.h"
#include "scheduler/daemon/server.h"
#include "scheduler/policies/policies.h"
#include "scheduler/slurm/asking.h"
#include "scheduler/slurm/model.h"
#include "scheduler/slurm/peer.h"
#include "scheduler/slurm/view.h"

static const double rest = 5; /* seconds between decisions where nothing happens */

/* ---- What Slurm says ---------------------------------------------------------------------------- */

/* What was measured of those that run on is not lost with this adviser. */
static void keep_histories(struct adviser *adviser)
{
    for (const struct advised *job = adviser->table.first; adviser->journal && job; job = job->next)
        asking_keep_history(adviser, job);
}

/* Those that have ended, and nobody is connected for. */
static void forget_jobs(struct adviser *adviser)
{
    for (struct advised *job = adviser->table.first, *next; job; job = next) {
        const struct slurm_job *slurm = view_job(adviser->view, job->id);
        next = job->next;
        if (!slurm || slurm->state == SLURM_JOB_WAITS) {
            asking_keep_history(adviser, job);
            advised_remove(&adviser->table, job);
        }
    }
}

static void forget_promises(struct adviser *adviser)
{
    struct advised_table *table = &adviser->table;
    size_t kept = 0;
    for (size_t i = 0; i < table->promise_count; i++) {
        const struct slurm_job *job = view_job(adviser->view, table->promises[i].job);
        if (job && job->state == SLURM_JOB_WAITS)
            table->promises[kept++] = table->promises[i];
    }
    table->promise_count = kept;
}

static void take_view(struct adviser *adviser, struct slurm_view *view)
{
    if (adviser->view)
        view_free(adviser->view);
    free(adviser->view);
    adviser->view = view;
    struct error why;
    if (record_view(&adviser->record, adviser->journal, view, &adviser->table, wall_seconds(), &why))
        asking_say(adviser, why.text);
    forget_jobs(adviser);
    forget_promises(adviser);
}

static void on_news(evutil_socket_t fd, short what, void *context)
{
    struct adviser *adviser = context;
    struct error why;
    bool was_away = adviser->away;
    struct slurm_view *view = reading_take(&adviser->reading, &adviser->view_asked, &adviser->away, &why);
    char text[300];
    (void)fd, (void)what;
    if (adviser->away && !was_away) {
        snprintf(text, sizeof text, "Slurm does not answer, waiting for it: %.200s", why.text);
        asking_say(adviser, text);
    } else if (was_away && !adviser->away) {
        asking_say(adviser, "Slurm answers again");
    }
    if (view)
        take_view(adviser, view);
    asking_wake(adviser);
}

/* ---- Growing ------------------------------------------------------------------------------------ */

static int add_name(struct hostlist *list, int most, const char *name)
{
    if (!list->names)
        list->names = calloc((size_t)most, sizeof *list->names);
    char *copy = list->names ? strdup(name) : NULL;
    if (!copy)
        return -1;
    list->names[list->count++] = copy;
    return 0;
}

/* Which idle nodes of the core nobody has in this plan: those of starts are Slurm's to give. */
static void mark_used(const struct model *model, const struct decisions *decisions, bool *used)
{
    for (int i = 0; i < model->count; i++)
        used[i] = model->taken[i];
    for (int i = 0; i < decisions->count; i++) {
        const struct decision *decision = &decisions->items[i];
        bool takes =
            decision->kind == DECISION_START || (decision->kind == DECISION_RESIZE && decision->to > decision->from);
        for (int k = 0; takes && k < decision->count; k++)
            used[decision->nodes[k]] = true;
    }
}

/* The core's choice where the job may have it, else another one. */
static int choose_node(const struct model *model, const struct slurm_job *job, int node, bool *used)
{
    if (model_may_take(model->input, job, model->node[node]))
        return node;
    for (int i = 0; i < model->count; i++)
        if (!used[i] && model_may_take(model->input, job, model->node[i])) {
            used[i] = true;
            used[node] = false;
            return i;
        }
    return -1;
}

static void grow_job(struct adviser *adviser, const struct model *model, const struct decision *decision, bool *used)
{
    const struct holding *holding = model_holding(model, decision->job);
    struct hostlist nodes = {0};
    for (int i = 0; i < decision->count; i++) {
        int node = choose_node(model, holding->job, decision->nodes[i], used);
        if (node >= 0 && add_name(&nodes, decision->count, adviser->view->nodes[model->node[node]].name))
            break;
    }
    int to = decision->from + nodes.count, slots = holding->advised->told.slots;
    if (nodes.count && told_accepts(&holding->advised->told, to * slots))
        asking_resize(adviser, holding->advised, ASK_GROW, &nodes, decision->from, to, decision->reason);
    hostlist_free(&nodes);
}

/* ---- Shrinking ---------------------------------------------------------------------------------- */

static bool is_drained(const struct adviser *adviser, const struct holding *holding, int i)
{
    return adviser->view->nodes[holding->nodes[i]].drained;
}

/* Never its own nodes; of companions those on drained nodes, then the newest. */
static void shrink_job(struct adviser *adviser, const struct model *model, const struct decision *decision)
{
    const struct holding *holding = model_holding(model, decision->job);
    int count = decision->from - decision->to;
    struct hostlist nodes = {0};
    for (int drained = 1; drained >= 0; drained--)
        for (int i = holding->count - 1; i >= holding->own && nodes.count < count; i--) {
            const char *name = adviser->view->nodes[holding->nodes[i]].name;
            if (is_drained(adviser, holding, i) == drained && told_runs_on(&holding->advised->told, name) &&
                add_name(&nodes, count, name))
                break;
        }
    if (nodes.count == count)
        asking_resize(adviser, holding->advised, ASK_SHRINK, &nodes, decision->from, decision->to, decision->reason);
    hostlist_free(&nodes);
}

/* ---- What is no policy's to decide --------------------------------------------------------------- */

/* The most that a job is to have is what its comment says, and companions on drained nodes are to leave. */
struct most {
    int nodes;
    char why[DECISION_REASON_MAX];
};

static void find_most(const struct adviser *adviser, const struct holding *holding, struct most *most)
{
    most->nodes = holding->count;
    for (int i = holding->own; i < holding->count; i++)
        if (is_drained(adviser, holding, i)) {
            most->nodes--;
            snprintf(most->why, sizeof most->why, "node %s is drained", adviser->view->nodes[holding->nodes[i]].name);
        }
    if (holding->max < most->nodes) {
        most->nodes = holding->max;
        snprintf(most->why, sizeof most->why, "its comment says %d node%s at most", most->nodes,
                 most->nodes == 1 ? "" : "s");
    }
    most->nodes = most->nodes > holding->own ? most->nodes : holding->own;
}

/* The largest size up to that many nodes that it accepts, and that leaves its own to it; 0: none. */
static int size_within(const struct holding *holding, int nodes)
{
    const struct told *told = &holding->advised->told;
    while (nodes >= holding->own && !told_accepts(told, nodes * told->slots))
        nodes--;
    return nodes >= holding->own ? nodes : 0;
}

static bool may_shrink(const struct advised *advised)
{
    return advised && advised_is_ready(advised) && !advised_is_busy(advised) && advised->told.elastic &&
           monotonic_seconds() >= advised->no_shrink_until;
}

/* Before the policy is asked, which leaves a job alone that is busy. */
static void reduce_jobs(struct adviser *adviser, const struct model *model)
{
    for (int i = 0; i < model->holding_count; i++) {
        const struct holding *holding = &model->holdings[i];
        struct most most;
        if (!holding->count || model->place[holding->nodes[0]] < 0 || !may_shrink(holding->advised))
            continue;
        find_most(adviser, holding, &most);
        int size = most.nodes < holding->count ? size_within(holding, most.nodes) : 0;
        struct decision decision = {.job = holding->job->id, .from = holding->count, .to = size};
        snprintf(decision.reason, sizeof decision.reason, "%s", most.why);
        if (size)
            shrink_job(adviser, model, &decision);
    }
}

/* ---- Decisions ---------------------------------------------------------------------------------- */

static void carry_out(struct adviser *adviser, const struct model *model, const struct decision *decision, bool *used)
{
    const struct holding *holding = model_holding(model, decision->job);
    if (decision->kind == DECISION_RESERVE)
        advised_promised(&adviser->table, decision->job, decision->time);
    if (decision->kind != DECISION_RESIZE || !holding || !holding->advised || !advised_is_ready(holding->advised) ||
        advised_is_busy(holding->advised))
        return;
    if (decision->to > decision->from)
        grow_job(adviser, model, decision, used);
    else
        shrink_job(adviser, model, decision);
}

static void carry_out_all(struct adviser *adviser, const struct model *model, const struct decisions *decisions)
{
    bool *used = calloc((size_t)model->count + 1, sizeof *used);
    if (!used)
        return;
    mark_used(model, decisions, used);
    for (int i = 0; i < decisions->count; i++)
        carry_out(adviser, model, &decisions->items[i], used);
    free(used);
}

/* A policy that is wrong is wrong again: once is enough. */
static void complain_of_policy(struct adviser *adviser, const struct error *error)
{
    if (!strncmp(adviser->policy_complaint, error->text, sizeof adviser->policy_complaint - 1))
        return;
    snprintf(adviser->policy_complaint, sizeof adviser->policy_complaint, "%.199s", error->text);
    asking_say(adviser, error->text);
}

static double decide_machine(struct adviser *adviser, const struct model_input *input, int machine)
{
    struct model model;
    struct decisions decisions;
    struct error error;
    double wake = INFINITY;
    if (model_build(&model, input, machine, &error)) {
        complain_of_policy(adviser, &error);
        return wake;
    }
    if (model.core)
        reduce_jobs(adviser, &model);
    if (model.core && core_decide(model.core, input->wall, &adviser->policy, &decisions, &error)) {
        complain_of_policy(adviser, &error);
    } else if (model.core) {
        carry_out_all(adviser, &model, &decisions);
        wake = decisions.wake - input->wall;
    }
    model_free(&model);
    return wake;
}

/* Seconds until it is to be asked again at the latest. */
static double decide_machines(struct adviser *adviser)
{
    struct machines machines;
    struct model_input input = {.view = adviser->view,
                                .table = &adviser->table,
                                .machines = &machines,
                                .wall = wall_seconds(),
                                .monotonic = monotonic_seconds()};
    double wake = INFINITY;
    if (machines_find(adviser->view, &machines))
        return wake;
    for (int i = 0; i < machines.count; i++)
        wake = fmin(wake, decide_machine(adviser, &input, i));
    machines_free(&machines);
    return wake;
}

/* A view from before a job's nodes changed shows nodes that are not idle, or not yet. */
static void on_again(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    struct adviser *adviser = context;
    double wake = rest;
    adviser->stale = false;
    if (adviser->view && !adviser->away && adviser->view_asked >= adviser->changed)
        wake = fmin(rest, fmax(ADVISER_APART, decide_machines(adviser)));
    if (!adviser->stale)
        wire_timer_set(adviser->again, wake);
}

static void on_looks(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    asking_look(context);
}

/* ---- What epoprm asks --------------------------------------------------------------------------- */

static int refuse_submit(void *context, const struct submission *submission, int64_t *number, struct error *error)
{
    (void)context, (void)submission, (void)number;
    return error_set(error, ERROR_REFUSED,
                     "Slurm starts the jobs here: sbatch --comment epop:min=1,max=4, and epop inside");
}

static int refuse_cancel(void *context, int64_t job, bool *unknown, struct error *error)
{
    const struct adviser *adviser = context;
    *unknown = adviser->view && !view_job(adviser->view, job);
    if (*unknown)
        return error_set(error, ERROR_REFUSED, "Slurm has no job %lld", (long long)job);
    return error_set(error, ERROR_REFUSED, "jobs are Slurm's here: scancel %lld", (long long)job);
}

static int refuse_hold(void *context, int64_t job, bool held, bool *unknown, struct error *error)
{
    const struct adviser *adviser = context;
    *unknown = adviser->view && !view_job(adviser->view, job);
    return error_set(error, ERROR_REFUSED, "jobs are Slurm's here: scontrol %s %lld", held ? "hold" : "release",
                     (long long)job);
}

static int refuse_requeue(void *context, int64_t job, bool held, bool *unknown, struct error *error)
{
    const struct adviser *adviser = context;
    *unknown = adviser->view && !view_job(adviser->view, job);
    return error_set(error, ERROR_REFUSED, "jobs are Slurm's here: scontrol requeue%s %lld", held ? "hold" : "",
                     (long long)job);
}

static int refuse_change(void *context, int64_t job, const struct daemon_change *change, bool *unknown,
                         struct error *error)
{
    const struct adviser *adviser = context;
    const char *what = change->priority  ? "Priority=... (or Nice=...)"
                       : change->account ? "Account=..."
                                         : "Deadline=...";
    *unknown = adviser->view && !view_job(adviser->view, job);
    return error_set(error, ERROR_REFUSED, "jobs are Slurm's here: scontrol update JobId=%lld %s", (long long)job,
                     what);
}

static int refuse_drain(void *context, const char *node, bool undo, bool *unknown, struct error *error)
{
    const struct adviser *adviser = context;
    *unknown = adviser->view && view_node(adviser->view, node) < 0;
    if (*unknown)
        return error_set(error, ERROR_REFUSED, "Slurm has no node %s", node);
    return error_set(error, ERROR_REFUSED, "nodes are Slurm's here: scontrol update NodeName=%s State=%s", node,
                     undo ? "RESUME" : "DRAIN Reason=...");
}

/* The loop is left. */
static void end_adviser(struct adviser *adviser)
{
    adviser->over = true;
    wire_wake(adviser->base);
}

/* Jobs run on in any case. */
static int stop_adviser(void *context, enum daemon_stop how, struct error *error)
{
    struct adviser *adviser = context;
    (void)error;
    if (how == DAEMON_STOP_JOBS)
        return error_set(error, ERROR_REFUSED, "jobs are Slurm's here, and run on: stop without --jobs");
    end_adviser(adviser);
    return 0;
}

/* Names of jobs are their users' words. */
static char *plain_text(const char *text)
{
    char *copy = strdup(text);
    for (char *at = copy; at && *at; at++)
        if (iscntrl((unsigned char)*at))
            *at = '?';
    return copy;
}

static const char *state_of(const struct slurm_job *job, const struct advised *advised)
{
    if (job->state == SLURM_JOB_WAITS)
        return "waiting";
    if (job->state == SLURM_JOB_ENDS)
        return "ending";
    return advised && advised_is_busy(advised) ? "adapting" : "running";
}

static const char *reason_of(const struct slurm_job *job, const struct advised *advised, bool malleable)
{
    if (job->state == SLURM_JOB_WAITS)
        return job->reason;
    if (advised && *advised->reason)
        return advised->reason;
    return malleable && !(advised && advised->peer) ? "not connected" : "";
}

static void tell_job(const struct adviser *adviser, const struct slurm_job *job,
                     void (*each)(void *to, const struct daemon_job *job), void *to)
{
    struct holding holding;
    if (holding_of(&holding, adviser->view, job, &adviser->table))
        return;
    const struct advised *advised = advised_find(&adviser->table, job->id);
    char *name = plain_text(job->name), *hosts = holding_names(&holding, adviser->view, holding.count);
    int slots = advised && advised->told.slots ? advised->told.slots : 1;
    int min = holding.max ? holding.min : job->nodes, max = holding.max ? holding.max : job->nodes;
    bool resizes = advised && (advised->ask.kind == ASK_GROW || advised->ask.kind == ASK_SHRINK);
    double promised = advised_promise(&adviser->table, job->id);
    struct daemon_job told = {
        .usage = -1,
        .number = job->id,
        .name = name ? name : "",
        .kind = holding.max ? "malleable" : "rigid",
        .state = state_of(job, advised),
        .reason = reason_of(job, advised, holding.max > 0),
        .nodes_min = min,
        .nodes_max = max,
        .ranks_min = min * slots,
        .ranks_max = max * slots,
        .nodes = job->state == SLURM_JOB_WAITS ? 0
                 : resizes                     ? advised->ask.from
                                               : holding.count,
        .target = job->state == SLURM_JOB_WAITS ? 0
                  : resizes                     ? advised->ask.to
                                                : holding.count,
        .ranks = advised ? advised->told.ranks : 0,
        .hosts = hosts ? hosts : "",
        .submitted = job->submitted,
        .started = job->started,
        .limit = isfinite(job->limit) ? job->limit : -1,
        .left = job->state == SLURM_JOB_WAITS ? -1 : model_left(job, advised, wall_seconds()),
        .reserved = promised > 0 ? promised : -1,
    };
    each(to, &told);
    free(name);
    free(hosts);
    holding_free(&holding);
}

static int by_number(const void *one, const void *other)
{
    const struct slurm_job *a = *(const struct slurm_job *const *)one, *b = *(const struct slurm_job *const *)other;
    return a->id < b->id ? -1 : a->id > b->id;
}

static void list_jobs(void *context, void (*each)(void *to, const struct daemon_job *job), void *to)
{
    const struct adviser *adviser = context;
    size_t count = adviser->view ? adviser->view->job_count : 0, shown = 0;
    const struct slurm_job **sorted = calloc(count + 1, sizeof *sorted);
    if (!sorted)
        return;
    for (size_t i = 0; i < count; i++)
        if (!holding_is_companion(adviser->view, &adviser->view->jobs[i]))
            sorted[shown++] = &adviser->view->jobs[i];
    qsort(sorted, shown, sizeof *sorted, by_number);
    for (size_t i = 0; i < shown; i++)
        tell_job(adviser, sorted[i], each, to);
    free(sorted);
}

/* The job that has the node by itself or by a companion; -1: none. */
static int64_t job_on(const struct slurm_view *view, const char *node)
{
    for (size_t i = 0; i < view->job_count; i++) {
        const struct slurm_job *job = &view->jobs[i];
        for (int k = 0; job->state != SLURM_JOB_WAITS && k < job->hosts.count; k++)
            if (!strcmp(job->hosts.names[k], node))
                return holding_is_companion(view, job) ? view_companion_of(job->name) : job->id;
    }
    return -1;
}

static void list_nodes(void *context, void (*each)(void *to, const struct daemon_node *node), void *to)
{
    static const char *const words[] = {
        [SLURM_NODE_IDLE] = "idle", [SLURM_NODE_BUSY] = "busy", [SLURM_NODE_DOWN] = "down"};
    const struct adviser *adviser = context;
    for (size_t i = 0; adviser->view && i < adviser->view->node_count; i++) {
        const struct slurm_node *node = &adviser->view->nodes[i];
        struct daemon_node told = {.name = node->name,
                                   .host = node->name,
                                   .state = node->drained ? "drain" : words[node->state],
                                   .reason = node->planned ? "Slurm keeps it for a job that waits" : "",
                                   .slots = node->cpus,
                                   .job = job_on(adviser->view, node->name),
                                   .since = -1};
        each(to, &told);
    }
}

static const struct daemon_table commands_table = {.submit = refuse_submit,
                                                   .cancel = refuse_cancel,
                                                   .hold = refuse_hold,
                                                   .requeue = refuse_requeue,
                                                   .change = refuse_change,
                                                   .drain = refuse_drain,
                                                   .stop = stop_adviser,
                                                   .jobs = list_jobs,
                                                   .nodes = list_nodes};

/* ---- Connections, signals ----------------------------------------------------------------------- */

static void on_connection(void *context, int fd)
{
    struct adviser *adviser = context;
    peer_open(&adviser->owner, fd);
}

static void on_signal(evutil_socket_t number, short what, void *context)
{
    (void)number, (void)what;
    end_adviser(context);
}

/* ---- Its life ----------------------------------------------------------------------------------- */

/* One for each state directory. */
static int lock_directory(const char *directory, struct error *error)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/lock", directory);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_set(error, ERROR_FAILED, "%s: %s", path, strerror(errno));
    if (!flock(fd, LOCK_EX | LOCK_NB))
        return fd;
    close(fd);
    return error_set(error, ERROR_REFUSED, "a daemon of %s runs already: epoprm stop, or another EPOPRM_DIR",
                     directory);
}

static int serve_requests(struct adviser *adviser, const struct slurm_options *options, void (*ready)(void *context),
                          void *context, struct error *error)
{
    struct server *server;
    char path[4096];
    snprintf(path, sizeof path, "%s/socket", options->directory);
    if (server_open(&server, path, adviser->base, &commands_table, adviser, error))
        return -1;
    adviser->listener = (struct daemon_listener){server_tell, server};
    if (ready)
        ready(context);
    int failed = wire_wait(adviser->base, &adviser->over, -1)
                     ? 0
                     : error_set(error, ERROR_FAILED, "cannot wait for anything any more");
    adviser->listener.tell = NULL;
    server_close(server);
    return failed;
}

static void say_untried(struct adviser *adviser, const struct queue_reader *reader)
{
    char version[READING_VERSION], text[TRIED_TEXT];
    if (reading_version(reader, version) && !tried_with("Slurm", version, text))
        asking_say(adviser, text);
}

static int run_adviser(struct adviser *adviser, const struct slurm_options *options, void (*ready)(void *context),
                       void *context, struct error *error)
{
    struct queue_reader reader;
    struct peer_port listening;
    char text[900], memory[4096], journal[4096];
    snprintf(memory, sizeof memory, "%s/port", options->directory);
    snprintf(journal, sizeof journal, "%s/journal.db", options->directory);
    if (journal_open(&adviser->journal, journal, error) ||
        journal_meta_set(adviser->journal, "policy", policy_called(&adviser->policy), error) ||
        reading_choose(&reader, options->reader, error) ||
        peer_port_open(&listening, options->port, options->address_file, memory, error))
        return -1;
    adviser->peers = wire_listener_new(adviser->base, listening.fd, on_connection, adviser);
    int failed = adviser->peers ? reading_begin(&adviser->reading, &reader, error) : error_memory(error);
    if (!failed) {
        adviser->news = event_new(adviser->base, adviser->reading.news, EV_READ | EV_PERSIST, on_news, adviser);
        snprintf(text, sizeof text, "adviser at %s (%.300s), reading Slurm by %s, policy %s", listening.address,
                 listening.file, reader.name, policy_called(&adviser->policy));
        asking_say(adviser, text);
        say_untried(adviser, &reader);
        failed = !adviser->news || event_add(adviser->news, NULL)
                     ? error_memory(error)
                     : serve_requests(adviser, options, ready, context, error);
        reading_end(&adviser->reading);
    }
    wire_listener_free(adviser->peers);
    peer_port_close(&listening);
    return failed ? -1 : 0;
}

static int prepare_adviser(struct adviser *adviser, struct error *error)
{
    struct event_base *base = wire_base_new();
    if (!base)
        return error_memory(error);
    *adviser = (struct adviser){.base = base,
                                .owner = {.base = base,
                                          .check = asking_check,
                                          .welcome = asking_welcome,
                                          .line = asking_line,
                                          .gone = asking_gone,
                                          .context = adviser}};
    adviser->again = evtimer_new(base, on_again, adviser);
    adviser->looks = evtimer_new(base, on_looks, adviser);
    adviser->terminated = evsignal_new(base, SIGTERM, on_signal, adviser);
    adviser->interrupted = evsignal_new(base, SIGINT, on_signal, adviser);
    if (!adviser->again || !adviser->looks || !adviser->terminated || !adviser->interrupted ||
        evsignal_add(adviser->terminated, NULL) || evsignal_add(adviser->interrupted, NULL))
        return error_memory(error);
    signal(SIGPIPE, SIG_IGN);
    wire_timer_set(adviser->looks, rest);
    return 0;
}

static void clean_up(struct adviser *adviser)
{
    struct event *events[] = {adviser->again, adviser->looks, adviser->news, adviser->terminated, adviser->interrupted};
    keep_histories(adviser);
    record_free(&adviser->record);
    advised_free(&adviser->table);
    journal_close(adviser->journal);
    if (adviser->view)
        view_free(adviser->view);
    free(adviser->view);
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i])
            event_free(events[i]);
    if (adviser->base)
        event_base_free(adviser->base);
}

int slurm_run(const struct slurm_options *options, void (*ready)(void *context), void *context, struct error *error)
{
    static struct adviser adviser; /* its thread may outlive it */
    int held = lock_directory(options->directory, error);
    if (held < 0)
        return -1;
    int failed = prepare_adviser(&adviser, error) ||
                 policy_open(&adviser.policy, options->policy ? options->policy : "gain", policies, error);
    if (!failed) {
        policy_guard_install(POLICY_GUARD_BUSY, POLICY_GUARD_ALONE);
        failed = run_adviser(&adviser, options, ready, context, error);
        policy_close(&adviser.policy);
    }
    clean_up(&adviser);
    close(held);
    return failed ? -1 : 0;
}
