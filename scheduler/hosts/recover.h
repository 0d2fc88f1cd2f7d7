/* The daemon starts again: what the journal says is taken up where it was. */
#ifndef SCHEDULER_HOSTS_RECOVER_H
#define SCHEDULER_HOSTS_RECOVER_H

#include "scheduler/hosts/state.h"

/* Nodes, jobs, who holds what, and resizes that go on. -1: the journal is of other nodes, or cannot be read. */
int hosts_recover(struct hosts *hosts, struct error *error);

/* The loop is about to run: attendants are sought, and started where a job was not. */
void hosts_recover_go_on(struct hosts *hosts);

#endif
