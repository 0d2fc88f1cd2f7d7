/* The jobs of the core: what is kept of each, the table of all, and the order of those that wait and those that run. */
#include "scheduler/core/job.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/hash.h"

/* ---- One job ------------------------------------------------------------------------------------ */

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

static void show_given(struct job *job, const struct core_job *given, double now)
{
    epop_policy_job_t *view = &job->view;
    view->id = given->id;
    view->name = job->name;
    view->user = given->user;
    view->kind = given->kind;
    view->wanted = given->wanted;
    view->limit = given->limit;
    view->bytes = given->bytes;
    view->priority = given->priority;
    view->deadline = given->deadline;
    job->balances = given->balances;
    job->in_order = given->in_order;
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
    show_given(job, given, now);
    job->latest = INFINITY;
    job_latest(job, now);
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
    samples_free(&job->samples);
    free(job->nodes);
    free(job->name);
    free(job);
}

/* What samples of the present have as their phase. */
static void show_phase(struct job *job)
{
    int told = job->loop ? EPOP_POLICY_LOOPS + job->loop : job->phase;
    job->view.phase = job->expected >= 0 ? job->expected : told;
}

void job_in_loop(struct job *job, int loop)
{
    job->loop = loop;
    job->expected = loop ? -1 : job->expected;
    show_phase(job);
}

/* The present phase; `begins` as in core_phase, at `as_of`. */
static void enter_phase(struct job *job, int phase, const double *begins)
{
    job->phase = phase;
    show_phase(job);
    job->view.phases = job->phases ? job->phases + phase : NULL;
    job->view.phase_count = job->phases ? job->phase_count - phase : 0;
    for (int i = 0; i < job->view.phase_count; i++) {
        double at = begins ? begins[i] : -1;
        job->begins[phase + i] = job->phases[phase + i].begins = i ? at : 0;
    }
}

void job_waits(struct job *job)
{
    epop_policy_job_t *view = &job->view;
    view->state = EPOP_POLICY_WAITS;
    view->started = view->resized = -1;
    view->nodes = view->target = view->asked = view->leaves = 0;
    view->speed = 1;
    job->back = 0;
    view->left = view->limit;
    job->area = 0;
    job->loop = 0;
    job->expected = samples_main_phase(&job->samples);
    samples_at(&job->samples, 0);
    balance_forget(&job->balance);
    enter_phase(job, 0, NULL);
}

/* What was the job's own goes with the other one. */
void job_learn(struct job *job, struct job *fresh)
{
    struct job old = *job;
    job->view.kind = fresh->view.kind;
    if (!job->view.weak)
        job->view.limit *= (double)job->view.wanted / fresh->view.wanted; /* as much work as before */
    job->view.wanted = fresh->view.wanted;
    job->view.bytes = fresh->view.bytes;
    job->balances = fresh->balances;
    job->in_order = fresh->in_order;
    job->view.range = fresh->view.range;
    job->phases = fresh->phases;
    job->begins = fresh->begins;
    job->phase_count = fresh->phase_count;
    fresh->view.range = old.view.range;
    fresh->phases = old.phases;
    fresh->begins = old.begins;
    fresh->phase_count = old.phase_count;
    enter_phase(job, 0, NULL);
}

double core_fastest(const epop_policy_job_t *job)
{
    int most = job->kind == EPOP_RIGID || job->weak ? job->wanted : job->range.max;
    return job->limit * job->wanted / most;
}

bool job_latest(struct job *job, double now)
{
    const epop_policy_job_t *view = &job->view;
    double before = job->latest;
    bool meets = view->deadline > 0 && now + core_fastest(view) <= view->deadline;
    job->latest = meets ? view->deadline - view->limit : INFINITY;
    return job->latest > before || job->latest < before;
}

struct turn job_turn(const struct job *job)
{
    return (struct turn){.priority = job->view.priority,
                         .promised = job->promised,
                         .account = job->account,
                         .latest = job->latest,
                         .submitted = job->view.submitted,
                         .id = job->view.id};
}

int job_reserve_nodes(struct job *job, int count)
{
    int result = array_reserve(&job->nodes, &job->node_room, (size_t)count, sizeof *job->nodes);
    job->view.node_list = job->nodes;
    return result;
}

void job_show_samples(struct job *job)
{
    job->view.samples = job->samples.items;
    job->view.sample_count = job->samples.count;
}

void job_remember(struct job *job, int64_t earlier, const epop_policy_sample_t *sample)
{
    samples_remember(&job->samples, sample);
    job_show_samples(job);
    job->view.earlier = earlier;
    job->expected = samples_main_phase(&job->samples);
    show_phase(job);
}

