/* All jobs by their numbers: a hash with open addressing. Owns them. */
#ifndef SCHEDULER_CORE_JOBS_H
#define SCHEDULER_CORE_JOBS_H

#include <stddef.h>
#include <stdint.h>

#include "scheduler/core/job.h"

struct jobs {
    struct job **slots;
    size_t room, count; /* room: 0, or a power of two */
};

/* NULL: there is none. */
struct job *jobs_find(const struct jobs *jobs, int64_t id);

/* One that is not there yet. -1: no memory. */
int jobs_add(struct jobs *jobs, struct job *job);

/* Out of the table, and freed. */
void jobs_remove(struct jobs *jobs, struct job *job);
void jobs_free(struct jobs *jobs);

#endif
