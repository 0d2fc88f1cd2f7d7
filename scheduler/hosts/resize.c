/* A resize of a job, step by step: each is in the journal before what follows from it is done. */
#include "scheduler/hosts/resize.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "scheduler/hosts/nodes.h"
#include "scheduler/hosts/power.h"
#include "scheduler/hosts/state.h"

/* ---- What the job is asked ---------------------------------------------------------------------- */

/* As the job's processes say it. */
static const char *name_of_host(const struct hosts_node *node)
{
    return node->known ? node->known : node->host;
}

static void add_text(cJSON *request, const char *key, char *text)
{
    cJSON_AddStringToObject(request, key, text ? text : "");
    free(text);
}

/* The hosts that it leaves, or those of which it keeps a part, with the ranks that stay there at most. */
static void add_hosts(const struct hosts_job *job, cJSON *request, const char *key, bool parts)
{
    const struct hosts *hosts = job->hosts;
    const struct hosts_resize *resize = &job->resize;
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    for (int i = 0; stream && i < resize->count; i++) {
        int node = resize->nodes[i];
        int kept = hosts_node_parts(hosts, node, job->nodes, job->held) -
                   hosts_node_parts(hosts, node, resize->nodes, resize->count);
        if (hosts_node_parts(hosts, node, resize->nodes, i) || (kept > 0) != parts)
            continue;
        fprintf(stream, "%s%.255s", ftello(stream) ? "," : "", name_of_host(&hosts->nodes[node]));
        if (parts)
            fprintf(stream, ":%d", kept * hosts->slots);
    }
    if (stream)
        fclose(stream);
    if (text && *text)
        cJSON_AddStringToObject(request, key, text);
    free(text);
}

