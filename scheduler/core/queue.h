/* Jobs in an order, those that come later mostly behind, those that leave mostly in front: an array with room at both
 * ends. Owns no job. */
#ifndef SCHEDULER_CORE_QUEUE_H
#define SCHEDULER_CORE_QUEUE_H

#include <stddef.h>

#include "scheduler/core/job.h"

struct queue {
    double (*key)(
        const epop_policy_job_t *job); /* they are by it, then by id; it does not change while they are here */
    const epop_policy_job_t **room;
    size_t first, count, size;
};

/* Room for that many more; -1: no memory. */
int queue_reserve(struct queue *queue, size_t more);

/* There must be room. */
void queue_add(struct queue *queue, const struct job *job);
/* It must be there. */
void queue_remove(struct queue *queue, const struct job *job);

/* The first of them. */
const epop_policy_job_t *const *queue_items(const struct queue *queue);
void queue_free(struct queue *queue);

#endif
