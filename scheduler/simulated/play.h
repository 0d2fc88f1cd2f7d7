/*
 * A job of the simulator, from its submission to its end. docs/reference/simulator.md says what is modelled: phases,
 * their iterations, resizes, measurements, and what evolving jobs ask for.
 */
#ifndef SCHEDULER_SIMULATED_PLAY_H
#define SCHEDULER_SIMULATED_PLAY_H

#include "scheduler/simulated/run.h"

/* EVENT_SUBMIT. One that can never run is over at once, and the schedule says why. */
int play_submit(struct run *run, struct play *play, struct error *error);

int play_start(struct run *run, struct play *play, const struct decision *decision, struct error *error);

/* EVENT_PHASE: it moves what is due; or the phase is done, and the next one begins, or the job ends. */
int play_computed(struct run *run, struct play *play, struct error *error);

/* EVENT_MOVED: whose transfer it was goes on, or has its new size. */
int play_moved(struct run *run, enum shared on, struct error *error);

/* Whether this phase moves bytes, and that takes time here. */
bool play_moves(const struct run *run, const struct phase *phase);

/* EVENT_LIMIT: it ends, and is not done. */
int play_limit_reached(struct run *run, struct play *play, struct error *error);

/* EVENT_DEADLINE: it is given up, or looked at again when its deadline is over. */
int play_deadline(struct run *run, struct play *play, struct error *error);

/* EVENT_MEASURE. The first sample at a size is news to the policy. */
int play_measure(struct run *run, struct play *play, struct error *error);

/* It lost a node: it waits again, and will begin anew. */
int play_requeue(struct run *run, struct play *play, struct error *error);

/* ---- Resizes ------------------------------------------------------------------------------------ */

int play_resize(struct run *run, struct play *play, const struct decision *decision, struct error *error);

/* EVENT_RESIZE: the next step is due. */
int play_resize_step(struct run *run, struct play *play, struct error *error);

/* Called off; the job goes on as before. why: the end of the line "resize of job 7 to 12 nodes is refused: ...". */
int play_resize_refuse(struct run *run, struct play *play, const char *why, struct error *error);

/* The job is no more: there is no resize. */
void play_resize_drop(struct play *play);

/* It gets this node, and does not compute on it yet. */
bool play_awaits(const struct play *play, int node);

#endif
