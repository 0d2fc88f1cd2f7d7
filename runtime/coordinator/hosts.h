/* Lists of hosts: names with commas between them. */
#ifndef EPOP_COORDINATOR_HOSTS_H
#define EPOP_COORDINATOR_HOSTS_H

#include <stdbool.h>

#include "runtime/base/host.h"

/* None of them is what a launcher would take for an option. */
bool hosts_valid(const char *list);

/* The name that *at begins with, and how many processes it is to have ("n1:4"; count NULL: that is not asked for; 0:
 * not said); *at goes on to the next. False when none is left. A name that is too long is cut off. */
bool hosts_next(const char **at, char name[HOST_MAX], int *count);

/* "n1" and "n1.cluster.org" are the same host; two names with a domain are if they are equal. */
bool hosts_has(const char *list, const char *host);

#endif
