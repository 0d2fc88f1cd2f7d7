/*
 * Slurm is read by a thread of its own, again and again, as slurmctld may take its time, or be away: the adviser goes
 * on meanwhile, with what was read last.
 */
#ifndef SCHEDULER_SLURM_READING_H
#define SCHEDULER_SLURM_READING_H

#include <pthread.h>
#include <stdbool.h>

#include "scheduler/slurm/queue.h"

struct reading {
    struct queue_reader reader;
    int news; /* a descriptor: readable when there is a view that was not taken, or Slurm comes or goes */
    /* The thread's, under the lock. */
    pthread_mutex_t lock;
    pthread_cond_t poked;
    pthread_t thread;
    struct slurm_view *fresh;     /* not taken yet */
    double begun;                 /* when that was asked for: monotonic */
    bool away, hurry, owed, over; /* owed: this time the answer is told in any case */
    struct error why;
};

/* -1: it cannot begin. */
int reading_begin(struct reading *reading, const struct queue_reader *reader, struct error *error);
/* Waits for the thread, unless that waits for Slurm. */
void reading_end(struct reading *reading);

/* Once more, now. */
void reading_hurry(struct reading *reading);

/* The newest view, the caller's to free, or NULL: none since the last one. `asked`: when Slurm was asked for the last
 * time, with an answer: nothing has changed between the view and then. `away`: Slurm does not answer, and why. */
struct slurm_view *reading_take(struct reading *reading, double *asked, bool *away, struct error *why);

#endif
