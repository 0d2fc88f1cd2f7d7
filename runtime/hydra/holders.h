/*
 * Processes that the program started and left running. Hydra waits at the end of a job until nobody has the standard
 * output or error of its processes open any more, and no signal then ends that; so this process ends such ones first.
 */
#ifndef EPOP_HYDRA_HOLDERS_H
#define EPOP_HYDRA_HOLDERS_H

#include <sys/types.h>

#include "runtime/base/proctree.h"

/* Looks which pipes lead to Hydra, before the program can redirect them. What holds them when this process is killed is
 * ended by a helper program. */
void holders_begin(void);

/* For that helper: from here on this process stands for the one that WHAT describes. Which that is; none (0): WHAT is
 * no such text. */
struct proc_id holders_adopt(const char *what);

/* A child of ours that may outlive us; 0: none. Any thread. */
void holders_spare(pid_t pid);

/*
 * Whatever has one of these pipes open and descends from this process, or is an orphan, is given a moment to end by
 * itself, and is then ended: SIGTERM, and SIGKILL 2 s later. Says a line of each. Where this process has other output,
 * or was not started by Hydra, nothing happens. Local.
 */
void holders_end(void);

#endif
