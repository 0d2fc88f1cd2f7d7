/*
 * Slurm's view of one machine, as the scheduler core's state: made anew for each decision, so that nothing has to be
 * kept in step. Malleable jobs have their own nodes and their companions'; other jobs that run are rigid; what waits in
 * Slurm's queue waits here, in that order, and is started by Slurm.
 */
#ifndef SCHEDULER_SLURM_MODEL_H
#define SCHEDULER_SLURM_MODEL_H

#include "scheduler/core/core.h"
#include "scheduler/slurm/advised.h"
#include "scheduler/slurm/view.h"

/* ---- The nodes of a running job ----------------------------------------------------------------- */

/* Its own, those of its companions, and those that it was just asked to take. */
struct holding {
    const struct slurm_job *job;
    struct advised *advised; /* NULL: it is not malleable, or not known yet */
    int min, max;            /* nodes, by its comment; 0: not malleable */
    int *nodes;              /* of the view; own ones first, then companions' in the order of their jobs */
    int own, count;
    int wanted; /* at the end of the list: asked for, and not had yet */
    int queued; /* companions that wait: the job helps itself */
    size_t room;
};

/* -1: no memory. */
int holding_of(struct holding *holding, const struct slurm_view *view, const struct slurm_job *job,
               const struct advised_table *table);
void holding_free(struct holding *holding);
/* The first `count` nodes of it, "n1,n2". The caller's to free; NULL: no memory. */
char *holding_names(const struct holding *holding, const struct slurm_view *view, int count);

/* Is it a companion of a job that is there, of the same user? Then its nodes are that job's. */
bool holding_is_companion(const struct slurm_view *view, const struct slurm_job *job);

/* Seconds: what a job without a limit is taken to need. */
#define MODEL_LONG 86400.0

/* ---- The model ---------------------------------------------------------------------------------- */

struct model_input {
    const struct slurm_view *view;
    const struct advised_table *table;
    const struct machines *machines;
    double wall, monotonic; /* now, by both clocks */
};

struct model {
    const struct model_input *input;
    struct core *core;
    int *place; /* of a node of the view: its number in the core, or -1 */
    int *node;  /* of one of the core: its number in the view */
    int count;
    bool *taken;              /* nodes of the core that jobs hold */
    struct holding *holdings; /* of jobs that run */
    int holding_count;
};

/* -1: the core takes something not, which is a fault, or no memory. 0 with core NULL: there are no nodes. */
int model_build(struct model *model, const struct model_input *input, int machine, struct error *error);
void model_free(struct model *model);

/* NULL: none that runs. */
const struct holding *model_holding(const struct model *model, int64_t job);

/* Seconds that a job that runs still needs: by its progress, at most by its limit; `advised` may be NULL. */
double model_left(const struct slurm_job *job, const struct advised *advised, double wall);

/* May that job grow into that idle node of the view? */
bool model_may_take(const struct model_input *input, const struct slurm_job *job, int node);

#endif
