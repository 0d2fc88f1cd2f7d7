/* Which nodes a running job has: its own, those of its companions, and those that it was just asked to take. */
#ifndef SCHEDULER_SLURM_HOLDING_H
#define SCHEDULER_SLURM_HOLDING_H

#include "scheduler/slurm/advised.h"
#include "scheduler/slurm/view.h"

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

/* Is it a companion of a job that is there, of the same user? Then its nodes are that job's. */
bool holding_is_companion(const struct slurm_view *view, const struct slurm_job *job);

#endif
