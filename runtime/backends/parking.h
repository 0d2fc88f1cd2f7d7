/* Processes that left and stand by, to join again: on the coordinator's thread, beside launcher.h. */
#ifndef EPOP_PARKING_H
#define EPOP_PARKING_H

#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/processes.h"

/* Takes those that stand by on the hosts named (NULL: any), as many as there are and are needed, for the first
 * a->parked of a->joiners. */
void parking_choose(const struct coordinator *c, struct adaptation *a, const char *hosts);

/* What a joiner has to know to find the others: the message that wakes it, without which of them it is. */
cJSON *parking_wake(const struct coordinator *c, const struct adaptation *a);

/* The hooks of struct backend, for the parked among the joiners. */
void parking_start(struct coordinator *c, const struct adaptation *a);
void parking_cancel(struct coordinator *c, const struct adaptation *a);
void parking_kill(struct coordinator *c, const struct adaptation *a);
double parking_tick(struct coordinator *c);

/* Kills it, if it runs on this host. */
void parking_kill_here(const struct coordinator *c, int process);

#endif
