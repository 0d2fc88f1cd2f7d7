/*
 * The nodes of the daemon of hosts. A host that something failed on, or that is down, is asked for its name by the same
 * mpiexec that starts jobs; one that answers is up.
 */
#ifndef SCHEDULER_HOSTS_NODES_H
#define SCHEDULER_HOSTS_NODES_H

#include "scheduler/hosts/state.h"

/* "n1:4,n2:8": hosts with so many slots (1 where none are said). All nodes have the same number, the greatest that
 * divides those of each host: n1, n2/1 and n2/2 of 4 each. -1: a line says what is wrong with it. */
int hosts_nodes_read(struct hosts *hosts, const char *text, struct error *error);
/* local1 ... on this machine, one slot each. */
int hosts_nodes_local(struct hosts *hosts, int count, struct error *error);
/* What the daemon was told of them: the switches that they are below, and how fast they are. */
int hosts_nodes_described(struct hosts *hosts, struct error *error);
void hosts_nodes_free(struct hosts *hosts);

/* Looks at all of them, and from then on at those that are down or suspect. -1: no memory. */
int hosts_nodes_check(struct hosts *hosts, struct error *error);
/* Is the first look at all of them still going on, and not for long? What is decided then would be for a part of them.
 */
bool hosts_nodes_unseen(const struct hosts *hosts);
void hosts_nodes_check_end(struct hosts *hosts);

/* It is there, under this name of its own. */
void hosts_nodes_up(struct hosts *hosts, int node, const char *name);

/* It cannot be used, with the reason for lists; `is`: what is said of it now. */
void hosts_nodes_down(struct hosts *hosts, int node, const char *reason, const char *is);

/* A node that no job holds is for the core what it is for us: to be used, or not. */
void hosts_nodes_show(struct hosts *hosts, int node);

/* A job gives nodes back: first in the journal, within the caller's transaction; then, when the core has been told,
 * here. */
void hosts_nodes_release(struct hosts_job *job, const int *nodes, int count);
void hosts_nodes_give_back(struct hosts_job *job, const int *nodes, int count);

/* Something failed there: they are looked at before they are used again. */
void hosts_nodes_suspect(struct hosts *hosts, const int *nodes, int count);

#endif
