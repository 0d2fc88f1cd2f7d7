/*
 * The tree of switches that the nodes are below, as Slurm's topology.conf has it for the plug-in topology/tree:
 *   SwitchName=s1 Nodes=n[1-4]
 *   SwitchName=top Switches=s[1-2]
 * Nodes below one leaf switch are near each other, those below one switch above it less so.
 */
#ifndef SCHEDULER_CORE_TOPOLOGY_H
#define SCHEDULER_CORE_TOPOLOGY_H

#include <epop/policy.h>
#include <stdbool.h>

#include "runtime/base/error.h"

/* What stands right below a switch, by number: nodes, ascending, below a leaf; else switches. */
struct topology_branch {
    int *members;
    int count;
    bool leaf;
};

struct topology {
    epop_policy_switch_t *switches;   /* in the order of the file; names are owned */
    struct topology_branch *branches; /* of each; one more is the whole machine, above those that have none above */
    int count;
    char **names; /* of the nodes; owned */
    int *leaves;  /* the leaf switch of each */
    int node_count;
    int *marks;   /* of each switch, for topology_leaves */
    int *largest; /* sizes of the leaf switches, descending */
    int leaf_count;
};

/*
 * names: of the nodes, by number; several may have one name, and the file may have others, too. NULL: they are numbered
 * as they stand there, and the file has `count`. -1: a line names the file and the number of the line, or the node that
 * is missing; there is nothing to free.
 */
int topology_read(struct topology *topology, const char *path, const char *const *names, int count,
                  struct error *error);
void topology_free(struct topology *topology);

/* The switch above it; that of all is the whole machine, whose number is `count`, and which has -1. */
int topology_above(const struct topology *topology, int number);

/* How many leaf switches these nodes are below. */
int topology_leaves(const struct topology *topology, const int *nodes, int count);

/* The fewest leaf switches that have so many nodes. */
int topology_least(const struct topology *topology, int nodes);

#endif