bool job_is_as_wanted(const struct job *job)
{
    return job->view.state == EPOP_POLICY_WAITS || (job->area <= 0 && job->view.nodes == job->view.wanted);
}

/* At another size it may be that much more efficient. */
#define EFFICIENT 1.15

double job_took(const struct job *job, double now)
{
    const epop_policy_job_t *view = &job->view;
    double stay = view->state == EPOP_POLICY_WAITS ? 0 : now - view->resized;
    if (view->weak && view->state != EPOP_POLICY_WAITS)
        return fmin(view->limit, now - view->started);
    if (job_is_as_wanted(job))
        return fmin(view->limit, stay);
    return fmin(view->limit, EFFICIENT * (job->area + view->nodes * stay) / view->wanted);
}

bool job_may_balance(const struct job *job)
{
    const epop_policy_job_t *view = &job->view;
    return job->balances && (view->phase_count < 1 || view->phases->elastic);
}

int job_held(const struct job *job)
{
    return job->view.nodes > job->view.target ? job->view.nodes : job->view.target;
}

/* ---- What a job has left ------------------------------------------------------------------------ */

/* What a job has left that should be over: it runs, so it needs more than nothing. */
#define LEFT_LEAST 0.001

/* Known times of phases come nearer, unknown ones stay so. */
static double nearer(double begins, double seconds)
{
    return begins < 0 ? begins : begins > seconds ? begins - seconds : 0;
}

/* What is known at as_of becomes what is known `now`; the job got on for `seconds` meanwhile. */
static void move_on(struct job *job, double now, double seconds)
{
    job->left -= seconds;
    job->told = nearer(job->told, seconds);
    for (int i = job->phase; i < job->phase_count; i++)
        job->begins[i] = nearer(job->begins[i], seconds);
    job->as_of = now;
}

void job_left_starts(struct job *job, double now)
{
    job->left = job->view.limit * (job->view.weak ? 1 : (double)job->view.wanted / job->view.nodes);
    job->told = -1;
    job->as_of = now;
    job_left_show(job, now);
}

void job_left_told(struct job *job, double now, double left)
{
    move_on(job, now, now - job->as_of);
    job->told = left;
    job_left_show(job, now);
}

void job_left_phase(struct job *job, double now, int phase, const double *begins)
{
    move_on(job, now, now - job->as_of);
    job->expected = -1;
    enter_phase(job, phase, begins);
    job_left_show(job, now);
}

/* It got on until it stood still. */
static void stand_still(struct job *job, double now, double stall)
{
    double seconds = now - job->as_of;
    move_on(job, now, seconds > stall ? seconds - stall : 0);
}

void job_left_stalled(struct job *job, double now, double stall)
{
    stand_still(job, now, stall);
    job_left_show(job, now);
}

void job_left_resized(struct job *job, double now, double stall, int to, double speed)
{
    int from = job->view.nodes;
    double scale = job->view.weak ? 1 : (double)from / to, told = scale * job->view.speed / speed;
    job->area += from * (now - job->view.resized);
    stand_still(job, now, stall);
    job->left = job->left > 0 ? job->left * scale : job->left;
    job->told = job->told > 0 ? job->told * told : job->told;
    for (int i = job->phase; i < job->phase_count; i++)
        job->begins[i] = job->begins[i] > 0 ? job->begins[i] * told : job->begins[i];
    job_left_show(job, now);
}

void job_left_show(struct job *job, double now)
{
    double seconds = now - job->as_of, left = (job->told < 0 ? job->left : job->told) - seconds;
    job->view.left = left > LEFT_LEAST ? left : LEFT_LEAST;
    for (int i = job->phase; i < job->phase_count; i++)
        job->phases[i].begins = nearer(job->begins[i], seconds);
}

/* ---- All jobs by their numbers ------------------------------------------------------------------ */

#define SMALLEST 64

static size_t home_slot(const struct jobs *jobs, int64_t id)
{
    return (size_t)hash_bytes(HASH_BEGIN, &id, sizeof id) & (jobs->room - 1);
}

/* Where it is, or where it would be put. */
static size_t slot_of(const struct jobs *jobs, int64_t id)
{
    size_t at = home_slot(jobs, id);
    while (jobs->slots[at] && jobs->slots[at]->view.id != id)
        at = (at + 1) & (jobs->room - 1);
    return at;
}

struct job *jobs_find(const struct jobs *jobs, int64_t id)
{
    return jobs->room ? jobs->slots[slot_of(jobs, id)] : NULL;
}

