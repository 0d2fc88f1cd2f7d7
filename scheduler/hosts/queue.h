/*
 * What keeps a job out of the queue, and its place in it: it comes after others that have to end well before, or is
 * held, and then the core does not know of it; its priority, account and deadline.
 */
#ifndef SCHEDULER_HOSTS_QUEUE_H
#define SCHEDULER_HOSTS_QUEUE_H

#include "scheduler/daemon/daemon.h"
#include "scheduler/hosts/state.h"

/* Is it in the queue, or may come into it? */
bool hosts_may_queue(const struct hosts_job *job);

/* It waits for the core from now on, as of then, which hears what earlier jobs of its program have shown. */
int hosts_enter_queue(struct hosts_job *job, double when, struct error *error);
/* For the next of its program. */
void hosts_keep_history(struct hosts_job *job);

/* ---- Holding, and priorities -------------------------------------------------------------------- */

/* By the journal. */
int hosts_queueing_read(struct hosts_job *job, struct error *error);
/* Into the journal, with an event of that kind; NULL: none. */
void hosts_queueing_keep(const struct hosts_job *job, const char *kind, const char *text);

/* ERROR_REFUSED: it does not wait any more. Again changes nothing. */
int hosts_hold(struct hosts_job *job, struct error *error);
/* It comes in behind those of its priority, unless it has to wait for others. */
int hosts_release(struct hosts_job *job, struct error *error);

/* The start that it was promised last, by the daemon before. */
int hosts_promise_read(struct hosts_job *job, struct error *error);

/* ---- What its user says of it ------------------------------------------------------------------- */

/* Can a job that takes so long, at most, from then on be wanted to have ended at that time; 0: nothing is said? What is
 * only wanted may be late. ERROR_REFUSED: no. */
int hosts_deadline_check(double deadline, bool drop_late, double from, double limit, struct error *error);

/* All of it, or nothing: -1. */
int hosts_change(struct hosts_job *job, const struct daemon_change *change, struct error *error);

/* ---- Jobs that come after others ---------------------------------------------------------------- */

/* Can a job come after these (ends with 0; NULL: none)? -1: one was never submitted, or has not ended well. */
int hosts_after_check(const struct hosts *hosts, const int64_t *after, struct error *error);

/* Which it comes after, by the journal. */
int hosts_after_read(struct hosts_job *job, struct error *error);

/* Of those that it comes after the ones that have ended well are struck out. */
enum after {
    AFTER_WAITS, /* still, or it comes after none */
    AFTER_READY, /* the last one has ended */
    AFTER_NEVER  /* one has not ended well: why */
};
enum after hosts_after_look(struct hosts_job *job, char why[HOSTS_REASON_MAX]);

#endif
