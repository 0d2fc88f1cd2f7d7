/* Slurm's state, put together from what a reader gives: lists of nodes, jobs, nodes, partitions, and machines. */
#include "scheduler/slurm/view.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"

/* ---- Lists of nodes ----------------------------------------------------------------------------- */

enum { NAMES_MAX = 65536, NAME_MAX_LENGTH = 256 };

struct building {
    struct hostlist *list;
    size_t room;
    const char *wrong;
};

static void add_name(struct building *building, const char *name)
{
    struct hostlist *list = building->list;
    size_t count = (size_t)list->count;
    if (list->count == NAMES_MAX)
        building->wrong = "names too many nodes";
    else if (array_reserve(&list->names, &building->room, count + 1, sizeof *list->names) ||
             !(list->names[count] = strdup(name)))
        building->wrong = "is too long for the memory";
    else
        list->count++;
}

static void expand_names(struct building *building, const char *before, const char *text, const char *end);

static void expand_names(struct building *building, const char *before, const char *text, const char *end);

/* One number of brackets, as wide as it is written, and what follows them. */
static void add_number(struct building *building, const char *before, long number, int width, const char *after,
                       const char *end)
{
    char name[NAME_MAX_LENGTH];
    int length = snprintf(name, sizeof name, "%s%0*ld", before, width, number);
    if (length >= (int)sizeof name)
        building->wrong = "has a name that is too long";
    else
        expand_names(building, name, after, end);
}

/* "1-3" or "07"; what comes behind it, or NULL. */
static const char *add_range(struct building *building, const char *before, const char *range, const char *after,
                             const char *end)
{
    char *stop;
    long first = isdigit((unsigned char)*range) ? strtol(range, &stop, 10) : -1, last = first;
    if (first < 0)
        return NULL;
    int width = (int)(stop - range);
    if (*stop == '-' && isdigit((unsigned char)stop[1]))
        last = strtol(stop + 1, &stop, 10);
    if (last < first || last - first >= NAMES_MAX)
        return NULL;
    for (long number = first; number <= last && !building->wrong; number++)
        add_number(building, before, number, width, after, end);
    return stop;
}

static void add_brackets(struct building *building, const char *before, const char *open, const char *end)
{
    const char *close = memchr(open, ']', (size_t)(end - open)), *at = open;
    while (at && close && !building->wrong && *at != ']') {
        at = add_range(building, before, at + 1, close + 1, end);
        if (at && *at != ',' && *at != ']')
            at = NULL;
    }
    if (!at || !close)
        building->wrong = "is no list of nodes";
}

/* What is between `text` and `end` stands behind `before`. */
static void expand_names(struct building *building, const char *before, const char *text, const char *end)
{
    char name[NAME_MAX_LENGTH];
    const char *open = memchr(text, '[', (size_t)(end - text));
    int length = snprintf(name, sizeof name, "%s%.*s", before, (int)((open ? open : end) - text), text);
    if (length >= (int)sizeof name)
        building->wrong = "has a name that is too long";
    else if (open)
        add_brackets(building, name, open, end);
    else if (*name)
        add_name(building, name);
}

/* The comma behind the first name, outside of brackets, or the end. */
static const char *name_end(const char *text)
{
    int depth = 0;
    for (; *text && (depth || *text != ','); text++)
        depth += (*text == '[') - (*text == ']');
    return text;
}

int hostlist_expand(const char *text, struct hostlist *list, struct error *error)
{
    struct building building = {.list = list};
    *list = (struct hostlist){0};
    for (const char *at = text, *end; *at && !building.wrong; at = *end ? end + 1 : end) {
        end = name_end(at);
        expand_names(&building, "", at, end);
    }
    if (!building.wrong)
        return 0;
    hostlist_free(list);
    return error_set(error, ERROR_FAILED, "'%.200s' %s", text, building.wrong);
}