static void add_left(const struct hosts_job *job, cJSON *request)
{
    add_hosts(job, request, "release_hosts", false);
    add_hosts(job, request, "keep_hosts", true);
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

/* The resize that the job is to make, with hosts or ranks named. The caller's. */
static cJSON *resize_request(const struct hosts_job *job)
{
    cJSON *request = json_message("resize");
    bool grows = job->resize.to > job->resize.from;
    if (grows || job->pool)
        cJSON_AddNumberToObject(request, "size", hosts_jobs_ranks(job, job->resize.to));
    if (grows && !job->hosts->local)
        add_text(request, "add_hosts", hosts_list(job->hosts, job->resize.nodes, job->resize.count));
    else if (!grows && job->hosts->local && !job->pool)
        add_ranks(job, request);
    else if (!grows && !job->hosts->local)
        add_left(job, request);
    cJSON_AddStringToObject(request, "wait", "vacated");
    cJSON_AddTrueToObject(request, "scheduler");
    return request;
}

/* ---- Steps in the journal ----------------------------------------------------------------------- */

static void begin_transaction(struct hosts *hosts)
{
    struct error error = {0};
    hosts_must(hosts, journal_begin(hosts->journal, &error), &error);
}

static void commit_transaction(struct hosts *hosts)
{
    struct error error = {0};
    hosts_must(hosts, journal_commit(hosts->journal, &error), &error);
}

static void tell_step(struct hosts_job *job, const char *kind, const char *text)
{
    struct hosts_resize *resize = &job->resize;
    char *names = hosts_names(job->hosts, resize->nodes, resize->count);
    hosts_tell_event(job->hosts, (struct journal_event){.job = job->number,
                                                        .kind = kind,
                                                        .text = text,
                                                        .state = hosts_state_text(job->state),
                                                        .from = resize->from,
                                                        .to = resize->to,
                                                        .nodes = names,
                                                        .at = -1});
    free(names);
}

/* Those in between have happened as well: nobody was there to see them. */
static void reach_step(struct hosts_job *job, enum journal_step step, const char *text)
{
    struct error error = {0};
    while (job->resize.step < step) {
        job->resize.step++;
        hosts_must(
            job->hosts,
            journal_resize_step(job->hosts->journal, job->resize.id, job->resize.step, hosts_now(job->hosts), &error),
            &error);
        tell_step(job, journal_step_names[job->resize.step], text);
    }
}

static void pass_step(struct hosts_job *job, enum journal_step step, const char *text)
{
    if (job->resize.step >= step)
        return;
    begin_transaction(job->hosts);
    reach_step(job, step, text);
    commit_transaction(job->hosts);
    hosts_stop_at(journal_step_names[step]);
}

/* ---- Decided, and asked ------------------------------------------------------------------------- */

/* Seconds: an answer counts whenever it comes; when it is said that one is missing, and others are asked instead. */
static const double answer_limit = 1e6, patience = 150;

static void take_nodes(struct hosts_job *job, double now)
{
    struct error error = {0};
    for (int i = 0; i < job->resize.count; i++)
        hosts_must(job->hosts,
                   journal_hold(job->hosts->journal, job->hosts->nodes[job->resize.nodes[i]].name, job->number,
                                job->held + i, now, &error),
                   &error);
    hosts_jobs_hold(job, job->resize.nodes, job->resize.count);
}

/* Of two resizes it is one, or it ends what was begun. */
static void keep_move(const struct hosts_job *job, const struct decision *decision)
{
    struct error error = {0};
    struct journal_move move = {.size = job->moves_at, .drained = job->moves_at > 0};
    if (!move.drained && decision->move)
        move.size = decision->move == MOVE_THERE ? decision->from : decision->to;
    hosts_must(job->hosts, journal_move_set(job->hosts->journal, job->number, &move, &error), &error);
}

void hosts_resize_begin(struct hosts_job *job, const struct decision *decision)
{
    struct hosts *hosts = job->hosts;
    struct hosts_resize *resize = &job->resize;
    struct error error = {0};
    double now = hosts_now(hosts);
    resize->from = decision->from;
    resize->to = decision->to;
    resize->count = decision->count;
    memcpy(resize->nodes, decision->nodes, (size_t)decision->count * sizeof *resize->nodes);
    resize->step = JOURNAL_DECIDED;
    resize->decided = now;
    resize->stall = 0;
    resize->sent = resize->stuck = resize->lingers = false;
    memset(resize->gone, 0, (size_t)hosts->node_count * sizeof *resize->gone);
    char *names = hosts_names(hosts, resize->nodes, resize->count);
    begin_transaction(hosts);
    hosts_must(hosts,
               journal_resize_decided(hosts->journal, job->number, resize->from, resize->to, names ? names : "",
                                      decision->reason, now, &resize->id, &error),
               &error);
    keep_move(job, decision);
    if (resize->to > resize->from)
        take_nodes(job, now);
    job->state = JOB_ADAPTING;
    hosts_must(hosts, journal_job_set_state(hosts->journal, job->number, "adapting", decision->reason, &error), &error);
    tell_step(job, "decision", decision->reason);
    commit_transaction(hosts);
    free(names);
    hosts_stop_at("decided");
    hosts_resize_ask(job);
}

/* Neither done nor refused: it is left alone, and keeps all that it may be on. */
static void be_stuck(struct hosts_job *job)
{
    if (job->resize.stuck)
        return;
    job->resize.stuck = true;
    tell_step(job, "failed", "no answer; its nodes are held until it says more, or ends");
    hosts_jobs_learned(job);
}

static void give_up(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    be_stuck(context);
}

void hosts_resize_ask(struct hosts_job *job)
{
    struct hosts_resize *resize = &job->resize;
    if (!resize->id || resize->sent || !job->attached || job->hosts->error.code)
        return;
    pass_step(job, JOURNAL_ASKED, "");
    resize->sent = true;
    attend_client_ask(&job->attendant, resize->id, resize_request(job), answer_limit);
    hosts_timer(job->hosts, &resize->limit, give_up, job, patience);
}

/* ---- Committed ---------------------------------------------------------------------------------- */

/* What it gives back stands last. */
static void order_nodes(struct hosts_job *job)
{
    int *nodes = job->nodes, kept = 0, last = job->resize.to;
    int *ordered = malloc((size_t)job->held * sizeof *ordered);
    for (int i = 0; ordered && i < job->held; i++) {
        bool goes = false;
        for (int j = 0; j < job->resize.count; j++)
            goes |= nodes[i] == job->resize.nodes[j];
        ordered[goes ? last++ : kept++] = nodes[i];
    }
    if (ordered)
        memcpy(nodes, ordered, (size_t)job->held * sizeof *nodes);
    free(ordered);
}

/* It computes at that size since now; to the time limit all until now counts at the old one. */
static void write_stay(struct hosts_job *job, int size)
{
    struct error error = {0};
    double now = hosts_now(job->hosts);
    char *names = hosts_names(job->hosts, job->nodes, size);
    job->used += (now - job->used_at) * job->size / job->wanted;
    job->used_at = now;
    job->size = size;
    hosts_power_keep(job);
    hosts_must(
        job->hosts,
        journal_stay(job->hosts->journal, job->number, now, names ? names : "", hosts_jobs_ranks(job, size), &error),
        &error);
    free(names);
}

/* Nodes that it computes on, of those that it has. */
static int size_of(const struct hosts_job *job, int ranks)
{
    int nodes = ranks > 0 ? hosts_jobs_nodes(job->hosts, ranks) : 1;
    return nodes < job->held ? nodes : job->held;
}

static void be_committed(struct hosts_job *job, int size)
{
    if (job->resize.step >= JOURNAL_COMMITTED)
        return;
    begin_transaction(job->hosts);
    if (job->resize.to < job->resize.from)
        order_nodes(job);
    reach_step(job, JOURNAL_COMMITTED, "");
    job->resize.committed = hosts_now(job->hosts);
    write_stay(job, size);
    commit_transaction(job->hosts);
    hosts_stop_at("committed");
}

/* The commit that was heard of was another one's, as a release's: what the job has now is in the answer. */
static void correct_size(struct hosts_job *job, int size)
{
    if (job->size == size)
        return;
    begin_transaction(job->hosts);
    write_stay(job, size);
    commit_transaction(job->hosts);
}

/* ---- Settled, or refused ------------------------------------------------------------------------ */

static void clear_resize(struct hosts_job *job)
{
    bool stuck = job->resize.stuck;
    hosts_timer_stop(job->resize.limit);
    if (!job->hosts->error.code) /* what the journal does not have is asked again, and must not be done again */
        attend_client_forget(&job->attendant, job->resize.id);
    job->resize.id = 0;
    job->resize.stuck = false;
    if (stuck)
        hosts_jobs_learned(job); /* it may be asked again */
    job->samples = 0;
    hosts_news(job->hosts);
}

static void write_outcome(struct hosts_job *job, const char *outcome, const char *reason)
{
    struct error error = {0};
    hosts_must(job->hosts, journal_resize_over(job->hosts->journal, job->resize.id, outcome, reason, &error), &error);
    job->state = job->state == JOB_ADAPTING ? JOB_RUNNING : job->state;
    hosts_must(
        job->hosts,
        journal_job_set_state(job->hosts->journal, job->number, hosts_state_text(job->state), job->reason, &error),
        &error);
}

static void tell_core(struct hosts_job *job)
{
    struct error error = {0};
    struct hosts_resize *resize = &job->resize;
    double now = hosts_now(job->hosts), latency = fmax(0, resize->committed - resize->decided);
    if (job->size == resize->to)
        hosts_must(job->hosts, core_committed(job->hosts->core, now, job->number, latency, resize->stall, &error),
                   &error);
    else
        hosts_must(job->hosts, core_came_out(job->hosts->core, now, job->number, job->nodes, job->size, &error),
                   &error);
}

/* Its processes have left the nodes behind the first `size`: these are free. */
static void be_settled(struct hosts_job *job)
{
    struct hosts *hosts = job->hosts;
    int spare = job->held - job->size, nodes[spare > 0 ? spare : 1];
    memcpy(nodes, job->nodes + job->size, (size_t)(spare > 0 ? spare : 0) * sizeof *nodes);
    begin_transaction(hosts);
    write_outcome(job, "done", NULL);
    reach_step(job, JOURNAL_SETTLED, "");
    hosts_nodes_release(job, nodes, spare);
    commit_transaction(hosts);
    hosts_stop_at("settled");
    tell_core(job);
    hosts_nodes_give_back(job, nodes, spare);
    job->refusals = 0;
    clear_resize(job);
}

/* Seconds that a job is left alone at most which has refused. */
static const double quiet_most = 60;

static void quiet_over(evutil_socket_t fd, short what, void *context)
{
    struct hosts_job *job = context;
    (void)fd, (void)what;
    hosts_jobs_learned(job);
    hosts_news(job->hosts);
}

static void be_quiet(struct hosts_job *job)
{
    double seconds = fmin(quiet_most, ldexp(1, job->refusals < 6 ? job->refusals : 6));
    job->refusals++;
    job->quiet_until = monotonic_seconds() + seconds;
    hosts_jobs_learned(job);
    hosts_timer(job->hosts, &job->patience, quiet_over, job, seconds + 0.01);
}

static void be_refused(struct hosts_job *job, const char *why)
{
    struct hosts *hosts = job->hosts;
    struct error error = {0};
    struct hosts_resize *resize = &job->resize;
    int count = resize->to > resize->from ? resize->count : 0, nodes[count ? count : 1];
    memcpy(nodes, resize->nodes, (size_t)count * sizeof *nodes);
    begin_transaction(hosts);
    write_outcome(job, "refused", why);
    if (job->size != resize->from) /* a commit that was heard of was not this one's */
        write_stay(job, resize->from);
    tell_step(job, "refused", why);
    hosts_nodes_release(job, nodes, count);
    commit_transaction(hosts);
    hosts_must(hosts, core_refused(hosts->core, hosts_now(hosts), job->number, &error), &error);
    hosts_nodes_suspect(hosts, nodes, count);
    hosts_nodes_give_back(job, nodes, count);
    clear_resize(job);
    be_quiet(job);
}

void hosts_resize_drop(struct hosts_job *job, const char *why)
{
    struct error error = {0};
    if (!job->resize.id)
        return;
    hosts_must(job->hosts, journal_resize_over(job->hosts->journal, job->resize.id, "failed", why, &error), &error);
    hosts_timer_stop(job->resize.limit);
    job->resize.id = 0;
}

/* ---- What the job says -------------------------------------------------------------------------- */

/* It has committed, but who left has not ended: that is heard host by host. */
static void hold_on(struct hosts_job *job)
{
    hosts_timer_stop(job->resize.limit);
    job->resize.lingers = true;
    tell_step(job, "failed", "processes that left have not ended; their nodes are held until they have");
}

static void take_vacated(struct hosts_job *job, const char *host)
{
    struct hosts_resize *resize = &job->resize;
    int left = 0;
    for (int i = 0; i < resize->count; i++) {
        const struct hosts_node *node = &job->hosts->nodes[resize->nodes[i]];
        if (host && !strcmp(host, name_of_host(node)))
            resize->gone[i] = true;
        left += !resize->gone[i];
    }
    if (resize->lingers && !left)
        be_settled(job);
}

static void commit_event(struct hosts_job *job, const cJSON *what)
{
    bool late = job->resize.stuck;
    job->resize.stall = fmax(0, json_number(what, "stall", 0));
    be_committed(job, size_of(job, json_int(what, "to", hosts_jobs_ranks(job, job->resize.to))));
    if (late && job->resize.to > job->resize.from)
        be_settled(job);
    else if (late)
        hold_on(job);
}

void hosts_resize_event(struct hosts_job *job, const cJSON *what)
{
    static const struct {
        const char *event;
        enum journal_step step;
    } steps[] = {{"prepared", JOURNAL_PREPARED}, {"agreed", JOURNAL_AGREED}};
    const char *event = json_text(what, "event");
    if (!job->resize.id || !job->resize.sent || !event)
        return;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (!strcmp(event, steps[i].event))
            pass_step(job, steps[i].step, "");
    if (!strcmp(event, "committed"))
        commit_event(job, what);
    else if (job->resize.stuck && (!strcmp(event, "failed") || !strcmp(event, "cancelled")))
        be_refused(job, json_text(what, "reason") ? json_text(what, "reason") : "called off");
    else if (!strcmp(event, "vacated"))
        take_vacated(job, json_text(what, "host"));
}

void hosts_resize_answer(struct hosts_job *job, const cJSON *answer)
{
    const char *code = json_text(answer, "code"), *reason = json_text(answer, "reason");
    if (!job->resize.id)
        return;
    if (json_true(answer, "ok")) {
        int size = size_of(job, json_int(answer, "size", hosts_jobs_ranks(job, job->resize.to)));
        be_committed(job, size);
        correct_size(job, size);
        if (cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(answer, "vacated")))
            hold_on(job);
        else
            be_settled(job);
    } else if (code && !json_true(answer, "off") && (!strcmp(code, "timeout") || !strcmp(code, "ended"))) {
        be_stuck(job);
    } else {
        be_refused(job, reason ? reason : "the job gave no reason");
    }
}
