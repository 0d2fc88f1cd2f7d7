/* The life of a job: it is submitted, started, and ends; and what of it the next daemon finds in the journal. */
#include "scheduler/hosts/life.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/json.h"
#include "scheduler/core/text.h"
#include "scheduler/hosts/idle.h"
#include "scheduler/hosts/launch.h"
#include "scheduler/hosts/nodes.h"
#include "scheduler/hosts/power.h"
#include "scheduler/hosts/queue.h"
#include "scheduler/hosts/requeue.h"
#include "scheduler/hosts/resize.h"
#include "scheduler/hosts/state.h"
#include "scheduler/hosts/talk.h"

/* ---- A job is submitted ------------------------------------------------------------------------- */

static int least_of(int one, int other)
{
    return one < other ? one : other;
}

/* Of these sizes the ones that the rule accepts. */
static int narrow_sizes(const struct hosts *hosts, const struct sizes_rule *rule, struct journal_job *job,
                        struct error *error)
{
    int least = 0, most = 0, wanted = 0, slots = hosts->slots;
    int few = job->ranks_min, many = job->ranks_max;
    while (job->ranks_max >= job->ranks_min && !sizes_rule_accepts(rule, job->ranks_max))
        job->ranks_max--;
    if (job->nodes_max == hosts_jobs_nodes(hosts, many)) /* no more than the ranks need */
        job->nodes_max = hosts_jobs_nodes(hosts, job->ranks_max);
    for (int nodes = job->nodes_min; nodes <= job->nodes_max; nodes++) {
        int ranks = least_of(nodes * slots, job->ranks_max);
        if (ranks < job->ranks_min || !sizes_rule_accepts(rule, ranks))
            continue;
        least = least ? least : nodes;
        most = nodes;
        wanted = !wanted || !rule->sizes.preferred || ranks <= rule->sizes.preferred ? nodes : wanted;
    }
    if (!least)
        return error_set(error, ERROR_REFUSED,
                         "EPOP_SIZES accepts no number of ranks from %d to %d that fills nodes of %d slot%s", few, many,
                         slots, slots == 1 ? "" : "s");
    job->nodes_min = least;
    job->nodes_max = most;
    job->wanted = wanted;
    job->ranks_min = least_of(least * slots, job->ranks_max);
    job->ranks_max = least_of(most * slots, job->ranks_max);
    return 0;
}

static int apply_rule(const struct hosts *hosts, const struct submission *given, struct journal_job *job,
                      struct error *error)
{
    struct sizes_rule rule;
    int found = hosts_jobs_rule(given->environment, &rule, error);
    return found > 0 ? narrow_sizes(hosts, &rule, job, error) : found;
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
    int most = hosts_power_nodes(hosts);
    if (job->nodes_min > hosts->node_count)
        return error_set(error, ERROR_REFUSED, "it needs %d nodes of %d slot%s, and there are %d", job->nodes_min,
                         slots, slots == 1 ? "" : "s", hosts->node_count);
    if (job->nodes_min > most)
        return error_set(error, ERROR_REFUSED,
                         "it needs %d nodes, and no more than %d can be busy under the power cap of %g W",
                         job->nodes_min, most, hosts->options->power_cap);
    job->nodes_max = least_of(job->nodes_max, most);
    job->wanted = job->nodes_max;
    return apply_rule(hosts, given, job, error);
}

