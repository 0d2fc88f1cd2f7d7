/* Lists of hosts: names with commas between them. */
#ifndef EPOP_COORDINATOR_HOSTS_H
#define EPOP_COORDINATOR_HOSTS_H

#include <stdbool.h>

/* None of them is what a launcher would take for an option. */
bool hosts_valid(const char *list);

/* "n1" and "n1.cluster.org" are the same host; two names with a domain are if they are equal. */
bool hosts_has(const char *list, const char *host);

#endif
