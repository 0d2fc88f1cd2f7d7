/* What all parts of the daemon of hosts use: clock, timers and failure, events, and its jobs as the core knows them. */
#include "scheduler/hosts/state.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/wire/loop.h"
#include "scheduler/hosts/accounts.h"
#include "scheduler/hosts/power.h"

/* ---- Clock, timers and failure ------------------------------------------------------------------ */

double hosts_now(const struct hosts *hosts)
{
    return hosts->wall + (monotonic_seconds() - hosts->monotonic);
}

void hosts_news(struct hosts *hosts)
{
    hosts->news = true;
    event_active(hosts->decide, EV_TIMEOUT, 0);
}

void hosts_over(struct hosts *hosts)
{
    hosts->ends = true;
    wire_wake(hosts->base);
}

void hosts_must(struct hosts *hosts, int result, const struct error *error)
{
    if (!result || hosts->error.code)
        return;
    hosts->error = *error;
    hosts_over(hosts);
}

void hosts_timer(struct hosts *hosts, struct event **timer, event_callback_fn ring, void *context, double seconds)
{
    struct error error = {0};
    if (!*timer)
        *timer = evtimer_new(hosts->base, ring, context);
    if (*timer)
        wire_timer_set(*timer, seconds);
    else
        hosts_must(hosts, error_memory(&error), &error);
}

void hosts_timer_stop(struct event *timer)
{
    if (timer)
        evtimer_del(timer);
}

/* By the clock, so that those of a daemon before are others; resizes have theirs from the journal, which are small. */
int64_t hosts_id(struct hosts *hosts)
{
    int64_t id = (int64_t)(wall_seconds() * 1000);
    hosts->last_id = id > hosts->last_id ? id : hosts->last_id + 1;
    return hosts->last_id;
}

void hosts_stop_at(const char *step)
{
    const char *at = getenv("EPOPRM_STOP_AT");
    if (at && !strcmp(at, step))
        raise(SIGSTOP);
}

/* ---- Names of nodes ----------------------------------------------------------------------------- */

struct hosts_node *hosts_node_named(struct hosts *hosts, const char *name)
{
    for (int i = 0; i < hosts->node_count; i++)
        if (!strcmp(hosts->nodes[i].name, name))
            return &hosts->nodes[i];
    return NULL;
}

const char *hosts_node_called(const struct hosts *hosts, int node)
{
    return hosts->local ? hosts->nodes[node].name : hosts->nodes[node].host;
}

int hosts_node_parts(const struct hosts *hosts, int node, const int *nodes, int count)
{
    int parts = 0;
    for (int i = 0; i < count; i++)
        parts += hosts->nodes[nodes[i]].first == hosts->nodes[node].first;
    return parts;
}

char *hosts_list(const struct hosts *hosts, const int *nodes, int count)
{
    size_t length = 1;
    for (int i = 0; i < count; i++)
        length += strlen(hosts->nodes[nodes[i]].host) + 16;
    char *text = calloc(length, 1), *at = text;
    for (int i = 0; text && i < count; i++)
        if (!hosts_node_parts(hosts, nodes[i], nodes, i))
            at += sprintf(at, "%s%s:%d", i ? "," : "", hosts->nodes[nodes[i]].host,
                          hosts->slots * hosts_node_parts(hosts, nodes[i], nodes, count));
    return text;
}

char *hosts_names(const struct hosts *hosts, const int *nodes, int count)
{
    size_t length = 1;
    for (int i = 0; i < count; i++)
        length += strlen(hosts->nodes[nodes[i]].name) + 1;
    char *text = calloc(length, 1);
    for (int i = 0; text && i < count; i++) {
        strcat(text, i ? "," : "");
        strcat(text, hosts->nodes[nodes[i]].name);
    }
    return text;
}

/* ---- Events ------------------------------------------------------------------------------------- */

enum { TEXT_MAX = 1024 };

const char *hosts_state_text(enum hosts_state state)
{
    static const char *const texts[] = {[JOB_WAITING] = "waiting",
                                        [JOB_STARTING] = "starting",
                                        [JOB_RUNNING] = "running",
                                        [JOB_ADAPTING] = "adapting",
                                        [JOB_ENDING] = "ending"};
    return texts[state];
}

