/*
 * Room for a job that waits: idle nodes, nodes that come, and those that other jobs can spare. Its size is the one at
 * which the job gains most over what the others lose.
 */
#ifndef SCHEDULER_POLICIES_GAIN_ROOM_H
#define SCHEDULER_POLICIES_GAIN_ROOM_H

#include <stdbool.h>

struct gain_round;
struct gain_job;

/* True: the job has been made one of the round's jobs (it starts now, or is held until nodes come). */
bool gain_room_make(struct gain_round *round, struct gain_job *job);

/* Running jobs give back so many nodes for something else than a start: they are the caller's when they come. If they
 * cannot, or lose more than it is worth: false, and what they can if `some`, else nothing. */
bool gain_room_free(struct gain_round *round, int nodes, double worth, bool some, const char *why);

#endif
