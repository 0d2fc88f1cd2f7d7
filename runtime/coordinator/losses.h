/* Processes whose connection is lost: which of them the job can do without. */
#ifndef EPOP_COORDINATOR_LOSSES_H
#define EPOP_COORDINATOR_LOSSES_H

struct coordinator;

void losses_take(struct coordinator *c, int process);

#endif
