/* From Slurm's view to the core's state: the nodes of each running job, then the core with all jobs and nodes. */
#include "scheduler/slurm/model.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/base/array.h"
#include "scheduler/slurm/view.h"

/* ---- The nodes of a running job ----------------------------------------------------------------- */

bool holding_is_companion(const struct slurm_view *view, const struct slurm_job *job)
{
    const struct slurm_job *main = view_job(view, view_companion_of(job->name));
    return main && main != job && main->uid == job->uid && main->state != SLURM_JOB_WAITS;
}

static bool has_node(const struct holding *holding, int node)
{
    for (int i = 0; i < holding->count; i++)
        if (holding->nodes[i] == node)
            return true;
    return false;
}

static int add_node(struct holding *holding, int node)
{
    if (node < 0 || has_node(holding, node))
        return 0;
    if (array_reserve(&holding->nodes, &holding->room, (size_t)holding->count + 1, sizeof *holding->nodes))
        return -1;
    holding->nodes[holding->count++] = node;
    return 0;
}

static int add_hosts(struct holding *holding, const struct slurm_view *view, const struct hostlist *hosts)
{
    for (int i = 0; i < hosts->count; i++)
        if (add_node(holding, view_node(view, hosts->names[i])))
            return -1;
    return 0;
}

/* One that has no ranks comes or goes by itself: its node is nobody's. */
static bool companion_counts(const struct holding *holding, const struct slurm_job *companion)
{
    const struct advised *advised = holding->advised;
    if (!advised || !advised_is_ready(advised) || advised_is_busy(advised))
        return true;
    for (int i = 0; i < companion->hosts.count; i++)
        if (told_runs_on(&advised->told, companion->hosts.names[i]))
            return true;
    return false;
}

static int add_companions(struct holding *holding, const struct slurm_view *view)
{
    for (size_t i = 0; i < view->job_count; i++) {
        const struct slurm_job *job = &view->jobs[i];
        if (view_companion_of(job->name) != holding->job->id || job->uid != holding->job->uid)
            continue;
        holding->queued += job->state == SLURM_JOB_WAITS;
        if (job->state == SLURM_JOB_RUNS && companion_counts(holding, job) && add_hosts(holding, view, &job->hosts))
            return -1;
    }
    return 0;
}

/* Idle still to Slurm, or the companions' already: then they are in the list, and count as had. */
static int add_wanted(struct holding *holding, const struct slurm_view *view)
{
    const struct hostlist *nodes = &holding->advised->ask.nodes;
    int before = holding->count;
    for (int i = 0; holding->advised->ask.kind == ASK_GROW && i < nodes->count; i++) {
        int node = view_node(view, nodes->names[i]);
        if (node >= 0 && view->nodes[node].state == SLURM_NODE_IDLE && add_node(holding, node))
            return -1;
    }
    holding->wanted = holding->count - before;
    return 0;
}

int holding_of(struct holding *holding, const struct slurm_view *view, const struct slurm_job *job,
               const struct advised_table *table)
{
    *holding = (struct holding){.job = job};
    int failed = add_hosts(holding, view, &job->hosts);
    holding->own = holding->count;
    if (!failed && job->state == SLURM_JOB_RUNS && view_range_of_comment(job->comment, &holding->min, &holding->max)) {
        holding->advised = advised_find(table, job->id);
        failed = add_companions(holding, view) || (holding->advised && add_wanted(holding, view));
    }
    if (failed)
        holding_free(holding);
    return failed ? -1 : 0;
}

void holding_free(struct holding *holding)
{
    free(holding->nodes);
    *holding = (struct holding){0};
}

char *holding_names(const struct holding *holding, const struct slurm_view *view, int count)
{
    struct hostlist list = {.names = calloc((size_t)count + 1, sizeof *list.names), .count = count};
    for (int i = 0; list.names && i < count; i++)
        list.names[i] = view->nodes[holding->nodes[i]].name;
    char *text = list.names ? hostlist_text(&list, 0) : NULL;
    free(list.names);
    return text;
}

