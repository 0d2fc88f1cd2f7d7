/* Reading Slurm: by libslurm where its module is there, else by squeue and sinfo. */
#ifndef SCHEDULER_SLURM_QUEUE_H
#define SCHEDULER_SLURM_QUEUE_H

#include <stdbool.h>

#include "runtime/base/error.h"
#include "scheduler/slurm/view.h"

struct queue_reader {
    const char *name;                  /* for the line at the start: "libslurm", "squeue" */
    const struct slurm_module *module; /* NULL: by commands */
};

/* `how`: "libslurm", "squeue", or NULL: the best that is there. */
int queue_reader_choose(struct queue_reader *reader, const char *how, struct error *error);

/* May take seconds while slurmctld is away. 0: `view` is all of it, the caller's to free; 1: nothing has changed since
 * the last call, unless `again`; -1: Slurm does not answer. */
int queue_reader_read(const struct queue_reader *reader, bool again, struct slurm_view *view, struct error *error);

#endif