static int enlarge_table(struct jobs *jobs)
{
    size_t room = jobs->room ? 2 * jobs->room : SMALLEST;
    struct jobs larger = {calloc(room, sizeof *larger.slots), room, jobs->count};
    if (!larger.slots)
        return -1;
    for (size_t i = 0; i < jobs->room; i++) {
        if (jobs->slots[i])
            larger.slots[slot_of(&larger, jobs->slots[i]->view.id)] = jobs->slots[i];
    }
    free(jobs->slots);
    *jobs = larger;
    return 0;
}

int jobs_add(struct jobs *jobs, struct job *job)
{
    if (2 * (jobs->count + 1) > jobs->room && enlarge_table(jobs))
        return -1;
    jobs->slots[slot_of(jobs, job->view.id)] = job;
    jobs->count++;
    return 0;
}

/* Those behind a hole that a search would no longer find move up. */
static void close_hole(struct jobs *jobs, size_t hole)
{
    for (size_t at = (hole + 1) & (jobs->room - 1); jobs->slots[at]; at = (at + 1) & (jobs->room - 1)) {
        size_t from_home = (at - home_slot(jobs, jobs->slots[at]->view.id)) & (jobs->room - 1);
        if (from_home >= ((at - hole) & (jobs->room - 1))) {
            jobs->slots[hole] = jobs->slots[at];
            jobs->slots[at] = NULL;
            hole = at;
        }
    }
}

void jobs_remove(struct jobs *jobs, struct job *job)
{
    size_t at = slot_of(jobs, job->view.id);
    jobs->slots[at] = NULL;
    jobs->count--;
    close_hole(jobs, at);
    job_free(job);
}

void jobs_free(struct jobs *jobs)
{
    for (size_t i = 0; i < jobs->room; i++)
        job_free(jobs->slots[i]);
    free(jobs->slots);
    *jobs = (struct jobs){0};
}

/* ---- Jobs in an order --------------------------------------------------------------------------- */

static bool comes_before(const struct job_queue *queue, const epop_policy_job_t *one, const epop_policy_job_t *other)
{
    int order = queue->order(one, other);
    return order < 0 || (!order && one->id < other->id);
}

/* How many come before it. */
static size_t place_in_order(const struct job_queue *queue, const epop_policy_job_t *job)
{
    size_t low = 0, high = queue->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (comes_before(queue, queue->room[queue->first + middle], job))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* `count` of them from `from` on go to `to`. */
static void shift_items(struct job_queue *queue, size_t to, size_t from, size_t count)
{
    if (count > 0)
        memmove(queue->room + to, queue->room + from, count * sizeof *queue->room);
}

/* The room in front is used again when it is half of all, so that moving back costs little for each job. */
int job_queue_reserve(struct job_queue *queue, size_t more)
{
    size_t wanted = queue->count + more;
    if (queue->first + wanted <= queue->size)
        return 0;
    if (2 * wanted > queue->size && array_reserve(&queue->room, &queue->size, 2 * wanted, sizeof *queue->room))
        return -1;
    shift_items(queue, 0, queue->first, queue->count);
    queue->first = 0;
    return 0;
}

void job_queue_add(struct job_queue *queue, const struct job *job)
{
    size_t at = place_in_order(queue, &job->view);
    shift_items(queue, queue->first + at + 1, queue->first + at, queue->count - at);
    queue->room[queue->first + at] = &job->view;
    queue->count++;
}

/* The shorter end moves. */
void job_queue_remove(struct job_queue *queue, const struct job *job)
{
    size_t at = place_in_order(queue, &job->view);
    if (at < queue->count / 2) {
        shift_items(queue, queue->first + 1, queue->first, at);
        queue->first++;
    } else {
        shift_items(queue, queue->first + at, queue->first + at + 1, queue->count - at - 1);
    }
    queue->count--;
}

static int in_order(const void *one, const void *other, void *queue)
{
    const epop_policy_job_t *a = *(const epop_policy_job_t *const *)one, *b = *(const epop_policy_job_t *const *)other;
    return comes_before(queue, a, b) ? -1 : comes_before(queue, b, a);
}

void job_queue_sort(struct job_queue *queue)
{
    if (queue->count > 0)
        qsort_r(queue->room + queue->first, queue->count, sizeof *queue->room, in_order, queue);
}

const epop_policy_job_t *const *job_queue_items(const struct job_queue *queue)
{
    return (const epop_policy_job_t *const *)(queue->room ? queue->room + queue->first : NULL);
}

void job_queue_free(struct job_queue *queue)
{
    free(queue->room);
    queue->room = NULL;
    queue->first = queue->count = queue->size = 0;
}