/* One size is rigid. With a range, what epop runs can change it where its MPI can; of others that has to turn out. */
static const char *choose_kind(const struct hosts *hosts, const struct submission *given, const struct journal_job *job)
{
    bool one = job->ranks_min == job->ranks_max || job->nodes_min == job->nodes_max;
    bool elastic = hosts_launch_is_object(given->argv[0]) && !given->once;
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

/* A job of the journal, that waits or not, is one of ours; and of the core's, unless it comes after others or is held.
 */
static struct hosts_job *take_known_job(struct hosts *hosts, const struct journal_job *from, struct error *error)
{
    struct hosts_job *job = hosts_jobs_add(hosts, from);
    if (!job) {
        error_memory(error);
        return NULL;
    }
    bool waits = !strcmp(from->state, "waiting");
    if (hosts_queueing_read(job, error) ||
        (waits && (hosts_after_read(job, error) || hosts_promise_read(job, error))) ||
        (hosts_may_queue(job) && hosts_enter_queue(job, job->submitted, error))) {
        hosts_jobs_over(job);
        return NULL;
    }
    return job;
}

static int write_job(struct hosts *hosts, const struct submission *given, const struct journal_job *job,
                     int64_t *number, struct error *error)
{
    int failed = journal_job_add(hosts->journal, job, number, error);
    for (const int64_t *after = given->after; after && *after && !failed; after++)
        failed = journal_after_add(hosts->journal, *number, *after, error);
    if (!failed && (given->priority || given->held)) {
        const struct journal_queueing queueing = {
            .job = *number, .priority = given->priority, .held = given->held, .saved = ""};
        failed = journal_queueing_set(hosts->journal, &queueing, error);
    }
    return failed;
}

static int write_down(struct hosts *hosts, const struct submission *given, struct journal_job *job, int64_t *number,
                      struct error *error)
{
    if (journal_begin(hosts->journal, error))
        return -1;
    if (write_job(hosts, given, job, number, error)) {
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
                              .account = given->account,
                              .deadline = given->deadline,
                              .drop_late = given->drop_late && given->deadline > 0,
                              .reason = "",
                              .state = "waiting",
                              .started = -1,
                              .ended = -1,
                              .status = -1};
    if (hosts->stopping)
        return error_set(error, ERROR_REFUSED, "epoprm is stopping");
    if (!given->argv || !given->argv[0])
        return error_set(error, ERROR_REFUSED, "no program is named");
    if (choose_sizes(hosts, given, &job, error) || hosts_after_check(hosts, given->after, error))
        return -1;
    job.kind = choose_kind(hosts, given, &job);
    char *name = choose_name(given);
    if (!name)
        return error_memory(error);
    job.name = name;
    job.submitted = hosts_now(hosts);
    if (hosts_deadline_check(job.deadline, job.drop_late, job.submitted, job.limit, error)) {
        free(name);
        return -1;
    }
    bool known = !write_down(hosts, given, &job, number, error) && take_known_job(hosts, &job, error);
    free(name);
    if (known)
        hosts_news(hosts);
    return known ? 0 : -1;
}

/* ---- It is started ------------------------------------------------------------------------------ */

static void hold_nodes(struct hosts_job *job, const int *nodes, int count, double now)
{
    struct error error = {0};
    for (int i = 0; i < count; i++)
        hosts_must(job->hosts,
                   journal_hold(job->hosts->journal, job->hosts->nodes[nodes[i]].name, job->number, i, now, &error),
                   &error);
    hosts_jobs_hold(job, nodes, count);
    job->size = count;
    job->used = 0;
    job->used_at = now;
}

static void tell_start(struct hosts_job *job, const char *reason, const char *names)
{
    hosts_tell_event(job->hosts, (struct journal_event){.job = job->number,
                                                        .kind = "decision",
                                                        .text = reason,
                                                        .state = "starting",
                                                        .to = job->size,
                                                        .nodes = names,
                                                        .at = -1});
}

static void write_start(struct hosts_job *job, const struct decision *decision)
{
    struct hosts *hosts = job->hosts;
    struct error error = {0};
    double now = hosts_now(hosts);
    hosts_must(hosts, journal_begin(hosts->journal, &error), &error);
    hold_nodes(job, decision->nodes, decision->count, now);
    char *names = hosts_names(hosts, job->nodes, job->held);
    job->state = JOB_STARTING;
    job->started = now;
    hosts_must(hosts, journal_job_set_state(hosts->journal, job->number, "starting", decision->reason, &error), &error);
    hosts_must(hosts, journal_job_set_started(hosts->journal, job->number, now, &error), &error);
    hosts_must(
        hosts,
        journal_stay(hosts->journal, job->number, now, names ? names : "", hosts_jobs_ranks(job, job->size), &error),
        &error);
    tell_start(job, decision->reason, names);
    hosts_power_keep(job);
    hosts_must(hosts, journal_commit(hosts->journal, &error), &error);
    free(names);
}

/* Its attendant is started; where there is one already, that stays the only one. */
static void start_attendant(struct hosts_job *job)
{
    struct error error = {0};
    if (hosts_launch_write(job, &error) || hosts_launch_start(job, &error)) {
        hosts_end(job, NULL, error.text);
        return;
    }
    hosts_stop_at("started");
    hosts_talk_begin(job);
}

void hosts_start(struct hosts_job *job, const struct decision *decision)
{
    write_start(job, decision);
    hosts_stop_at("starting");
    if (job->hosts->error.code)
        return;
    hosts_jobs_learned(job);
    start_attendant(job);
}

/* ---- It ends ------------------------------------------------------------------------------------ */

static const double grace = 10; /* seconds between being asked and being forced */

struct outcome {
    const char *state;
    int status;
    bool again; /* it is saved, and waits again */
    char why[HOSTS_REASON_MAX];
};

static int status_of(const cJSON *ended)
{
    int signal = json_int(ended, "signal", 0);
    return signal > 0 ? 128 + signal : json_int(ended, "status", -1);
}

static bool is_to_wait(const struct hosts_job *job)
{
    return job->outcome && !strcmp(job->outcome, "waiting");
}

/* Unless it was at its end before it could be told. */
static bool waits_again(const struct hosts_job *job, int status)
{
    return is_to_wait(job) && (status || !job->watched || job->told_to_stop);
}

static struct outcome judge(const struct hosts_job *job, const cJSON *ended, const char *why)
{
    struct outcome outcome = {.status = ended ? status_of(ended) : -1};
    const char *said = ended ? json_text(ended, "reason") : NULL;
    outcome.again = waits_again(job, outcome.status);
    bool by_itself = !job->outcome || (!outcome.again && is_to_wait(job));
    outcome.state = !by_itself ? job->outcome : outcome.status == 0 ? "done" : "failed";
    if (!by_itself)
        snprintf(outcome.why, sizeof outcome.why, "%s", job->why);
    else if (why || said)
        snprintf(outcome.why, sizeof outcome.why, "%.200s", why ? why : said);
    else if (json_int(ended, "signal", 0) > 0)
        snprintf(outcome.why, sizeof outcome.why, "ended by signal %d", json_int(ended, "signal", 0));
    else
        snprintf(outcome.why, sizeof outcome.why, "exit status %d", outcome.status);
    return outcome;
}

static void write_last(struct hosts_job *job, const struct outcome *outcome, double now)
{
    struct error error = {0};
    struct hosts *hosts = job->hosts;
    hosts_must(
        hosts,
        journal_job_ended(hosts->journal, job->number, outcome->state, outcome->why, outcome->status, now, &error),
        &error);
    hosts_tell_event(hosts,
                     (struct journal_event){
                         .job = job->number, .kind = "ended", .text = outcome->why, .state = outcome->state, .at = -1});
}

static void write_end(struct hosts_job *job, const struct outcome *outcome)
{
    struct error error = {0};
    struct hosts *hosts = job->hosts;
    double now = hosts_now(hosts);
    hosts_must(hosts, journal_begin(hosts->journal, &error), &error);
    hosts_resize_drop(job, "the job ended");
    hosts_power_keep(job);
    hosts_nodes_release(job, job->nodes, job->held);
    if (job->held)
        hosts_must(hosts, journal_stay_end(hosts->journal, job->number, now, &error), &error);
    hosts_keep_history(job);
    if (outcome->again)
        hosts_requeue_write(job);
    else
        write_last(job, outcome, now);
    hosts_must(hosts, journal_commit(hosts->journal, &error), &error);
    hosts_stop_at("ended");
}

void hosts_end(struct hosts_job *job, const cJSON *ended, const char *why)
{
    struct error error = {0};
    struct hosts *hosts = job->hosts;
    struct outcome outcome = judge(job, ended, why);
    int count = job->held, nodes[count ? count : 1];
    memcpy(nodes, job->nodes, (size_t)count * sizeof *nodes);
    write_end(job, &outcome);
    if (outcome.again)
        hosts_requeue_put_back(job);
    else if (core_job(hosts->core, job->number))
        hosts_must(hosts, core_ended(hosts->core, hosts_now(hosts), job->number, &error), &error);
    if (!strcmp(outcome.state, "failed"))
        hosts_nodes_suspect(hosts, nodes, count);
    hosts_nodes_give_back(job, nodes, count);
    hosts_news(hosts);
    if (!outcome.again)
        hosts_jobs_over(job);
}

static void tell_attendant(struct hosts_job *job)
{
    cJSON *message = cJSON_CreateObject();
    cJSON_AddNumberToObject(message, "id", (double)hosts_id(job->hosts));
    cJSON_AddStringToObject(message, "do", "end");
    cJSON_AddNumberToObject(message, "grace", grace);
    attend_client_say(&job->attendant, message);
}

void hosts_end_ask(struct hosts_job *job, const char *outcome, const char *why)
{
    if (outcome && (!job->outcome || is_to_wait(job))) {
        job->outcome = outcome;
        job->watched = true;
        job->told_to_stop = false;
        if (strcmp(outcome, "waiting"))
            hosts_requeue_drop(job);
        snprintf(job->why, sizeof job->why, "%s", why);
    }
    if (job->state == JOB_WAITING) {
        hosts_end(job, NULL, NULL);
        return;
    }
    if (job->state != JOB_ENDING) {
        hosts_tell_state(job, JOB_ENDING, "ending", "%s", job->why);
        hosts_talk_stop_measuring(job);
        hosts_jobs_learned(job);
        hosts_stop_at("ending");
    }
    tell_attendant(job);
}

/* Its limit is for its largest size. */
static void end_for_deadline(struct hosts_job *job, double now)
{
    bool waits = job->state == JOB_WAITING;
    if (!job->drop_late || job->state == JOB_ENDING || now + (waits ? job->limit : 0) <= job->deadline)
        return;
    if (waits)
        hosts_end_ask(job, "cancelled", "deadline: no end is possible before it any more");
    else
        hosts_end_ask(job, "failed", "deadline: it was to have ended by now");
}

void hosts_end_late(struct hosts *hosts)
{
    double now = hosts_now(hosts);
    char why[HOSTS_REASON_MAX];
    for (struct hosts_job *job = hosts->jobs, *next; job; job = next) {
        next = job->next;
        end_for_deadline(job, now);
    }
    for (struct hosts_job *job = hosts->jobs, *next; job; job = next) {
        next = job->next;
        if (job->state == JOB_WAITING || job->state == JOB_ENDING || hosts_jobs_limit_left(job, now) > 0)
            continue;
        snprintf(why, sizeof why, "time limit: %.0f s at %d node%s, or as much on fewer for longer", job->limit,
                 job->wanted, job->wanted == 1 ? "" : "s");
        hosts_end_ask(job, "failed", why);
    }
}

/* ---- What others come after has ended ----------------------------------------------------------- */

/* True: it has ended. */
static bool settle_job(struct hosts_job *job)
{
    struct error error = {0};
    char why[HOSTS_REASON_MAX];
    enum after after = hosts_after_look(job, why);
    if (after == AFTER_NEVER)
        hosts_end_ask(job, "cancelled", why);
    else if (after == AFTER_READY && hosts_may_queue(job) && hosts_enter_queue(job, hosts_now(job->hosts), &error))
        hosts_end_ask(job, "failed", error.text);
    else
        return false;
    return true;
}

void hosts_settle(struct hosts *hosts)
{
    struct hosts_job *job = hosts->jobs;
    while (job)
        job = settle_job(job) ? hosts->jobs : job->next; /* again: another one may come after it */
}

/* ---- The next daemon: nodes --------------------------------------------------------------------- */

/* The first that went wrong is said; the journal's readers have no way to stop. */
struct taking {
    struct hosts *hosts;
    struct error *error;
    int failed;
    double submitted; /* when the job before was */
};

static void fail_taking(struct taking *taking, const char *what, const char *which)
{
    if (!taking->failed)
        taking->failed = error_set(taking->error, ERROR_REFUSED,
                                   "the journal has %s %.100s, which these hosts do not have; start it with the hosts "
                                   "that it had, or stop --jobs there first",
                                   what, which);
}

/* How it was left. Whether its host is there is seen anew. */
static void take_node(void *to, const struct journal_node *from)
{
    struct taking *taking = to;
    struct hosts_node *node = hosts_node_named(taking->hosts, from->name);
    if (!node)
        return;
    node->drained = !strcmp(from->state, "drain");
    node->power = !strcmp(from->reason, hosts_idle_off) ? HOSTS_OFF : HOSTS_ON;
    node->up = node->power == HOSTS_ON;
    node->since = from->since;
    snprintf(node->reason, sizeof node->reason, "%s", from->reason);
}

static int put_nodes(struct hosts *hosts, struct error *error)
{
    for (int i = 0; i < hosts->node_count; i++) {
        struct hosts_node *node = &hosts->nodes[i];
        if (!(node->since > 0))
            node->since = hosts_now(hosts);
        bool off = node->power == HOSTS_OFF;
        if (!node->drained && !off)
            node->reason[0] = '\0';
        struct journal_node put = {.number = i,
                                   .name = node->name,
                                   .host = node->host,
                                   .slots = node->slots,
                                   .state = node->drained ? "drain"
                                            : off         ? "down"
                                                          : "up",
                                   .reason = node->reason,
                                   .since = node->since};
        if (journal_node_put(hosts->journal, &put, error))
            return -1;
    }
    return 0;
}

/* ---- The next daemon: jobs, and what they hold -------------------------------------------------- */

static enum hosts_state state_named(const char *name)
{
    for (enum hosts_state state = JOB_WAITING; state < JOB_ENDING; state++)
        if (!strcmp(name, hosts_state_text(state)))
            return state;
    return JOB_ENDING;
}

/* A clock that was set back meanwhile must not keep the daemon from starting: the order is that of the numbers. */
static struct journal_job in_order(struct taking *taking, const struct journal_job *from)
{
    struct journal_job job = *from;
    job.submitted = fmin(fmax(job.submitted, taking->submitted), hosts_now(taking->hosts));
    taking->submitted = job.submitted;
    return job;
}

static void take_job(void *to, const struct journal_job *given)
{
    struct taking *taking = to;
    if (taking->failed)
        return;
    const struct journal_job now = in_order(taking, given), *from = &now;
    struct hosts_job *job = take_known_job(taking->hosts, from, taking->error);
    if (!job) {
        taking->failed =
            error_set(taking->error, ERROR_REFUSED,
                      "%.900s; start it with the hosts that it had, and cancel the job there", taking->error->text);
        return;
    }
    job->state = state_named(from->state);
    job->wanted = from->wanted;
    if (hosts_may_queue(job))
        snprintf(job->state == JOB_ENDING ? job->why : job->reason, HOSTS_REASON_MAX, "%s", from->reason);
    if (job->state == JOB_ENDING)
        job->outcome = job->leaves && job->saved ? "waiting"
                       : !strncmp(from->reason, "time limit", 10) || !strncmp(from->reason, "deadline", 8)
                           ? "failed"
                           : "cancelled";
}

static void check_holding(void *to, const struct journal_holding *holding)
{
    struct taking *taking = to;
    if (!hosts_node_named(taking->hosts, holding->node))
        fail_taking(taking, "a job on node", holding->node);
}

static void take_holding(void *to, const struct journal_holding *holding)
{
    struct taking *taking = to;
    struct hosts_node *node = hosts_node_named(taking->hosts, holding->node);
    struct hosts_job *job = hosts_jobs_find(taking->hosts, holding->job);
    int number = node ? (int)(node - taking->hosts->nodes) : -1;
    if (!node || !job)
        return;
    hosts_jobs_hold(job, &number, 1);
    job->size = job->held;
}

static void take_energy(void *to, const struct journal_energy *energy)
{
    struct taking *taking = to;
    struct hosts_job *job = hosts_jobs_find(taking->hosts, energy->job);
    if (job)
        hosts_power_take(job, energy->joules, energy->time);
}

/* What of the time limit was used, and at which size it is. */
static void take_stay(void *to, const struct journal_stay *stay)
{
    struct taking *taking = to;
    struct hosts_job *job = hosts_jobs_find(taking->hosts, stay->job);
    int nodes = journal_count(stay->nodes);
    if (!job || job->state == JOB_WAITING)
        return;
    job->used_at = stay->begin;
    if (stay->end >= 0) {
        job->used += (stay->end - stay->begin) * nodes / job->wanted;
        job->used_at = stay->end;
    } else {
        job->size = nodes < job->held ? nodes : job->held;
    }
}

static void take_names(const struct hosts *hosts, const char *names, struct hosts_resize *resize)
{
    char *copy = strdup(names), *rest = copy, *name;
    while (copy && *copy && (name = strsep(&rest, ",")))
        for (int i = 0; i < hosts->node_count && resize->count < hosts->node_count; i++)
            if (!strcmp(hosts->nodes[i].name, name))
                resize->nodes[resize->count++] = i;
    free(copy);
}

static void take_resize(void *to, const struct journal_resize *from)
{
    struct taking *taking = to;
    struct hosts_job *job = hosts_jobs_find(taking->hosts, from->job);
    if (!job)
        return;
    job->resize.id = from->id;
    job->resize.step = from->step;
    job->resize.from = from->from;
    job->resize.to = from->to;
    job->resize.decided = from->times[JOURNAL_DECIDED];
    job->resize.committed = from->times[JOURNAL_COMMITTED];
    job->resize.count = 0;
    take_names(taking->hosts, from->nodes, &job->resize);
}

/* ---- The next daemon: what the core is told, and how jobs go on --------------------------------- */

/* A shrink that has committed: what it gives back stands last, as it did. */
static void order_after_shrink(struct hosts_job *job)
{
    struct hosts_resize *resize = &job->resize;
    if (resize->id && resize->step >= JOURNAL_COMMITTED && resize->to < resize->from) {
        int list[resize->count ? resize->count : 1];
        memcpy(list, resize->nodes, (size_t)resize->count * sizeof *list);
        hosts_jobs_give(job, list, resize->count);
        hosts_jobs_hold(job, list, resize->count);
    }
}

static int adopt_job(struct hosts_job *job, struct error *error)
{
    const struct hosts_resize *resize = &job->resize;
    struct core_place place = {.started = job->started, .nodes = job->size, .target = job->size, .list = job->nodes};
    if (resize->id) {
        place.nodes = resize->from;
        place.target = resize->to;
    }
    struct journal_move move;
    if (journal_move_get(job->hosts->journal, job->number, &move, error))
        return -1;
    *(move.drained ? &job->moves_at : &place.back) = move.size;
    double now = hosts_now(job->hosts);
    int most = place.nodes > place.target ? place.nodes : place.target;
    if (place.started > now)
        place.started = now;
    if (most != job->held)
        return error_set(error, ERROR_FAILED, "the journal says that job %lld has %d nodes, and holds %d",
                         (long long)job->number, most, job->held);
    if (core_adopt(job->hosts->core, now, job->number, &place, error))
        return -1;
    hosts_jobs_learned(job);
    return 0;
}

static int adopt_all(struct hosts *hosts, struct error *error)
{
    for (struct hosts_job *job = hosts->jobs; job; job = job->next) {
        if (job->state == JOB_WAITING)
            continue;
        order_after_shrink(job);
        if (adopt_job(job, error))
            return -1;
    }
    for (int i = 0; i < hosts->node_count; i++)
        if (hosts->nodes[i].job < 0)
            hosts_nodes_show(hosts, i);
    return 0;
}

int hosts_recover(struct hosts *hosts, struct error *error)
{
    struct taking taking = {hosts, error, 0, 0};
    if (journal_holdings(hosts->journal, check_holding, &taking, error) || taking.failed ||
        journal_nodes(hosts->journal, take_node, &taking, error) ||
        journal_jobs(hosts->journal, false, take_job, &taking, error) || taking.failed ||
        journal_holdings(hosts->journal, take_holding, &taking, error) ||
        journal_energies(hosts->journal, take_energy, &taking, error) ||
        journal_stays(hosts->journal, take_stay, &taking, error) ||
        journal_resizes(hosts->journal, false, take_resize, &taking, error) || put_nodes(hosts, error))
        return -1;
    return adopt_all(hosts, error);
}

/* It may run already, so that nothing is given back when this fails: others look for its attendant, and start one. */
static void start_again(struct hosts_job *job)
{
    struct error error = {0};
    if (hosts_launch_write(job, &error) || hosts_launch_start(job, &error))
        hosts_tell(job->hosts, job->number, "failed", "%.900s", error.text);
    hosts_stop_at("started");
    hosts_talk_begin(job);
}

void hosts_recover_go_on(struct hosts *hosts)
{
    for (struct hosts_job *job = hosts->jobs, *next; job; job = next) {
        next = job->next;
        cJSON *ended = job->state == JOB_WAITING ? NULL : hosts_launch_ended(job);
        if (ended)
            hosts_end(job, ended, NULL);
        else if (job->state == JOB_STARTING)
            start_again(job);
        else if (job->state != JOB_WAITING)
            hosts_talk_begin(job);
        cJSON_Delete(ended);
    }
    hosts_news(hosts);
}
