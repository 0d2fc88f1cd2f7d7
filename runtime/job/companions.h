/*
 * Companions: one-node jobs of Slurm that lend their nodes to a job in Slurm (docs/reference/slurm.md). What they do is
 * lib/epop/companion; this has the first process call it.
 */
#ifndef EPOP_JOB_COMPANIONS_H
#define EPOP_JOB_COMPANIONS_H

#include <stdbool.h>

#include "runtime/base/error.h"

/* The nodes that a job wants: "MIN-MAX", as --elastic has it, else $EPOP_ELASTIC. max is 0 where neither is given. */
struct companions_range {
    int min, max;
};
int companions_read(const char *option, struct companions_range *range, struct error *error);

/* The job may be found now: its Slurm job's comment says the range, and with `queue` (or $EPOP_COMPANIONS) as many
 * companions are submitted as are missing to `max`. Outside of Slurm a note says that nothing comes of it. Nobody
 * waits. Process 0. */
void companions_begin(const struct companions_range *range, bool queue, const char *job, int ranks);

/* Nothing runs any more in that Slurm job: if it is a companion, it ends. Nobody waits. Process 0, any thread. */
void companions_lost(int slurm_job);

/* The job is over, or about to be ended: its companions are to end, whoever queued them, those that run and those that
 * wait. Nobody waits. Process 0, any thread. */
void companions_drop(void);

/* The same, and has come about: 6 s at most later no helper runs any more. */
void companions_end(void);

#endif
