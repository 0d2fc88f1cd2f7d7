/* Are the hosts there? One that something failed on, or that is down, is asked for its name by the same mpiexec that
 * starts jobs; one that answers is up. */
#ifndef SCHEDULER_EPOPRM_HOSTS_CHECK_H
#define SCHEDULER_EPOPRM_HOSTS_CHECK_H

#include "scheduler/epoprm/hosts.h"

/* Looks at all of them, and from then on at those that are down or suspect. -1: no memory. */
int hosts_check_begin(struct hosts *hosts, struct error *error);
void hosts_check_end(struct hosts *hosts);

#endif
