/*
 * Power of the nodes: what each draws, by what the daemon was told or by the processors' own counters, and how much
 * energy each job has used. That no start or growth exceeds the cap is the core's to see to.
 */
#ifndef SCHEDULER_HOSTS_POWER_H
#define SCHEDULER_HOSTS_POWER_H

#include <stdbool.h>

#include "runtime/base/error.h"

struct hosts;
struct hosts_job;
struct hosts_node;

struct power_watts {
    double idle, busy;
};

/* "90,310,n3=120:400": watts of an idle and of a busy node, and of nodes that draw something else. NULL: of no node is
 * anything known, all are 0. -1: a line says what is wrong with it; `node`: NULL, for the others. */
int power_watts(const char *text, const char *node, struct power_watts *watts, struct error *error);

/* What the options say, for all nodes and the core. -1: a line says why that cannot be. */
int hosts_power_begin(struct hosts *hosts, struct error *error);
void hosts_power_end(struct hosts *hosts);

/* How many nodes can be busy at a time. */
int hosts_power_nodes(const struct hosts *hosts);

/* Watts that it draws now; 0: not known, or it is down. */
double hosts_power_draw(const struct hosts_node *node);
/* Would the cap be kept with that node switched on? */
bool hosts_power_allows(const struct hosts *hosts, int node);

/* Adds what was used since the last call to the jobs: before what they hold changes, and now and then. */
void hosts_power_count(struct hosts *hosts);

/* What a job that holds nodes has used is written down, within the caller's transaction or without one; and taken from
 * there by the next daemon, as of then. */
void hosts_power_keep(struct hosts_job *job);
void hosts_power_take(struct hosts_job *job, double joules, double since);

#endif