void hosts_tell_event(struct hosts *hosts, struct journal_event event)
{
    struct error error = {0};
    event.time = hosts_now(hosts);
    hosts_must(hosts, journal_event_add(hosts->journal, &event, &error), &error);
    if (hosts->listener.tell)
        hosts->listener.tell(hosts->listener.context, &event);
}

void hosts_tell(struct hosts *hosts, int64_t job, const char *kind, const char *format, ...)
{
    char text[TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    hosts_tell_event(hosts, (struct journal_event){.job = job, .kind = kind, .text = text, .at = -1});
}

void hosts_tell_state(struct hosts_job *job, enum hosts_state state, const char *kind, const char *format, ...)
{
    struct error error = {0};
    char text[TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    job->state = state;
    hosts_must(job->hosts,
               journal_job_set_state(job->hosts->journal, job->number, hosts_state_text(state), text, &error), &error);
    hosts_tell_event(job->hosts,
                     (struct journal_event){
                         .job = job->number, .kind = kind, .text = text, .state = hosts_state_text(state), .at = -1});
}

/* ---- Ranks and nodes of a job ------------------------------------------------------------------- */

int hosts_jobs_ranks(const struct hosts_job *job, int nodes)
{
    int ranks = nodes * job->hosts->slots;
    return ranks < job->ranks_max ? ranks : job->ranks_max;
}

int hosts_jobs_nodes(const struct hosts *hosts, int ranks)
{
    return (ranks + hosts->slots - 1) / hosts->slots;
}

double hosts_jobs_limit_left(const struct hosts_job *job, double now)
{
    double used = job->used + (now - job->used_at) * job->size / job->wanted;
    return job->limit > 0 ? (job->limit - used) * job->wanted / job->size : INFINITY;
}

void hosts_jobs_hold(struct hosts_job *job, const int *nodes, int count)
{
    hosts_power_count(job->hosts);
    for (int i = 0; i < count; i++) {
        job->nodes[job->held++] = nodes[i];
        job->hosts->nodes[nodes[i]].job = job->number;
    }
}

static bool is_in(const int *nodes, int count, int node)
{
    for (int i = 0; i < count; i++)
        if (nodes[i] == node)
            return true;
    return false;
}

void hosts_jobs_give(struct hosts_job *job, const int *nodes, int count)
{
    int kept = 0;
    hosts_power_count(job->hosts);
    for (int i = 0; i < job->held; i++) {
        if (is_in(nodes, count, job->nodes[i]))
            job->hosts->nodes[job->nodes[i]].job = -1;
        else
            job->nodes[kept++] = job->nodes[i];
    }
    job->held = kept;
}

/* ---- What a program accepts --------------------------------------------------------------------- */

static void free_program(struct hosts_program *program)
{
    for (int i = 0; i < program->phase_count; i++) {
        free((char *)program->phases[i].name);
        free((int *)program->phases[i].range.sizes);
    }
    free((int *)program->range.sizes);
    free(program->phases);
    *program = (struct hosts_program){0};
}

int hosts_jobs_rule(const char *const *environment, struct sizes_rule *rule, struct error *error)
{
    static const char name[] = "EPOP_SIZES=";
    while (*environment && strncmp(*environment, name, sizeof name - 1))
        environment++;
    const char *text = *environment ? *environment + sizeof name - 1 : NULL;
    const char *wrong = text ? sizes_rule_read(rule, text) : NULL;
    if (wrong)
        return error_set(error, ERROR_REFUSED, "EPOP_SIZES is '%.60s', which %s", text, wrong);
    return text ? 1 : 0;
}

static bool accepts_ranks(const cJSON *sizes, int ranks)
{
    const cJSON *size;
    cJSON_ArrayForEach(size,
                       cJSON_GetObjectItemCaseSensitive(sizes, "accepted")) if (size->valueint == ranks) return true;
    return false;
}

static bool accepts_nodes(const struct hosts_job *job, const cJSON *sizes, const struct hints *hints, int nodes)
{
    int ranks = hosts_jobs_ranks(job, nodes);
    if (ranks < hints->least || ranks > hints->most)
        return false;
    return (!sizes || accepts_ranks(sizes, ranks)) && (!job->rule || sizes_rule_accepts(job->rule, ranks));
}

/* The node counts of the job's range whose ranks are listed (NULL: all are), and which its process sets ask for; none
 * is: the present one. */
static int read_range(const struct hosts_job *job, const cJSON *sizes, const struct hints *hints, int most,
                      epop_policy_range_t *range)
{
    int *list = calloc((size_t)job->nodes_max + 1, sizeof *list), count = 0;
    if (!list)
        return -1;
    for (int nodes = job->nodes_min; nodes <= job->nodes_max && nodes <= most; nodes++)
        if (accepts_nodes(job, sizes, hints, nodes))
            list[count++] = nodes;
    if (!count)
        list[count++] = job->size > 0 ? job->size : job->nodes_min;
    *range = (epop_policy_range_t){.min = list[0], .max = list[count - 1], .sizes = list, .count = count};
    return 0;
}

static int read_phase(const struct hosts_job *job, const cJSON *status, const cJSON *element, const struct hints *hints,
                      int most, epop_policy_phase_t *phase)
{
    const cJSON *own = cJSON_GetObjectItemCaseSensitive(element, "sizes");
    const char *type = json_text(element, "type"), *name = json_text(element, "name");
    phase->elastic = type && !strcmp(type, "EP");
    phase->begins = -1;
    phase->name = strdup(name ? name : "");
    if (!phase->name)
        return -1;
    return read_range(job, cJSON_IsObject(own) ? own : cJSON_GetObjectItemCaseSensitive(status, "sizes"), hints, most,
                      &phase->range);
}

static int read_phases(const struct hosts_job *job, const cJSON *status, int most, struct hosts_program *program)
{
    const cJSON *elements = cJSON_GetObjectItemCaseSensitive(status, "elements"), *element;
    program->phases = calloc((size_t)cJSON_GetArraySize(elements) + 1, sizeof *program->phases);
    if (!program->phases)
        return -1;
    cJSON_ArrayForEach(element, elements)
    {
        if (read_phase(job, status, element, &program->hints, most, &program->phases[program->phase_count++]))
            return -1;
    }
    return 0;
}

static bool same_range(const epop_policy_range_t *one, const epop_policy_range_t *other)
{
    return one->count == other->count && !memcmp(one->sizes, other->sizes, (size_t)one->count * sizeof *one->sizes);
}

static bool same_program(const struct hosts_program *one, const struct hosts_program *other)
{
    bool equal = one->known == other->known && one->grows == other->grows && one->phase_count == other->phase_count &&
                 one->preferred == other->preferred && hints_same(&one->hints, &other->hints) &&
                 same_range(&one->range, &other->range);
    for (int i = 0; equal && i < one->phase_count; i++)
        equal = one->phases[i].elastic == other->phases[i].elastic &&
                !strcmp(one->phases[i].name, other->phases[i].name) &&
                same_range(&one->phases[i].range, &other->phases[i].range);
    return equal;
}

/* All sizes that some phase accepts: the program's own rule is only for phases without one. */
static bool read_program(const struct hosts_job *job, const cJSON *status, struct hosts_program *program)
{
    const char *backend = json_text(status, "backend");
    program->known = true;
    program->grows = !(backend && !strcmp(backend, "shrink"));
    int most = program->grows ? job->nodes_max : job->size;
    const cJSON *sizes = cJSON_GetObjectItemCaseSensitive(status, "sizes");
    program->hints = hints_read(status);
    int preferred = program->hints.preferred;
    program->preferred = hosts_jobs_nodes(job->hosts, preferred ? preferred : json_int(sizes, "preferred", 0));
    return !read_range(job, sizes, &program->hints, most, &program->range) && !read_phases(job, status, most, program);
}

bool hosts_program_read(struct hosts_job *job, const cJSON *status)
{
    struct hosts_program now = {0};
    bool read = cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(status, "sizes")) && read_program(job, status, &now);
    if (!read || (job->program.known && same_program(&now, &job->program))) {
        free_program(&now);
        return false;
    }
    free_program(&job->program);
    job->program = now;
    return true;
}

/* ---- The jobs ----------------------------------------------------------------------------------- */

static char **copy_list(const char *const *list)
{
    size_t count = 0;
    while (list && list[count])
        count++;
    char **copy = calloc(count + 1, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++)
        copy[i] = strdup(list[i]);
    return copy;
}

static void free_list(char **list)
{
    for (size_t i = 0; list && list[i]; i++)
        free(list[i]);
    free(list);
}

static epop_policy_kind_t kind_named(const char *name)
{
    return !strcmp(name, "rigid")       ? EPOP_RIGID
           : !strcmp(name, "moldable")  ? EPOP_MOLDABLE
           : !strcmp(name, "malleable") ? EPOP_MALLEABLE
                                        : EPOP_EVOLVING;
}

static void free_job(struct hosts_job *job)
{
    struct event *timers[] = {job->measure, job->patience, job->resize.limit};
    for (size_t i = 0; i < sizeof timers / sizeof *timers; i++)
        if (timers[i])
            event_free(timers[i]);
    free_program(&job->program);
    free(job->name);
    free(job->cwd);
    free(job->account);
    free(job->output);
    free(job->directory);
    free_list(job->argv);
    free_list(job->environment);
    free(job->rule);
    free((int *)job->range.sizes);
    free(job->after);
    free(job->saved);
    free(job->nodes);
    free(job->resize.nodes);
    free(job->resize.gone);
    free(job);
}

static void copy_from_journal(struct hosts_job *job, const struct journal_job *from)
{
    job->number = from->number;
    job->name = strdup(from->name);
    job->cwd = strdup(from->cwd);
    job->account = strdup(from->account ? from->account : "");
    job->argv = copy_list(from->argv);
    job->environment = copy_list(from->environment);
    job->ranks_min = from->ranks_min;
    job->ranks_max = from->ranks_max;
    job->nodes_min = from->nodes_min;
    job->nodes_max = from->nodes_max;
    job->wanted = from->wanted;
    job->limit = from->limit;
    job->once = from->once;
    job->deadline = from->deadline;
    job->drop_late = from->drop_late;
    job->kind = kind_named(from->kind);
    job->submitted = from->submitted;
    job->started = from->started;
}

/* By its environment, which was right when it was submitted. */
static int take_rule(struct hosts_job *job)
{
    struct error unheard;
    struct sizes_rule rule;
    job->range = (epop_policy_range_t){.min = job->nodes_min, .max = job->nodes_max};
    if (hosts_jobs_rule((const char *const *)job->environment, &rule, &unheard) <= 0)
        return 0;
    job->rule = malloc(sizeof *job->rule);
    if (!job->rule)
        return -1;
    *job->rule = rule;
    return read_range(job, NULL, &(struct hints){.most = INT_MAX}, job->nodes_max, &job->range);
}

/* Where none was named. */
static char *output_of(const struct hosts_job *job)
{
    char *path;
    return job->directory && asprintf(&path, "%s/output", job->directory) >= 0 ? path : NULL;
}

/* In the order of their numbers. */
static void insert_job(struct hosts *hosts, struct hosts_job *job)
{
    struct hosts_job **at = &hosts->jobs;
    while (*at && (*at)->number < job->number)
        at = &(*at)->next;
    job->next = *at;
    *at = job;
}

struct hosts_job *hosts_jobs_add(struct hosts *hosts, const struct journal_job *from)
{
    struct hosts_job *job = calloc(1, sizeof *job);
    if (!job)
        return NULL;
    copy_from_journal(job, from);
    job->hosts = hosts;
    job->phase = -1;
    job->reserved = -1;
    job->pool = job->kind == EPOP_MALLEABLE && !hosts->joins && hosts->local;
    job->nodes = calloc((size_t)hosts->node_count, sizeof *job->nodes);
    job->resize.nodes = calloc((size_t)hosts->node_count, sizeof *job->resize.nodes);
    job->resize.gone = calloc((size_t)hosts->node_count, sizeof *job->resize.gone);
    if (asprintf(&job->directory, "%s/jobs/%lld", hosts->directory, (long long)job->number) < 0)
        job->directory = NULL;
    job->output = from->output && *from->output ? strdup(from->output) : output_of(job);
    if (!job->name || !job->cwd || !job->account || !job->output || !job->argv || !job->environment || !job->nodes ||
        !job->resize.nodes || !job->resize.gone || !job->directory || take_rule(job)) {
        free_job(job);
        return NULL;
    }
    insert_job(hosts, job);
    return job;
}

struct hosts_job *hosts_jobs_find(const struct hosts *hosts, int64_t number)
{
    struct hosts_job *job = hosts->jobs;
    while (job && job->number != number)
        job = job->next;
    return job;
}

void hosts_jobs_over(struct hosts_job *job)
{
    struct hosts_job **at = &job->hosts->jobs;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    hosts_timer_stop(job->measure);
    hosts_timer_stop(job->patience);
    hosts_timer_stop(job->resize.limit);
    attend_client_close(&job->attendant);
    job->next = job->hosts->over;
    job->hosts->over = job;
}

void hosts_jobs_sweep(struct hosts *hosts)
{
    while (hosts->over) {
        struct hosts_job *job = hosts->over;
        hosts->over = job->next;
        free_job(job);
    }
}

void hosts_jobs_free(struct hosts *hosts)
{
    while (hosts->jobs)
        hosts_jobs_over(hosts->jobs);
    hosts_jobs_sweep(hosts);
}

/* ---- What the core is told of a job ------------------------------------------------------------- */

/* For a job without --time: what policies reckon with. It is not ended then. With a deadline it is not taken to be late
 * already. */
static double suppose_limit(const struct hosts_job *job)
{
    const double usual = 3600, share = 0.5, least = 1;
    return job->deadline > 0 ? fmax(least, fmin(usual, share * (job->deadline - job->submitted))) : usual;
}

/* One that runs can be resized when it has said what it is; where it has refused, it is left alone for a while. */
static epop_policy_kind_t kind_now(const struct hosts_job *job)
{
    bool runs = job->state != JOB_WAITING, known = job->attached && job->program.known;
    bool quiet = monotonic_seconds() < job->quiet_until || job->resize.stuck || job->state == JOB_ENDING || job->leaves;
    return job->kind >= EPOP_MALLEABLE && runs && (!known || quiet) ? EPOP_MOLDABLE : job->kind;
}

/* What its user said counts more than what its program does. */
static int wanted_now(const struct hosts_job *job)
{
    bool said = job->rule && job->rule->sizes.preferred;
    int wanted = job->program.preferred && !said ? job->program.preferred : job->wanted;
    return epop_policy_fit(&job->program.range, wanted);
}

static struct core_job describe_job(const struct hosts_job *job)
{
    struct core_job given = {.id = job->number, .name = job->name, .kind = kind_now(job), .wanted = job->wanted};
    given.priority = job->priority;
    given.account = accounts_of(job->account);
    given.promised = fmax(job->reserved, 0);
    given.in_order = job->pool;
    given.balances = job->balances && job->kind >= EPOP_MALLEABLE;
    given.deadline = job->deadline;
    given.limit = job->limit > 0 ? job->limit : suppose_limit(job);
    given.range = job->range;
    if (job->program.known) {
        given.range = job->program.range;
        given.wanted = wanted_now(job);
        given.phases = job->program.phases;
        given.phase_count = job->program.phase_count;
    }
    if (given.wanted < 1)
        given.wanted = given.range.min;
    if (given.kind == EPOP_RIGID)
        given.range = (epop_policy_range_t){.min = given.wanted, .max = given.wanted};
    return given;
}

int hosts_jobs_submit(struct hosts_job *job, double when, struct error *error)
{
    struct core_job given = describe_job(job);
    bool weak = job->rule && job->rule->sizes.scaling == EPOP_SCALING_WEAK;
    return core_submit(job->hosts->core, when, &given, error) || core_weak(job->hosts->core, job->number, weak, error)
               ? -1
               : 0;
}

void hosts_jobs_learned(struct hosts_job *job)
{
    struct error error = {0};
    struct core_job given = describe_job(job);
    double now = hosts_now(job->hosts);
    hosts_must(job->hosts, core_learned(job->hosts->core, now, &given, &error), &error);
    if (job->phase >= 0)
        hosts_must(job->hosts, core_phase(job->hosts->core, now, job->number, job->phase, NULL, &error), &error);
}

void hosts_jobs_deadline(struct hosts_job *job)
{
    struct error error = {0};
    struct core *core = job->hosts->core;
    const epop_policy_job_t *known = core_job(core, job->number);
    double limit = known && job->limit > 0 ? known->limit : suppose_limit(job);
    if (known)
        hosts_must(job->hosts, core_deadline(core, hosts_now(job->hosts), job->number, job->deadline, limit, &error),
                   &error);
}
