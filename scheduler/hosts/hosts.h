/* The daemon that rules a list of hosts, for the command that starts it. */
#ifndef SCHEDULER_HOSTS_HOSTS_H
#define SCHEDULER_HOSTS_HOSTS_H

#include "runtime/base/error.h"

struct hosts_options {
    const char *directory; /* its state */
    const char *hosts;     /* "n1:4,n2:4"; NULL: --local */
    int local;             /* nodes on this machine */
    const char *policy;    /* NULL: the default */
    const char *launcher;  /* as mpiexec's; NULL: its own */
    const char *launcher_exec;
    const char *suspend, *resume; /* commands that switch a host off and on; its name comes behind. NULL: none is */
    double suspend_after;         /* seconds for which it was idle before */
    double preempt_after;         /* seconds that the first of the queue waits before others make room; 0: never */
    const char *watts;            /* of its nodes, as power_watts reads it; NULL: not known */
    double power_cap;             /* watts of all nodes; 0: none */
    const char *topology;         /* a file, as topology_read has it; NULL: no switches are known */
    double spread_cost;           /* as in epop_policy_state_t */
    const char *shares;           /* of accounts, as shares_read has it; NULL: there are none */
    double half_life;             /* seconds, of what they have used */
    const char *speeds;           /* of its nodes, as speeds_read has it; NULL: all are alike */
    const char *energy; /* what energy is known by: "watts", or "rapl": the processors' counters; NULL: watts */
};

/* "n1:4,n2:4": the nodes of the Slurm allocation that this process is in, with their cores. Owned; NULL: it is in none.
 */
char *hosts_allocated(void);

/* The whole life of the daemon, in this process: `ready` is called when it takes requests. -1: a line says why it could
 * not begin, or could not go on. */
int hosts_run(const struct hosts_options *options, void (*ready)(void *context), void *context, struct error *error);

#endif
