/* Processes that are lost: see losses.h. */
#include "runtime/coordinator/losses.h"

#include <stdio.h>

#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/dump.h"
#include "runtime/coordinator/fatal.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/state.h"

/* One that stood by. Has it been chosen, and not been woken yet? */
static void parked_is_gone(struct coordinator *c, int process)
{
    struct adaptation *a = adaptation_pending(c);
    processes_gone(c, process);
    for (int j = 0; a && a->state == ADAPTATION_PREPARING && !a->started && j < a->parked; j++)
        if (a->joiners[j] == process) {
            adaptation_fail(c, "a process that stood by, and was to join, is gone");
            return;
        }
}

/* The first process's Slurm job is the job's own, any other was lent. What is left of one may run on for nothing: its
 * host may have died, and be back. */
static void tell_of_companion(struct coordinator *c, int slurm_job)
{
    if (!slurm_job || slurm_job == process_at(c, 0)->slurm_job || !c->config.ops->lost_companion)
        return;
    for (int p = 0; p < c->processes.count; p++)
        if (process_at(c, p)->slurm_job == slurm_job && process_at(c, p)->state != PROCESS_GONE)
            return;
    c->config.ops->lost_companion(c->config.context, slurm_job);
}

/* A process is gone without a word. In one launch that is the process manager's business too, but it need not
 * notice (a stopped network, cleanup switched off), and the ranks that are left would hang. */
static void take(struct coordinator *c, int process)
{
    struct process *p = process_at(c, process);
    struct adaptation *a = adaptation_pending(c);
    char text[200];
    bool own_launch = c->config.backend->flags & BACKEND_ENDS;
    if (dump_is_of(c, process))
        fatal_fault(c, NULL);
    if (own_launch && p->state == PROCESS_RETURNING)
        processes_gone(c, process);
    if (own_launch && p->state == PROCESS_LEAVING && p->through) /* given up, as it did not answer */
        processes_gone(c, process);
    if (own_launch && p->state == PROCESS_STANDBY)
        parked_is_gone(c, process);
    if (c->ending.finished || p->state == PROCESS_LOST || (own_launch && p->state == PROCESS_GONE))
        return;
    bool in_window = adaptation_is(c, ADAPTATION_WINDOW), merges = a && a->preconnect == PRECONNECT_MERGES;
    bool can_do_without =
        !(in_window || merges) || (in_window && a->connected == 0 && c->config.backend->flags & BACKEND_KILLS);
    if (p->state == PROCESS_JOINING && own_launch && a && can_do_without) {
        snprintf(text, sizeof text, "a joining process (pid %d on %s) is gone", p->pid, p->host);
        processes_gone(c, process);
        if (in_window)
            adaptation_end_joiners(c); /* the old ranks' connect then fails, and they go on */
        else
            adaptation_fail(c, text);
        return;
    }
    process_become(p, PROCESS_LOST);
    snprintf(text, sizeof text, "process %d (rank %d, pid %d on %s) is gone; the job cannot go on without it", process,
             p->rank, p->pid, p->host);
    fatal_fault(c, text);
}

void losses_take(struct coordinator *c, int process)
{
    take(c, process);
    tell_of_companion(c, process_at(c, process)->slurm_job);
}
