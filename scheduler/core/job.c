/* Jobs as the core keeps them: see job.h. */
#include "scheduler/core/job.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"

/* The sizes of a range are the copy's own; the first and the last are its ends. */
static int copy_range(epop_policy_range_t *range)
{
    size_t bytes = (size_t)range->count * sizeof *range->sizes;
    int *sizes = range->count > 0 ? malloc(bytes) : NULL;
    if (range->count > 0 && !sizes) {
        range->sizes = NULL;
        return -1;
    }
    if (sizes) {
        memcpy(sizes, range->sizes, bytes);
        range->min = sizes[0];
        range->max = sizes[range->count - 1];
    }
    range->sizes = sizes;
    return 0;
}

static int copy_phase(epop_policy_phase_t *to, const epop_policy_phase_t *from)
{
    *to = *from;
    to->begins = -1;
    to->name = strdup(from->name ? from->name : "");
    return copy_range(&to->range) || !to->name ? -1 : 0;
}

static int copy_phases(struct job *job, const struct core_job *given)
{
    if (given->phase_count <= 0)
        return 0;
    job->phases = calloc((size_t)given->phase_count, sizeof *job->phases);
    job->begins = calloc((size_t)given->phase_count, sizeof *job->begins);
    if (!job->phases || !job->begins)
        return -1;
    for (int i = 0; i < given->phase_count; i++) {
        job->phase_count = i + 1;
        if (copy_phase(&job->phases[i], &given->phases[i]))
            return -1;
    }
    return 0;
}

static void show(struct job *job, const struct core_job *given, double now)
{
    epop_policy_job_t *view = &job->view;
    view->id = given->id;
    view->name = job->name;
    view->user = given->user;
    view->kind = given->kind;
    view->wanted = given->wanted;
    view->limit = given->limit;
    view->bytes = given->bytes;
    view->submitted = now;
    view->reserved = given->promised > 0 ? given->promised : -1;
    view->resize_cost = view->resize_latency = -1;
}

struct job *job_create(const struct core_job *given, double now)
{
    struct job *job = calloc(1, sizeof *job);
    if (!job)
        return NULL;
    job->view.range = given->range;
    job->name = strdup(given->name ? given->name : "");
    if (copy_range(&job->view.range) || !job->name || copy_phases(job, given)) {
        job_free(job);
        return NULL;
    }
    show(job, given, now);
    job_waits(job);
    return job;
}

void job_free(struct job *job)
{
    if (!job)
        return;
    for (int i = 0; i < job->phase_count; i++) {
        free((char *)job->phases[i].name);
        free((int *)job->phases[i].range.sizes);
    }
    free((int *)job->view.range.sizes);
    free(job->phases);
    free(job->begins);
    free(job->samples);
    free(job->nodes);
    free(job->name);
    free(job);
}

void job_waits(struct job *job)
{
    epop_policy_job_t *view = &job->view;
    view->state = EPOP_POLICY_WAITS;
    view->started = view->resized = -1;
    view->nodes = view->target = view->asked = 0;
    view->left = view->limit;
    job_enter_phase(job, 0, NULL);
}

/* What was the job's own goes with the other one. */
void job_learn(struct job *job, struct job *fresh)
{
    struct job old = *job;
    job->view.kind = fresh->view.kind;
    job->view.wanted = fresh->view.wanted;
    job->view.bytes = fresh->view.bytes;
    job->view.range = fresh->view.range;
    job->phases = fresh->phases;
    job->begins = fresh->begins;
    job->phase_count = fresh->phase_count;
    fresh->view.range = old.view.range;
    fresh->phases = old.phases;
    fresh->begins = old.begins;
    fresh->phase_count = old.phase_count;
    job_enter_phase(job, 0, NULL);
}

int job_reserve_nodes(struct job *job, int count)
{
    int result = array_reserve(&job->nodes, &job->node_room, (size_t)count, sizeof *job->nodes);
    job->view.node_list = job->nodes;
    return result;
}

int job_reserve_sample(struct job *job)
{
    size_t wanted = (size_t)job->view.sample_count + 1;
    int result = array_reserve(&job->samples, &job->sample_room, wanted, sizeof *job->samples);
    job->view.samples = job->samples;
    return result;
}

int job_held(const struct job *job)
{
    return job->view.nodes > job->view.target ? job->view.nodes : job->view.target;
}

void job_enter_phase(struct job *job, int phase, const double *begins)
{
    job->view.phase = phase;
    job->view.phases = job->phases ? job->phases + phase : NULL;
    job->view.phase_count = job->phases ? job->phase_count - phase : 0;
    for (int i = 0; i < job->view.phase_count; i++) {
        double at = begins ? begins[i] : -1;
        job->begins[phase + i] = job->phases[phase + i].begins = i ? at : 0;
    }
}
