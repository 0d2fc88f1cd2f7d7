/*
 * How the launch that this process belongs to was made: a proxy of Hydra's stands between mpiexec and the processes,
 * and has on its command line what else a further mpiexec would have to be told.
 */
#ifndef EPOP_HYDRA_H
#define EPOP_HYDRA_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "runtime/base/proctree.h"

#define HYDRA_OPTIONS_MAX 6

/* The variable that tells the tether, below, what it stands for. */
#define HYDRA_TETHERED "EPOP_TETHERED"

/*
 * The options for another mpiexec that starts processes the same way: -launcher, -launcher-exec, -iface, each with its
 * value. Returns how many words there are (0 without Hydra); they are never freed. Call it once. Local.
 */
int hydra_options(char *options[HYDRA_OPTIONS_MAX]);

/*
 * A further mpiexec goes on when the process that started it is killed, as Hydra's proxy need not have told the process
 * group first; and it leaves behind the commands that reach other hosts for it (ssh, rsh) when it is ended, which wait
 * for minutes for a host that does not answer. So a helper (driver/helpers/tether.c) is started in place of both, which
 * has each end with who started it: mpiexec with the thread that did. Writes the helper's path, to be started as
 * mpiexec would be, changes the options, and returns the variable that it needs, for good; or NULL where there is no
 * helper. Local.
 */
char *hydra_tether(const char *mpiexec, char *options[HYDRA_OPTIONS_MAX], int *count, char *path, size_t size);

/* Has mpiexec reach hosts by that launcher and that program. Both stay the caller's. 0, or -1: too many options. Local.
 */
int hydra_launch_by(char *options[HYDRA_OPTIONS_MAX], int *count, char *launcher, char *program);

/*
 * mpiexec does not notice when the command that reaches a host for it (ssh, say) fails, and waits for ever. Has one
 * failed? Then true, with the command's name and its exit status. From MPICH 4.2 on it notices. Local.
 */
bool hydra_failed(pid_t mpiexec, char *name, size_t name_size, int *status);

/* Has it no child: nothing started yet, or nothing left? From 4.2 on it takes note of those that ended. Local. */
bool hydra_is_alone(pid_t mpiexec);

/*
 * Hydra of MPICH 4.1 to 4.2.2 takes 0 for the status of a process whose connection closes before its end is there, when
 * that of another one, which it kills then, closes in between: mpiexec ended with 0 for 3 of 15 jobs of which a rank
 * was killed. Is it the launcher of such an MPI library? version: of MPICH, as "4.2.1". Local.
 */
bool hydra_loses_statuses(const char *version);

/* The proxy that started this process; none (0) without Hydra. Local. */
struct proc_id hydra_proxy(void);

/* Are mpiexec's standard output and error one terminal? Then its path. Only on mpiexec's own host. Local. */
bool hydra_terminal(char *path, size_t size);

/* This process is about to end badly. Hydra that has passed on a signal looks for a process's status only when some
 * output of its processes closes while other output is still open; it takes the end for a good one else. A child closes
 * ours in that order. Any thread. */
void hydra_stay_in_sight(void);

#endif
