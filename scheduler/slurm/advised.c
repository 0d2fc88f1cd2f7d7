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

static epop_policy_sample_t *sample_of(struct told *told, int pc, int ranks)
{
    for (int i = 0; i < told->sample_count; i++)
        if (told->samples[i].phase == pc && told->samples[i].nodes == ranks)
            return &told->samples[i];
    if (array_reserve(&told->samples, &told->sample_room, (size_t)told->sample_count + 1, sizeof *told->samples))
        return NULL;
    epop_policy_sample_t *made = &told->samples[told->sample_count++];
    *made = (epop_policy_sample_t){
        .phase = pc, .nodes = ranks, .mtct = -1, .trend = -1, .variance = -1, .lo = -1, .hi = -1};
    return made;
}

static int take_speeds(struct told *told, const cJSON *element)
{
    const cJSON *speed;
    int pc = json_int(element, "pc", -1);
    cJSON_ArrayForEach(speed, member_of(element, "speeds"))
    {
        int ranks = json_int(speed, "size", 0);
        double iterations = json_number(speed, "iterations", 0), seconds = json_number(speed, "seconds", 0);
        if (pc < 0 || ranks < 1 || iterations < 1 || seconds <= 0)
            continue;
        epop_policy_sample_t *sample = sample_of(told, pc, ranks);
        if (!sample)
            return -1;
        sample->iterations = iterations;
        sample->seconds = seconds / iterations;
    }
    return 0;
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
        if (!state || strcmp(state, "committed") || committed < 0)
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
    const cJSON *element;
    const char *backend = json_text(status, "backend");
    double left;
    told->known = true;
    told->joins = backend && strstr(backend, "join");
    told->ranks = json_int(status, "size", 0);
    if (left_read(&left, status))
        told->left = left;
    take_element(told, status);
    take_adaptations(told, member_of(status, "adaptations"));
    if (take_hosts(told, member_of(status, "processes")))
        return -1;
    cJSON_ArrayForEach(element, member_of(status, "elements"))
    {
        if (take_speeds(told, element))
            return -1;
    }
    return 0;
}

static int take_measured(struct told *told, const cJSON *element)
{
    const cJSON *mtct = member_of(element, "mtct");
    int pc = json_int(element, "pc", -1), ranks = json_int(element, "size", 0);
    if (pc < 0 || ranks < 1 || json_int(mtct, "values", 0) < 1)
        return 0;
    epop_policy_sample_t *sample = sample_of(told, pc, ranks);
    if (sample)
        sample_read_mtct(sample, mtct);
    return sample ? 0 : -1;
}

/* Its laps since it was asked last. */
static int take_laps(struct told *told, const cJSON *loop)
{
    int number = json_int(loop, "number", 0), ranks = json_int(loop, "size", 0);
    double laps = json_number(loop, "iterations", 0), rate = json_number(loop, "rate", 0);
    if (number < 1 || ranks < 1 || !(laps > 0) || !(rate > 0))
        return 0;
    epop_policy_sample_t *sample = sample_of(told, EPOP_POLICY_LOOPS + number, ranks);
    if (!sample)
        return -1;
    sample->iterations += laps;
    sample->seconds = 1 / rate;
    sample_read_mtct(sample, member_of(loop, "mtct"));
    return 0;
}

int told_measure(struct told *told, const cJSON *measure)
{
    const cJSON *each;
    told->loop = json_int(measure, "loop", 0);
    cJSON_ArrayForEach(each, member_of(measure, "elements"))
    {
        if (take_measured(told, each))
            return -1;
    }
    cJSON_ArrayForEach(each, member_of(measure, "loops"))
    {
        if (take_laps(told, each))
            return -1;
    }
    return 0;
}

int told_phase(const struct told *told)
{
    return told->loop > 0 ? EPOP_POLICY_LOOPS + told->loop : told->pc;
}

static void told_free(struct told *told)
{
    forget_hosts(told);
    free(told->hosts);
    free(told->samples);
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
    return job->ask.kind == ASK_GROW || job->ask.kind == ASK_SHRINK || job->ask.kind == ASK_EARLIER;
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
