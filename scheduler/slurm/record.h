/*
 * What the adviser writes down of Slurm's jobs and nodes, for epoprm report: when each job was submitted, started and
 * gone, on which nodes it was meanwhile, companions' included, and its resizes. Slurm's view does not say how a job
 * ended. In the journal, of which jobs that ended long ago are taken out.
 */
#ifndef SCHEDULER_SLURM_RECORD_H
#define SCHEDULER_SLURM_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "scheduler/journal/journal.h"
#include "scheduler/slurm/advised.h"
#include "scheduler/slurm/view.h"

struct recorded {
    int64_t job;
    double submitted; /* a number that Slurm gives out again is another job's */
    bool started, there;
    char *nodes; /* where it is, as the journal has it; NULL: nowhere yet */
};

/* What the journal has of those that have not ended. All zero: nothing was read yet. */
struct slurm_record {
    bool begun, failed;    /* failed: that it cannot be written was said */
    struct recorded *jobs; /* by number */
    size_t count, room;
    uint64_t nodes; /* a hash of the nodes that were written */
};

/* What is new in this view, at that time since 1970. 0, or -1 with one line the first time; then nothing of it was
 * written, and the next view has it too. */
int record_view(struct slurm_record *record, struct journal *journal, const struct slurm_view *view,
                const struct advised_table *table, double now, struct error *error);

/* A resize is over: `asked` and `now` since 1970, `why` NULL where it was done, else why it was refused. */
void record_resize(struct journal *journal, const struct advised *job, double asked, double now, const char *why);

void record_free(struct slurm_record *record);

#endif
