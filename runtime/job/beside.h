/*
 * Programs that process 0 starts beside the job: the attendant that links it with an adviser, the gateway for tools of
 * PMIx, and the helper for companions in Slurm. What cannot be had is no fault of the job's, and nothing of it holds a
 * descriptor of the job.
 */
#ifndef EPOP_JOB_BESIDE_H
#define EPOP_JOB_BESIDE_H

#include <stdbool.h>

#include "runtime/base/error.h"

/* When the job has its address file. In a Slurm job that an adviser is named for, by $EPOP_ADVISER (HOST:PORT, or
 * "none"), else by the first line of `adviser` in the directory of address files, or of /etc/epop/adviser: the
 * attendant that connects the job with it (lib/epop/attend link). */
void beside_attend(const char *address_file);

/* Likewise. What standard tools of PMIx ask is answered by lib/epop/pmix-gateway. It sees by itself when the job ends.
 * Verbose, it says on stderr if this OpenPMIx was not tried. */
void beside_gateway(const char *address_file, bool verbose);

/* The job ends: so does the attendant, before whoever waits for the job's output. */
void beside_end(void);

/* ---- Companions --------------------------------------------------------------------------------- */

/* One-node jobs of Slurm that lend their nodes to a job in Slurm (docs/reference/slurm.md). What they do is
 * lib/epop/companion; this has the first process call it. */

/* The nodes that a job wants: "MIN-MAX", as --elastic has it, else $EPOP_ELASTIC. max is 0 where neither is given. */
struct beside_nodes {
    int min, max;
};
int beside_companions_read(const char *option, struct beside_nodes *range, struct error *error);

/* The job may be found now: its Slurm job's comment says the range, and with `queue` (or $EPOP_COMPANIONS) as many
 * companions are submitted as are missing to `max`. Outside of Slurm a note says that nothing comes of it. Nobody
 * waits. Process 0. */
void beside_companions_begin(const struct beside_nodes *range, bool queue, const char *job, int ranks);

/* Nothing runs any more in that Slurm job: if it is a companion, it ends. Nobody waits. Process 0, any thread. */
void beside_companion_lost(int slurm_job);

/* The job is over, or about to be ended: its companions are to end, whoever queued them, those that run and those that
 * wait. Nobody waits. Process 0, any thread. */
void beside_companions_drop(void);

/* The same, and has come about: 6 s at most later no helper runs any more. */
void beside_companions_end(void);

#endif
