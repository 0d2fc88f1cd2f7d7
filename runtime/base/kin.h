/*
 * Processes of a job, of this user and on this host: those that descend from one, however far, and those that carry the
 * job's mark in the environment that they were started with.
 */
#ifndef EPOP_BASE_KIN_H
#define EPOP_BASE_KIN_H

#include <stdbool.h>
#include <sys/types.h>

/* root: -1 for none; mark: "NAME=value", or NULL. A signal (0: none) to each but for this process and the root; SIGKILL
 * until there are no more. How many there were that are not dead; -1: /proc cannot be read. */
int kin_signal(pid_t root, const char *mark, int number);
/* SIGTERM, and SIGKILL 2 s later; waits until they are gone, or 5 s more. False: there were none. */
bool kin_end(pid_t root, const char *mark);

#endif
