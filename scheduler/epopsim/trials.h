/* The workload under each policy. */
#ifndef SCHEDULER_EPOPSIM_TRIALS_H
#define SCHEDULER_EPOPSIM_TRIALS_H

#include <stddef.h>

#include "runtime/base/error.h"
#include "scheduler/epopsim/options.h"
#include "scheduler/simulated/schedule.h"
#include "scheduler/workload/workload.h"

struct trial {
    const char *spec; /* of its policy; not owned */
    struct schedule schedule;
};

/* Those that came to their end. */
struct trials {
    struct trial *trials;
    size_t count;
};

/* One after the other; options get the policies' names, if none was given. A policy that cannot be had: -1 before
 * anything runs. What fails in a run is said on standard error, and counted in *failed. */
int trials_run(struct trials *trials, struct options *options, const struct workload *workload, size_t *failed,
               struct error *error);
void trials_free(struct trials *trials);

#endif
