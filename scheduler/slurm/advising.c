/* Decisions: see advising.h. */
#include "scheduler/slurm/advising.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "scheduler/slurm/asking.h"
#include "scheduler/slurm/model.h"

static int add_name(struct hostlist *list, int most, const char *name)
{
    if (!list->names)
        list->names = calloc((size_t)most, sizeof *list->names);
    char *copy = list->names ? strdup(name) : NULL;
    if (!copy)
        return -1;
    list->names[list->count++] = copy;
    return 0;
}

/* ---- Growing ------------------------------------------------------------------------------------ */

/* Which idle nodes of the core nobody has in this plan: those of starts are Slurm's to give. */
static void mark_used(const struct model *model, const struct decisions *decisions, bool *used)
{
    for (int i = 0; i < model->count; i++)
        used[i] = model->taken[i];
    for (int i = 0; i < decisions->count; i++) {
        const struct decision *decision = &decisions->items[i];
        bool takes =
            decision->kind == DECISION_START || (decision->kind == DECISION_RESIZE && decision->to > decision->from);
        for (int k = 0; takes && k < decision->count; k++)
            used[decision->nodes[k]] = true;
    }
}

/* The core's choice where the job may have it, else another one. */
static int choose(const struct model *model, const struct slurm_job *job, int node, bool *used)
{
    if (model_may_take(model->input, job, model->node[node]))
        return node;
    for (int i = 0; i < model->count; i++)
        if (!used[i] && model_may_take(model->input, job, model->node[i])) {
            used[i] = true;
            used[node] = false;
            return i;
        }
    return -1;
}

static void grow(struct adviser *adviser, const struct model *model, const struct decision *decision, bool *used)
{
    const struct holding *holding = model_holding(model, decision->job);
    struct hostlist nodes = {0};
    for (int i = 0; i < decision->count; i++) {
        int node = choose(model, holding->job, decision->nodes[i], used);
        if (node >= 0 && add_name(&nodes, decision->count, adviser->view->nodes[model->node[node]].name))
            break;
    }
    int to = decision->from + nodes.count, slots = holding->advised->told.slots;
    if (nodes.count && told_accepts(&holding->advised->told, to * slots))
        asking_resize(adviser, holding->advised, ASK_GROW, &nodes, decision->from, to, decision->reason);
    hostlist_free(&nodes);
}

/* ---- Shrinking ---------------------------------------------------------------------------------- */

/* Never its own nodes; of companions the newest first. */
static void shrink(struct adviser *adviser, const struct model *model, const struct decision *decision)
{
    const struct holding *holding = model_holding(model, decision->job);
    int count = decision->from - decision->to;
    struct hostlist nodes = {0};
    for (int i = holding->count - 1; i >= holding->own && nodes.count < count; i--) {
        const char *name = adviser->view->nodes[holding->nodes[i]].name;
        if (told_runs_on(&holding->advised->told, name) && add_name(&nodes, count, name))
            break;
    }
    if (nodes.count == count)
        asking_resize(adviser, holding->advised, ASK_SHRINK, &nodes, decision->from, decision->to, decision->reason);
    hostlist_free(&nodes);
}

/* ---- A plan ------------------------------------------------------------------------------------- */

static void carry_out(struct adviser *adviser, const struct model *model, const struct decision *decision, bool *used)
{
    const struct holding *holding = model_holding(model, decision->job);
    if (decision->kind == DECISION_RESERVE)
        advised_promised(&adviser->table, decision->job, decision->time);
    if (decision->kind != DECISION_RESIZE || !holding || !holding->advised || !advised_is_ready(holding->advised) ||
        advised_is_busy(holding->advised))
        return;
    if (decision->to > decision->from)
        grow(adviser, model, decision, used);
    else
        shrink(adviser, model, decision);
}

static void carry_out_all(struct adviser *adviser, const struct model *model, const struct decisions *decisions)
{
    bool *used = calloc((size_t)model->count + 1, sizeof *used);
    if (!used)
        return;
    mark_used(model, decisions, used);
    for (int i = 0; i < decisions->count; i++)
        carry_out(adviser, model, &decisions->items[i], used);
    free(used);
}

/* A policy that is wrong is wrong again: once is enough. */
static void complain(struct adviser *adviser, const struct error *error)
{
    if (!strncmp(adviser->policy_complaint, error->text, sizeof adviser->policy_complaint - 1))
        return;
    snprintf(adviser->policy_complaint, sizeof adviser->policy_complaint, "%.199s", error->text);
    struct journal_event event = {.time = wall_seconds(), .at = -1, .kind = "daemon", .text = error->text};
    adviser_tell(adviser, &event);
}

static double decide(struct adviser *adviser, const struct model_input *input, int machine)
{
    struct model model;
    struct decisions decisions;
    struct error error;
    double wake = INFINITY;
    if (model_build(&model, input, machine, &error)) {
        complain(adviser, &error);
        return wake;
    }
    if (model.core && core_decide(model.core, input->wall, &adviser->policy, &decisions, &error)) {
        complain(adviser, &error);
    } else if (model.core) {
        carry_out_all(adviser, &model, &decisions);
        wake = decisions.wake - input->wall;
    }
    model_free(&model);
    return wake;
}

double advising(struct adviser *adviser)
{
    struct machines machines;
    struct model_input input = {.view = adviser->view,
                                .table = &adviser->table,
                                .machines = &machines,
                                .wall = wall_seconds(),
                                .monotonic = monotonic_seconds()};
    double wake = INFINITY;
    if (machines_find(adviser->view, &machines))
        return wake;
    for (int i = 0; i < machines.count; i++)
        wake = fmin(wake, decide(adviser, &input, i));
    machines_free(&machines);
    return wake;
}
