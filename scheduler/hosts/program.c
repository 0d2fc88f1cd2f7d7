/* Ranks that a program accepts become nodes: see hosts_program.h. */
#include "scheduler/hosts/program.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/json.h"

void hosts_program_free(struct hosts_program *program)
{
    for (int i = 0; i < program->phase_count; i++) {
        free((char *)program->phases[i].name);
        free((int *)program->phases[i].range.sizes);
    }
    free((int *)program->range.sizes);
    free(program->phases);
    *program = (struct hosts_program){0};
}

static bool lists(const cJSON *sizes, int ranks)
{
    const cJSON *size;
    cJSON_ArrayForEach(size,
                       cJSON_GetObjectItemCaseSensitive(sizes, "accepted")) if (size->valueint == ranks) return true;
    return false;
}

static int ranks_at(const struct hosts_job *job, int nodes)
{
    int ranks = nodes * job->hosts->slots;
    return ranks < job->ranks_max ? ranks : job->ranks_max;
}

/* The node counts of the job's range whose ranks are listed; none is: the present one. */
static int read_range(const struct hosts_job *job, const cJSON *sizes, int most, epop_policy_range_t *range)
{
    int *list = calloc((size_t)job->nodes_max + 1, sizeof *list), count = 0;
    if (!list)
        return -1;
    for (int nodes = job->nodes_min; nodes <= job->nodes_max && nodes <= most; nodes++)
        if (lists(sizes, ranks_at(job, nodes)))
            list[count++] = nodes;
    if (!count)
        list[count++] = job->size > 0 ? job->size : job->nodes_min;
    *range = (epop_policy_range_t){.min = list[0], .max = list[count - 1], .sizes = list, .count = count};
    return 0;
}

static int read_phase(const struct hosts_job *job, const cJSON *status, const cJSON *element, int most,
                      epop_policy_phase_t *phase)
{
    const cJSON *own = cJSON_GetObjectItemCaseSensitive(element, "sizes");
    const char *type = json_text(element, "type"), *name = json_text(element, "name");
    phase->elastic = type && !strcmp(type, "EP");
    phase->begins = -1;
    phase->name = strdup(name ? name : "");
    if (!phase->name)
        return -1;
    return read_range(job, cJSON_IsObject(own) ? own : cJSON_GetObjectItemCaseSensitive(status, "sizes"), most,
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
        if (read_phase(job, status, element, most, &program->phases[program->phase_count++]))
            return -1;
    }
    return 0;
}

static bool same_range(const epop_policy_range_t *one, const epop_policy_range_t *other)
{
    return one->count == other->count && !memcmp(one->sizes, other->sizes, (size_t)one->count * sizeof *one->sizes);
}

static bool same(const struct hosts_program *one, const struct hosts_program *other)
{
    bool equal = one->known == other->known && one->grows == other->grows && one->phase_count == other->phase_count &&
                 same_range(&one->range, &other->range);
    for (int i = 0; equal && i < one->phase_count; i++)
        equal = one->phases[i].elastic == other->phases[i].elastic &&
                !strcmp(one->phases[i].name, other->phases[i].name) &&
                same_range(&one->phases[i].range, &other->phases[i].range);
    return equal;
}

/* All sizes that some phase accepts: the program's own rule is only for phases without one. */
static bool read_all(const struct hosts_job *job, const cJSON *status, struct hosts_program *program)
{
    const char *backend = json_text(status, "backend");
    program->known = true;
    program->grows = !(backend && !strcmp(backend, "shrink"));
    int most = program->grows ? job->nodes_max : job->size;
    return !read_range(job, cJSON_GetObjectItemCaseSensitive(status, "sizes"), most, &program->range) &&
           !read_phases(job, status, most, program);
}

bool hosts_program_read(struct hosts_job *job, const cJSON *status)
{
    struct hosts_program now = {0};
    bool read = cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(status, "sizes")) && read_all(job, status, &now);
    if (!read || (job->program.known && same(&now, &job->program))) {
        hosts_program_free(&now);
        return false;
    }
    hosts_program_free(&job->program);
    job->program = now;
    return true;
}
