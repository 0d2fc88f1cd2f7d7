/* What reads Slurm, and to whom it gives what it has read: lib/epop/slurm.so, by libslurm, exports `slurm_module`. */
#ifndef SCHEDULER_SLURM_MODULE_H
#define SCHEDULER_SLURM_MODULE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum slurm_job_state { SLURM_JOB_WAITS, SLURM_JOB_RUNS, SLURM_JOB_ENDS };
enum slurm_node_state { SLURM_NODE_IDLE, SLURM_NODE_BUSY, SLURM_NODE_DOWN };

/* Texts as Slurm has them, times since 1970. */
struct slurm_job_given {
    int64_t id;
    uid_t uid;
    enum slurm_job_state state;
    int nodes;
    const char *hosts, *requested; /* lists of nodes; NULL or "": none */
    const char *partition, *reason, *name, *comment;
    unsigned priority;
    double limit, submitted, started;
};

/* A node in one of its partitions: one that is in several is given several times. */
struct slurm_node_given {
    const char *name;
    enum slurm_node_state state;
    bool planned, drained; /* kept for a job that waits; no job is to be there any more */
    int cpus;
    const char *partition;
    int tier;
    bool up; /* the partition */
};

struct slurm_sink {
    void (*job)(void *to, const struct slurm_job_given *job);
    void (*node)(void *to, const struct slurm_node_given *node);
};

struct slurm_module {
    unsigned version; /* of Slurm: two digits each, as 220508 */
    /* NULL, or what is wrong. `again`: all is given, also when nothing has changed since; else *unchanged may be set,
     * and then nothing is given. */
    const char *(*read)(const struct slurm_sink *sink, void *to, bool again, bool *unchanged);
};

#endif
