/*
 * What Slurm has, at one moment: jobs that wait or hold nodes, nodes, partitions. It looks the same whether it was read
 * by libslurm or by commands.
 */
#ifndef SCHEDULER_SLURM_VIEW_H
#define SCHEDULER_SLURM_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "runtime/base/error.h"
#include "scheduler/slurm/module.h"

/* ---- Lists of nodes ----------------------------------------------------------------------------- */

/* As Slurm writes them: "n[1-3,07],login". */
struct hostlist {
    char **names;
    int count;
};

/* In the order of the text. -1: it is none, or names more than a machine has; then `list` is empty. */
int hostlist_expand(const char *text, struct hostlist *list, struct error *error);
void hostlist_free(struct hostlist *list);
/* "n3:2,n4:2", or without slots where there is one each. The caller's to free; NULL: no memory. */
char *hostlist_text(const struct hostlist *list, int slots);

/* ---- Comments and names of jobs ----------------------------------------------------------------- */

/* "epop:min=1,max=4", as a word of the comment: nodes. Nothing else is malleable. */
bool view_range_of_comment(const char *comment, int *min, int *max);

/* "epop-17" is a companion of job 17; 0: it is none. */
int64_t view_companion_of(const char *name);

/* ---- The view ----------------------------------------------------------------------------------- */

struct slurm_job {
    int64_t id;
    uid_t uid;
    enum slurm_job_state state;
    int nodes; /* that it has, or asks for */
    struct hostlist hosts;
    char *partition; /* the first of those that it was given to */
    unsigned priority;
    double limit, submitted, started; /* seconds; infinite: no limit */
    char *name, *comment, *reason;
    bool waits; /* pending, and for nothing but its turn and nodes */
};

struct slurm_node {
    char *name;
    enum slurm_node_state state;
    bool planned; /* idle, and Slurm keeps it for a job that waits */
    bool drained; /* its administrator wants no job there any more */
    int cpus;
};

struct slurm_partition {
    char *name;
    int tier;
    bool up;
    int *nodes; /* numbers in the view, ascending */
    int count;
    size_t room;
};

struct slurm_view {
    struct slurm_job *jobs; /* pending ones first, in the order in which Slurm starts them; then the others by number */
    size_t job_count, job_room;
    struct slurm_node *nodes; /* in Slurm's order */
    size_t node_count, node_room;
    struct slurm_partition *partitions;
    size_t partition_count, partition_room;
    bool failed; /* out of memory, or what was given made no sense */
};

/* What a reader gives: a struct slurm_view is filled. */
extern const struct slurm_sink view_sink;

/* When all is in it. -1: it is not to be used. */
int view_finish(struct slurm_view *view, struct error *error);
void view_free(struct slurm_view *view);

/* NULL, -1: there is none. */
const struct slurm_job *view_job(const struct slurm_view *view, int64_t id);
const struct slurm_partition *view_partition(const struct slurm_view *view, const char *name);
int view_node(const struct slurm_view *view, const char *name);

/* ---- Machines ----------------------------------------------------------------------------------- */

/* Nodes that jobs can share: partitions that have nodes in common make one machine, and each machine is decided by
 * itself. */
struct machines {
    int *of; /* of each node of the view: which machine it is of */
    int count;
};

/* -1: no memory. */
int machines_find(const struct slurm_view *view, struct machines *machines);
void machines_free(struct machines *machines);

/* -1: no node, or none that is known. */
int machines_of_partition(const struct machines *machines, const struct slurm_view *view, const char *partition);

#endif