/* ---- What a job may take ------------------------------------------------------------------------ */

static const double apart = 1e-5; /* seconds */

static const struct core_costs costs = {.base = 0.05, .per_node = 0.01, .per_byte = 0};

const struct holding *model_holding(const struct model *model, int64_t job)
{
    for (int i = 0; i < model->holding_count; i++)
        if (model->holdings[i].job->id == job)
            return &model->holdings[i];
    return NULL;
}

/* Companions go where the job's last one went, else to its own partition. */
static const struct slurm_partition *partition_of(const struct slurm_view *view, const struct slurm_job *job)
{
    const char *name = job->partition;
    for (size_t i = 0; i < view->job_count; i++)
        if (view_companion_of(view->jobs[i].name) == job->id && view->jobs[i].uid == job->uid)
            name = view->jobs[i].partition;
    return view_partition(view, name);
}

bool model_may_take(const struct model_input *input, const struct slurm_job *job, int node)
{
    const struct slurm_partition *partition = partition_of(input->view, job);
    const struct slurm_node *slurm = &input->view->nodes[node];
    if (!partition || !partition->up || slurm->state != SLURM_NODE_IDLE || slurm->planned)
        return false;
    for (int i = 0; i < partition->count; i++)
        if (partition->nodes[i] == node)
            return true;
    return false;
}

static int find_nodes(struct model *model, int machine)
{
    const struct slurm_view *view = model->input->view;
    model->place = calloc(view->node_count + 1, sizeof *model->place);
    model->node = calloc(view->node_count + 1, sizeof *model->node);
    model->taken = calloc(view->node_count + 1, sizeof *model->taken);
    model->holdings = calloc(view->job_count + 1, sizeof *model->holdings);
    if (!model->place || !model->node || !model->taken || !model->holdings)
        return -1;
    for (size_t i = 0; i < view->node_count; i++) {
        bool ours = model->input->machines->of[i] == machine;
        model->place[i] = ours ? model->count : -1;
        if (ours)
            model->node[model->count++] = (int)i;
    }
    return 0;
}

/* ---- Jobs that run ------------------------------------------------------------------------------ */

/* What is left to it of its nodes: a node that jobs share is the first one's. */
static int take_nodes(struct model *model, const struct holding *holding, int *list)
{
    int count = 0;
    for (int i = 0; i < holding->count; i++) {
        int place = model->place[holding->nodes[i]];
        if (place >= 0 && !model->taken[place])
            list[count++] = place;
    }
    for (int i = 0; i < count; i++)
        model->taken[list[i]] = true;
    return count;
}

static int idle_for(const struct model *model, const struct holding *holding)
{
    int count = 0;
    for (int i = 0; i < model->count; i++)
        count += !model->taken[i] && model_may_take(model->input, holding->job, model->node[i]);
    return count;
}

/* Which node counts it accepts, now; sizes[] has room for all. */
static int sizes_of(const struct model *model, const struct holding *holding, int count, int *sizes)
{
    const struct advised *advised = holding->advised;
    double now = model->input->monotonic;
    int found = 0, least = holding->min > holding->own ? holding->min : holding->own;
    int most = count + idle_for(model, holding);
    most = most < holding->max ? most : holding->max;
    if (holding->queued || now < advised->no_grow_until)
        most = count;
    if (now < advised->no_shrink_until)
        least = count;
    for (int size = least < count ? least : count; size <= most || size <= count; size++) {
        bool in_range = size >= least && size <= most;
        if (size == count || (in_range && told_accepts(&advised->told, size * advised->told.slots)))
            sizes[found++] = size;
    }
    return found;
}

static bool is_limited(const struct slurm_job *job)
{
    return isfinite(job->limit) && job->limit < 365 * MODEL_LONG;
}

