/*
 * Slurm is read by a thread of its own, again and again, as slurmctld may take its time, or be away. Meanwhile the
 * adviser goes on with what was read last.
 */
#ifndef SCHEDULER_SLURM_READING_H
#define SCHEDULER_SLURM_READING_H

#include <pthread.h>
#include <stdbool.h>

#include "runtime/base/error.h"
#include "scheduler/slurm/module.h"
#include "scheduler/slurm/view.h"

/* ---- What squeue and sinfo print ---------------------------------------------------------------- */

/* In formats of ours, read back. The fields are parted by: */
#define READING_FIELD "\x1f"

/* The text is cut into its fields meanwhile. -1: a record is not as it should be; some may have been given. */
int reading_parse_jobs(char *text, const char *mark, const struct slurm_sink *sink, void *to, struct error *error);
int reading_parse_nodes(char *text, const struct slurm_sink *sink, void *to, struct error *error);

/* ---- One reading -------------------------------------------------------------------------------- */

/* By libslurm where its module is there, else by squeue and sinfo. */
struct queue_reader {
    const char *name;                  /* for the line at the start: "libslurm", "squeue" */
    const struct slurm_module *module; /* NULL: by commands */
};

/* `how`: "libslurm", "squeue", or NULL: the best that is there. */
int reading_choose(struct queue_reader *reader, const char *how, struct error *error);

/* Of the Slurm that it reads, as "22.05.8"; false: it could not be found out. */
enum { READING_VERSION = 32 };
bool reading_version(const struct queue_reader *reader, char version[READING_VERSION]);

/* May take seconds while slurmctld is away. 0: `view` is all of it, the caller's to free; 1: nothing has changed since
 * the last call, unless `again`; -1: Slurm does not answer. */
int reading_once(const struct queue_reader *reader, bool again, struct slurm_view *view, struct error *error);

/* ---- The thread --------------------------------------------------------------------------------- */

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
