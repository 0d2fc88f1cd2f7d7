/* The nodes that a daemon rules, from what its user says. */
#ifndef SCHEDULER_HOSTS_LIST_H
#define SCHEDULER_HOSTS_LIST_H

#include "scheduler/hosts/state.h"

/* "n1:4,n2:4": a node for each, with so many slots (1 where none are said). All have the same number. -1: a line says
 * what is wrong with it. */
int hosts_list_read(struct hosts *hosts, const char *text, struct error *error);

/* local1 ... on this machine, one slot each. */
int hosts_list_local(struct hosts *hosts, int count, struct error *error);

void hosts_list_free(struct hosts *hosts);

#endif
