/* Malleable jobs as the adviser knows them: from what they say to figures, and the table of them. */
#include "scheduler/slurm/advised.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/json.h"
#include "scheduler/core/sample.h"

/* ---- What a job has said of itself -------------------------------------------------------------- */

static const cJSON *member_of(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static void take_sizes(struct told *told, const cJSON *sizes)
{
    const cJSON *size;
    told->preferred = json_int(sizes, "preferred", 0);
    told->listed = json_int(sizes, "listed", 0);
    if (told->listed < 0 || told->listed > TOLD_SIZES)
        told->listed = 0;
    memset(told->accepts, 0, sizeof told->accepts);
    cJSON_ArrayForEach(size, member_of(sizes, "accepted"))
    {
        if (cJSON_IsNumber(size) && size->valueint >= 1 && size->valueint <= TOLD_SIZES)
            told->accepts[size->valueint] = true;
    }
}

bool told_accepts(const struct told *told, int ranks)
{
    if (told->hints.most && (ranks < told->hints.least || ranks > told->hints.most))
        return false;
    return ranks > told->listed || (ranks >= 1 && told->accepts[ranks]);
}

/* The present element's own rule, else the program's. */
static void take_element(struct told *told, const cJSON *status)
{
    const cJSON *element = member_of(status, "element"), *each;
    const cJSON *sizes = member_of(status, "sizes");
    const char *type = json_text(element, "type");
    told->pc = json_int(element, "pc", -1);
    told->elastic = type && !strcmp(type, "EP");
    cJSON_ArrayForEach(each, member_of(status, "elements"))
    {
        if (json_int(each, "pc", -2) == told->pc && cJSON_IsObject(member_of(each, "sizes")))
            sizes = member_of(each, "sizes");
    }
    take_sizes(told, sizes);
    told->hints = hints_read(status);
    told->preferred = told->hints.preferred ? told->hints.preferred : told->preferred;
}

static int same_host(const char *one, const char *other)
{
    size_t length = strcspn(one, ".");
    return length == strcspn(other, ".") && !strncmp(one, other, length);
}

static int find_host(const struct told *told, const char *host)
{
    for (int i = 0; i < told->host_count; i++)
        if (same_host(told->hosts[i], host))
            return i;
    return -1;
}

bool told_runs_on(const struct told *told, const char *host)
{
    return find_host(told, host) >= 0;
}

static void forget_hosts(struct told *told)
{
    for (int i = 0; i < told->host_count; i++)
        free(told->hosts[i]);
    told->host_count = 0;
}

static int add_host(struct told *told, const char *host)
{
    char *copy;
    if (array_reserve(&told->hosts, &told->host_room, (size_t)told->host_count + 1, sizeof *told->hosts) ||
        !(copy = strndup(host, strcspn(host, "."))))
        return -1;
    told->hosts[told->host_count++] = copy;
    return 0;
}

/* Ranks of one host: as many as processes that compute there. */
static int count_on(const cJSON *processes, const char *host)
{
    const cJSON *process;
    int count = 0;
    cJSON_ArrayForEach(process, processes)
    {
        const char *on = json_text(process, "host");
        count += json_int(process, "rank", -1) >= 0 && on && same_host(on, host);
    }
    return count;
}

static int take_hosts(struct told *told, const cJSON *processes)
{
    const cJSON *process;
    forget_hosts(told);
    told->slots = 1;
    cJSON_ArrayForEach(process, processes)
    {
        const char *host = json_text(process, "host");
        if (json_int(process, "rank", -1) < 0 || !host || told_runs_on(told, host))
            continue;
        if (add_host(told, host))
            return -1;
        int count = count_on(processes, host);
        told->slots = count > told->slots ? count : told->slots;
    }
    return 0;
}

/* Not while it is to balance first. */
static bool sample_counts(struct told *told, const epop_policy_sample_t *sample)
{
    bool present = sample->phase == told_phase(told) && sample->nodes == told->ranks;
    return !told->balances || !told->elastic || balance_counts(&told->balance, sample, present);
}

static void take_sample(void *context, const epop_policy_sample_t *sample)
{
    struct told *told = context;
    double change = 0;
    if (!sample_counts(told, sample))
        return;
    told->failed |= samples_reserve(&told->samples) != 0;
    if (!told->failed)
        change = samples_add(&told->samples, sample);
    if (change > 0)
        told->change = change;
}

static void take_adaptations(struct told *told, const cJSON *adaptations)
{
    const cJSON *each;
    double latency = 0, stall = 0;
    int count = 0;
    told->resized = told->latency = told->stall = -1;
    cJSON_ArrayForEach(each, adaptations)
    {
        const char *state = json_text(each, "state");
        const cJSON *times = member_of(each, "times");
        double committed = json_number(times, "committed", -1), requested = json_number(times, "requested", committed);
        if (!state || strcmp(state, "committed") || committed < 0 || json_true(each, "balance"))
            continue;
        told->resized = committed > told->resized ? committed : told->resized;
        latency += committed - requested;
        stall += json_number(each, "stall", 0);
        count++;
    }
    if (count) {
        told->latency = latency / count;
        told->stall = stall / count;
    }
}

int told_status(struct told *told, const cJSON *status)
{
    const char *backend = json_text(status, "backend");
    double left;
    told->known = true;
    told->joins = backend && strstr(backend, "join");
    told->ranks = json_int(status, "size", 0);
    told->balances = json_true(status, "balances");
    if (told->samples.size != told->ranks)
        balance_forget(&told->balance);
    if (left_read(&left, status))
        told->left = left;
    take_element(told, status);
    weak_read(&told->weak, status);
    take_adaptations(told, member_of(status, "adaptations"));
    if (take_hosts(told, member_of(status, "processes")))
        return -1;
    samples_at(&told->samples, told->ranks);
    told->failed = false;
    if (!told->samples.count)
        samples_read_speeds(status, take_sample, told);
    return told->failed ? -1 : 0;
}

int told_measure(struct told *told, const cJSON *measure)
{
    told->failed = false;
    told->change = 0;
    told->loop = json_int(measure, "loop", 0);
    samples_read(measure, take_sample, told);
    return told->failed ? -1 : 0;
}

int told_phase(const struct told *told)
{
    return told->loop > 0 ? EPOP_POLICY_LOOPS + told->loop : told->pc;
}

static void told_free(struct told *told)
{
    forget_hosts(told);
    free(told->hosts);
    samples_free(&told->samples);
    *told = (struct told){0};
}

/* ---- Malleable jobs ----------------------------------------------------------------------------- */

struct advised *advised_find(const struct advised_table *table, int64_t job)
{
    struct advised *found = table->first;
    while (found && found->id != job)
        found = found->next;
    return found;
}

struct advised *advised_get(struct advised_table *table, int64_t job)
{
    struct advised *found = advised_find(table, job);
    if (found)
        return found;
    found = calloc(1, sizeof *found);
    if (!found)
        return NULL;
    found->id = job;
    found->told.left = -1;
    found->next = table->first;
    table->first = found;
    return found;
}

void ask_over(struct ask *ask)
{
    hostlist_free(&ask->nodes);
    *ask = (struct ask){.kind = ASK_NOTHING};
}

void advised_ask_lost(struct advised *job)
{
    if (job->ask.kind == ASK_BALANCE)
        balance_refused(&job->told.balance);
    ask_over(&job->ask);
}

void advised_remove(struct advised_table *table, struct advised *job)
{
    struct advised **link = &table->first;
    while (*link != job)
        link = &(*link)->next;
    *link = job->next;
    if (job->peer)
        peer_close(job->peer);
    ask_over(&job->ask);
    told_free(&job->told);
    free(job->program);
    free(job);
}

void advised_free(struct advised_table *table)
{
    while (table->first)
        advised_remove(table, table->first);
    free(table->promises);
    *table = (struct advised_table){0};
}

bool advised_is_busy(const struct advised *job)
{
    return job->ask.kind >= ASK_GROW;
}

bool advised_is_ready(const struct advised *job)
{
    return job->peer && job->attached && job->told.known && job->told.joins && job->told.ranks > 0;
}

double advised_promise(const struct advised_table *table, int64_t job)
{
    for (size_t i = 0; i < table->promise_count; i++)
        if (table->promises[i].job == job)
            return table->promises[i].start;
    return 0;
}

void advised_promised(struct advised_table *table, int64_t job, double start)
{
    if (advised_promise(table, job) > 0 ||
        array_reserve(&table->promises, &table->promise_room, table->promise_count + 1, sizeof *table->promises))
        return;
    table->promises[table->promise_count++] = (struct promise){.job = job, .start = start};
}
