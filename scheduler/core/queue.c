/* Jobs in an order: see queue.h. */
#include "scheduler/core/queue.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"

static bool before(const struct queue *queue, const epop_policy_job_t *one, const epop_policy_job_t *other)
{
    double a = queue->key(one), b = queue->key(other);
    return a < b || (a <= b && one->id < other->id);
}

/* How many come before it. */
static size_t place(const struct queue *queue, const epop_policy_job_t *job)
{
    size_t low = 0, high = queue->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (before(queue, queue->room[queue->first + middle], job))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* `count` of them from `from` on go to `to`. */
static void shift(struct queue *queue, size_t to, size_t from, size_t count)
{
    if (count > 0)
        memmove(queue->room + to, queue->room + from, count * sizeof *queue->room);
}

/* The room in front is used again when it is half of all, so that moving back costs little for each job. */
int queue_reserve(struct queue *queue, size_t more)
{
    size_t wanted = queue->count + more;
    if (queue->first + wanted <= queue->size)
        return 0;
    if (2 * wanted > queue->size && array_reserve(&queue->room, &queue->size, 2 * wanted, sizeof *queue->room))
        return -1;
    shift(queue, 0, queue->first, queue->count);
    queue->first = 0;
    return 0;
}

void queue_add(struct queue *queue, const struct job *job)
{
    size_t at = place(queue, &job->view);
    shift(queue, queue->first + at + 1, queue->first + at, queue->count - at);
    queue->room[queue->first + at] = &job->view;
    queue->count++;
}

/* The shorter end moves. */
void queue_remove(struct queue *queue, const struct job *job)
{
    size_t at = place(queue, &job->view);
    if (at < queue->count / 2) {
        shift(queue, queue->first + 1, queue->first, at);
        queue->first++;
    } else {
        shift(queue, queue->first + at, queue->first + at + 1, queue->count - at - 1);
    }
    queue->count--;
}

const epop_policy_job_t *const *queue_items(const struct queue *queue)
{
    return (const epop_policy_job_t *const *)(queue->room ? queue->room + queue->first : NULL);
}

void queue_free(struct queue *queue)
{
    free(queue->room);
    queue->room = NULL;
    queue->first = queue->count = queue->size = 0;
}
