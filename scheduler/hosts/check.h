/* Are the hosts there? One that something failed on, or that is down, is asked for its name by the same mpiexec that
 * starts jobs; one that answers is up. */
#ifndef SCHEDULER_HOSTS_CHECK_H
#define SCHEDULER_HOSTS_CHECK_H

#include "scheduler/hosts/state.h"

/* Looks at all of them, and from then on at those that are down or suspect. -1: no memory. */
int hosts_check_begin(struct hosts *hosts, struct error *error);

/* Is the first look at all of them still going on, and not for long? What is decided then would be for a part of them.
 */
bool hosts_check_begins(const struct hosts *hosts);

/* A host is in doubt: what is to be looked at is looked at now, and again soon. */
void hosts_check_now(struct hosts *hosts);

void hosts_check_end(struct hosts *hosts);

#endif
