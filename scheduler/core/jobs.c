/* Jobs by their numbers: see jobs.h. */
#include "scheduler/core/jobs.h"

#include <stdlib.h>

#include "runtime/base/hash.h"

#define SMALLEST 64

static size_t home(const struct jobs *jobs, int64_t id)
{
    return (size_t)hash_bytes(HASH_BEGIN, &id, sizeof id) & (jobs->room - 1);
}

/* Where it is, or where it would be put. */
static size_t place(const struct jobs *jobs, int64_t id)
{
    size_t at = home(jobs, id);
    while (jobs->slots[at] && jobs->slots[at]->view.id != id)
        at = (at + 1) & (jobs->room - 1);
    return at;
}

struct job *jobs_find(const struct jobs *jobs, int64_t id)
{
    return jobs->room ? jobs->slots[place(jobs, id)] : NULL;
}

static int grow(struct jobs *jobs)
{
    size_t room = jobs->room ? 2 * jobs->room : SMALLEST;
    struct jobs larger = {calloc(room, sizeof *larger.slots), room, jobs->count};
    if (!larger.slots)
        return -1;
    for (size_t i = 0; i < jobs->room; i++) {
        if (jobs->slots[i])
            larger.slots[place(&larger, jobs->slots[i]->view.id)] = jobs->slots[i];
    }
    free(jobs->slots);
    *jobs = larger;
    return 0;
}

int jobs_add(struct jobs *jobs, struct job *job)
{
    if (2 * (jobs->count + 1) > jobs->room && grow(jobs))
        return -1;
    jobs->slots[place(jobs, job->view.id)] = job;
    jobs->count++;
    return 0;
}

/* Those behind a hole that a search would no longer find move up. */
static void close_hole(struct jobs *jobs, size_t hole)
{
    for (size_t at = (hole + 1) & (jobs->room - 1); jobs->slots[at]; at = (at + 1) & (jobs->room - 1)) {
        size_t from_home = (at - home(jobs, jobs->slots[at]->view.id)) & (jobs->room - 1);
        if (from_home >= ((at - hole) & (jobs->room - 1))) {
            jobs->slots[hole] = jobs->slots[at];
            jobs->slots[at] = NULL;
            hole = at;
        }
    }
}

void jobs_remove(struct jobs *jobs, struct job *job)
{
    size_t at = place(jobs, job->view.id);
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