void hostlist_free(struct hostlist *list)
{
    for (int i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
    *list = (struct hostlist){0};
}

char *hostlist_text(const struct hostlist *list, int slots)
{
    size_t length = 1;
    for (int i = 0; i < list->count; i++)
        length += strlen(list->names[i]) + 16;
    char *text = calloc(length, 1), *at = text;
    for (int i = 0; text && i < list->count; i++) {
        at += sprintf(at, "%s%s", i ? "," : "", list->names[i]);
        if (slots > 1)
            at += sprintf(at, ":%d", slots);
    }
    return text;
}

/* ---- Comments and names of jobs ----------------------------------------------------------------- */

static const char mark[] = "epop:", companion[] = "epop-";

enum { NODES_MAX = 1000000 };

bool view_range_of_comment(const char *comment, int *min, int *max)
{
    const char *at = comment;
    int end = 0;
    while ((at = strstr(at, mark)) && at > comment && !isspace((unsigned char)at[-1]))
        at++;
    if (!at || sscanf(at + strlen(mark), "min=%9d,max=%9d%n", min, max, &end) < 2 || !end)
        return false;
    at += strlen(mark) + (size_t)end;
    return (!*at || isspace((unsigned char)*at)) && *min >= 1 && *max >= *min && *max <= NODES_MAX;
}

int64_t view_companion_of(const char *name)
{
    const char *digits = name + strlen(companion);
    char *end;
    if (strncmp(name, companion, strlen(companion)) || !isdigit((unsigned char)*digits))
        return 0;
    errno = 0;
    long long job = strtoll(digits, &end, 10);
    return !*end && !errno && job > 0 ? job : 0;
}

/* ---- The view ----------------------------------------------------------------------------------- */

static char *copy_text(const char *text)
{
    return strdup(text ? text : "");
}

static void take_hosts(struct slurm_view *view, struct slurm_job *job, const struct slurm_job_given *given)
{
    struct error error;
    struct hostlist requested = {0};
    if (given->hosts && hostlist_expand(given->hosts, &job->hosts, &error))
        view->failed = true;
    if (given->state == SLURM_JOB_WAITS && given->requested && !hostlist_expand(given->requested, &requested, &error) &&
        requested.count > job->nodes)
        job->nodes = requested.count;
    hostlist_free(&requested);
}

/* Held, dependent, or before its time it is not in the queue. Right after it came there is no reason yet. */
static bool is_in_queue(const struct slurm_job_given *given)
{
    static const char *const reasons[] = {"None", "Resources", "Priority"};
    bool known = false;
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        known = known || (given->reason && !strcmp(given->reason, reasons[i]));
    return known && given->state == SLURM_JOB_WAITS && given->priority > 0;
}

static void take_job(void *to, const struct slurm_job_given *given)
{
    struct slurm_view *view = to;
    if (array_reserve(&view->jobs, &view->job_room, view->job_count + 1, sizeof *view->jobs)) {
        view->failed = true;
        return;
    }
    struct slurm_job *job = &view->jobs[view->job_count++];
    *job = (struct slurm_job){.id = given->id,
                              .uid = given->uid,
                              .state = given->state,
                              .nodes = given->nodes,
                              .partition = copy_text(given->partition),
                              .priority = given->priority,
                              .limit = given->limit,
                              .submitted = given->submitted,
                              .started = given->state == SLURM_JOB_WAITS ? -1 : given->started,
                              .name = copy_text(given->name),
                              .comment = copy_text(given->comment),
                              .reason = copy_text(given->reason),
                              .waits = is_in_queue(given)};
    view->failed = view->failed || !job->partition || !job->name || !job->comment || !job->reason;
    if (job->partition)
        job->partition[strcspn(job->partition, ",")] = '\0';
    take_hosts(view, job, given);
}

int view_node(const struct slurm_view *view, const char *name)
{
    for (size_t i = 0; i < view->node_count; i++)
        if (!strcmp(view->nodes[i].name, name))
            return (int)i;
    return -1;
}

static int add_node(struct slurm_view *view, const struct slurm_node_given *given)
{
    int known = view_node(view, given->name);
    if (known >= 0)
        return known;
    char *name = copy_text(given->name);
    if (!name || array_reserve(&view->nodes, &view->node_room, view->node_count + 1, sizeof *view->nodes)) {
        free(name);
        return -1;
    }
    view->nodes[view->node_count] =
        (struct slurm_node){name, given->state, given->planned, given->drained, given->cpus};
    return (int)view->node_count++;
}

const struct slurm_partition *view_partition(const struct slurm_view *view, const char *name)
{
    for (size_t i = 0; i < view->partition_count; i++)
        if (!strcmp(view->partitions[i].name, name))
            return &view->partitions[i];
    return NULL;
}

static struct slurm_partition *add_partition(struct slurm_view *view, const struct slurm_node_given *given)
{
    struct slurm_partition *known = (struct slurm_partition *)view_partition(view, given->partition);
    if (known)
        return known;
    char *name = copy_text(given->partition);
    if (!name ||
        array_reserve(&view->partitions, &view->partition_room, view->partition_count + 1, sizeof *view->partitions)) {
        free(name);
        return NULL;
    }
    view->partitions[view->partition_count] = (struct slurm_partition){name, given->tier, given->up, NULL, 0, 0};
    return &view->partitions[view->partition_count++];
}

static void take_node(void *to, const struct slurm_node_given *given)
{
    struct slurm_view *view = to;
    int node = add_node(view, given);
    struct slurm_partition *partition = node >= 0 ? add_partition(view, given) : NULL;
    if (!partition ||
        array_reserve(&partition->nodes, &partition->room, (size_t)partition->count + 1, sizeof *partition->nodes))
        view->failed = true;
    else
        partition->nodes[partition->count++] = node;
}

const struct slurm_sink view_sink = {take_job, take_node};

static int compare_numbers(double a, double b)
{
    return a < b ? -1 : a > b;
}

/* By the partition's tier, then by priority, then by number. */
struct ranked {
    struct slurm_job job;
    int tier;
};

static int in_order(const void *one, const void *other)
{
    const struct ranked *a = one, *b = other;
    bool pending = a->job.state == SLURM_JOB_WAITS;
    int order = (b->job.state == SLURM_JOB_WAITS) - pending;
    if (!order && pending)
        order = b->tier - a->tier;
    if (!order && pending)
        order = compare_numbers(b->job.priority, a->job.priority);
    return order ? order : compare_numbers((double)a->job.id, (double)b->job.id);
}

static int by_place(const void *one, const void *other)
{
    return *(const int *)one - *(const int *)other;
}

static int by_name(const void *one, const void *other)
{
    return strcmp(((const struct slurm_partition *)one)->name, ((const struct slurm_partition *)other)->name);
}

static int sort_jobs(struct slurm_view *view)
{
    struct ranked *ranked = calloc(view->job_count + 1, sizeof *ranked);
    if (!ranked)
        return -1;
    for (size_t i = 0; i < view->job_count; i++) {
        const struct slurm_partition *partition = view_partition(view, view->jobs[i].partition);
        ranked[i] = (struct ranked){view->jobs[i], partition ? partition->tier : 0};
    }
    qsort(ranked, view->job_count, sizeof *ranked, in_order);
    for (size_t i = 0; i < view->job_count; i++)
        view->jobs[i] = ranked[i].job;
    free(ranked);
    return 0;
}

int view_finish(struct slurm_view *view, struct error *error)
{
    if (view->failed || sort_jobs(view))
        return error_set(error, ERROR_FAILED, "what Slurm said of its jobs and nodes cannot be read");
    for (size_t i = 0; i < view->partition_count; i++)
        qsort(view->partitions[i].nodes, (size_t)view->partitions[i].count, sizeof(int), by_place);
    qsort(view->partitions, view->partition_count, sizeof *view->partitions, by_name);
    return 0;
}

static void free_job(struct slurm_job *job)
{
    hostlist_free(&job->hosts);
    free(job->partition);
    free(job->name);
    free(job->comment);
    free(job->reason);
}

void view_free(struct slurm_view *view)
{
    for (size_t i = 0; i < view->job_count; i++)
        free_job(&view->jobs[i]);
    for (size_t i = 0; i < view->node_count; i++)
        free(view->nodes[i].name);
    for (size_t i = 0; i < view->partition_count; i++) {
        free(view->partitions[i].name);
        free(view->partitions[i].nodes);
    }
    free(view->jobs);
    free(view->nodes);
    free(view->partitions);
    *view = (struct slurm_view){0};
}

const struct slurm_job *view_job(const struct slurm_view *view, int64_t id)
{
    for (size_t i = 0; i < view->job_count; i++)
        if (view->jobs[i].id == id)
            return &view->jobs[i];
    return NULL;
}

/* ---- Machines ----------------------------------------------------------------------------------- */

static void join_machines(int *of, size_t count, int one, int other)
{
    for (size_t i = 0; i < count && one != other; i++)
        if (of[i] == other)
            of[i] = one;
}

/* Numbers without gaps, in the order of the nodes. */
static int number_machines(int *of, size_t count)
{
    int numbers = 0;
    for (size_t i = 0; i < count; i++) {
        if (of[i] < 0)
            continue;
        int old = of[i];
        numbers++;
        for (size_t k = i; k < count; k++)
            if (of[k] == old)
                of[k] = -numbers;
    }
    for (size_t i = 0; i < count; i++)
        of[i] = -of[i] - 1;
    return numbers;
}

int machines_find(const struct slurm_view *view, struct machines *machines)
{
    int *of = calloc(view->node_count + 1, sizeof *of);
    if (!of)
        return -1;
    for (size_t i = 0; i < view->node_count; i++)
        of[i] = (int)i;
    for (size_t i = 0; i < view->partition_count; i++)
        for (int k = 1; k < view->partitions[i].count; k++)
            join_machines(of, view->node_count, of[view->partitions[i].nodes[0]], of[view->partitions[i].nodes[k]]);
    *machines = (struct machines){of, number_machines(of, view->node_count)};
    return 0;
}

void machines_free(struct machines *machines)
{
    free(machines->of);
    *machines = (struct machines){0};
}

int machines_of_partition(const struct machines *machines, const struct slurm_view *view, const char *partition)
{
    const struct slurm_partition *found = view_partition(view, partition);
    return found && found->count ? machines->of[found->nodes[0]] : -1;
}