static double limit_of(const struct slurm_job *job)
{
    double limit = is_limited(job) ? job->limit : MODEL_LONG;
    return limit > 1 ? limit : 1;
}

double model_left(const struct slurm_job *job, const struct advised *advised, double wall)
{
    double left = job->started + limit_of(job) - wall;
    if (advised && advised->told.known && advised->told.left >= 0 && (advised->told.left < left || !is_limited(job)))
        left = advised->told.left;
    if (job->state == SLURM_JOB_ENDS)
        left = 1;
    return left > 1 ? left : 1;
}

static int tell_samples(const struct model *model, const struct holding *holding, struct error *error)
{
    const struct told *told = &holding->advised->told;
    double change;
    for (int i = 0; i < told->samples.count; i++) {
        epop_policy_sample_t sample = told->samples.items[i];
        sample.nodes = (sample.nodes + told->slots - 1) / told->slots;
        sample.phase = sample.phase == told_phase(told) ? 0 : sample.phase + 1;
        if (core_measured(model->core, holding->job->id, &sample, &change, error))
            return -1;
    }
    return 0;
}

struct running {
    struct core_job job;
    struct core_place place;
    epop_policy_phase_t phase; /* the present one is all that is told */
};

/* The program's wish, or as much as there is. */
static int wanted_of(const struct told *told, const epop_policy_range_t *range)
{
    int fit = told->preferred > 0 ? epop_policy_fit(range, told->preferred / told->slots) : range->max;
    return fit ? fit : range->min;
}

static void describe_running(const struct model *model, const struct holding *holding, int count, int *sizes,
                             struct running *running)
{
    bool ready = holding->advised && advised_is_ready(holding->advised) && holding->advised->ask.kind != ASK_BALANCE;
    int found = ready ? sizes_of(model, holding, count, sizes) : 0;
    if (!found)
        sizes[found++] = count;
    running->job = (struct core_job){.id = holding->job->id,
                                     .name = holding->job->name,
                                     .user = (int)holding->job->uid,
                                     .kind = ready ? EPOP_MALLEABLE : EPOP_RIGID,
                                     .wanted = count,
                                     .range = {sizes[0], sizes[found - 1], sizes, found},
                                     .limit = limit_of(holding->job)};
    if (ready) {
        running->job.wanted = wanted_of(&holding->advised->told, &running->job.range);
        running->phase = (epop_policy_phase_t){"present", holding->advised->told.elastic, running->job.range, 0};
        running->job.phases = &running->phase;
        running->job.phase_count = 1;
    }
}

static void set_place(const struct model *model, const struct holding *holding, int count, const int *list,
                      struct core_place *place)
{
    const struct advised *advised = holding->advised;
    double started = holding->job->started, now = model->input->wall;
    *place =
        (struct core_place){.started = started < now ? started : now, .nodes = count, .target = count, .list = list};
    if (advised && advised->told.resized > place->started && advised->told.resized < now)
        place->resized = advised->told.resized;
    if (advised && advised->ask.kind == ASK_GROW && advised->ask.from < count)
        place->nodes = advised->ask.from;
    if (advised && advised->ask.kind == ASK_SHRINK && advised->ask.to < count)
        place->target = advised->ask.to;
}

static int adopt_job(struct model *model, const struct holding *holding, struct error *error)
{
    int *list = calloc(2 * (size_t)model->count + 2, sizeof *list), *sizes = list + model->count + 1;
    struct running running;
    if (!list)
        return error_memory(error);
    int count = take_nodes(model, holding, list), failed = 0;
    if (count) {
        describe_running(model, holding, count, sizes, &running);
        set_place(model, holding, count, list, &running.place);
        failed =
            core_submit(model->core, model->input->wall, &running.job, error) ||
            core_weak(model->core, running.job.id, holding->advised && holding->advised->told.weak, error) ||
            core_adopt(model->core, model->input->wall, running.job.id, &running.place, error) ||
            core_told(model->core, model->input->wall, running.job.id,
                      model_left(holding->job, advised_find(model->input->table, holding->job->id), model->input->wall),
                      error) ||
            (running.job.kind == EPOP_MALLEABLE && tell_samples(model, holding, error));
    }
    free(list);
    return failed;
}

static int find_holdings(struct model *model, struct error *error)
{
    const struct slurm_view *view = model->input->view;
    for (size_t i = 0; i < view->job_count; i++) {
        const struct slurm_job *job = &view->jobs[i];
        bool counted = job->state == SLURM_JOB_RUNS && holding_is_companion(view, job);
        if (job->state == SLURM_JOB_WAITS || counted)
            continue;
        if (holding_of(&model->holdings[model->holding_count], view, job, model->input->table))
            return error_memory(error);
        model->holding_count++;
    }
    return 0;
}

/* Malleable ones first: of nodes that are shared they are asked about theirs. */
static int adopt_all(struct model *model, struct error *error)
{
    for (int malleable = 1; malleable >= 0; malleable--)
        for (int i = 0; i < model->holding_count; i++)
            if ((model->holdings[i].max > 0) == malleable && adopt_job(model, &model->holdings[i], error))
                return -1;
    return 0;
}

/* ---- Nodes that nobody can have, and jobs that wait --------------------------------------------- */

static int close_nodes(struct model *model, struct error *error)
{
    for (int i = 0; i < model->count; i++)
        if (!model->taken[i] && model->input->view->nodes[model->node[i]].state != SLURM_NODE_IDLE &&
            core_node(model->core, i, false, error))
            return -1;
    return 0;
}

static bool is_in_queue(const struct model *model, const struct slurm_job *job, int machine)
{
    const struct model_input *input = model->input;
    return job->waits && !view_companion_of(job->name) && job->nodes >= 1 && job->nodes <= model->count &&
           machines_of_partition(input->machines, input->view, job->partition) == machine;
}

/* In Slurm's order, which need not be that of submission. */
static int submit_job(struct model *model, const struct slurm_job *job, double *last, struct error *error)
{
    struct core_job given = {.id = job->id,
                             .name = job->name,
                             .user = (int)job->uid,
                             .kind = EPOP_RIGID,
                             .wanted = job->nodes,
                             .range = {job->nodes, job->nodes, NULL, 0},
                             .limit = limit_of(job),
                             .promised = advised_promise(model->input->table, job->id)};
    *last = job->submitted > *last + apart ? job->submitted : *last + apart;
    *last = *last < model->input->wall ? *last : model->input->wall;
    return core_submit(model->core, *last, &given, error);
}

static int submit_queue(struct model *model, int machine, struct error *error)
{
    const struct slurm_view *view = model->input->view;
    double last = 0;
    for (size_t i = 0; i < view->job_count; i++)
        if (is_in_queue(model, &view->jobs[i], machine) && submit_job(model, &view->jobs[i], &last, error))
            return -1;
    return 0;
}

int model_build(struct model *model, const struct model_input *input, int machine, struct error *error)
{
    *model = (struct model){.input = input};
    if (find_nodes(model, machine)) {
        model_free(model);
        return error_memory(error);
    }
    if (!model->count)
        return 0;
    model->core = core_create(model->count, &costs, 0);
    if (!model->core || submit_queue(model, machine, error) || find_holdings(model, error) || adopt_all(model, error) ||
        close_nodes(model, error)) {
        int failed = model->core ? -1 : error_memory(error);
        model_free(model);
        return failed;
    }
    return 0;
}

void model_free(struct model *model)
{
    for (int i = 0; i < model->holding_count; i++)
        holding_free(&model->holdings[i]);
    core_destroy(model->core);
    free(model->holdings);
    free(model->place);
    free(model->node);
    free(model->taken);
    *model = (struct model){0};
}
