/* Names of hosts, and lists of them. */
#ifndef EPOP_BASE_HOST_H
#define EPOP_BASE_HOST_H

#include <stdbool.h>

/* Room for a name that a list of hosts has: DNS allows 253 characters. */
#define HOST_MAX 256

/* And for that of a host itself, of which Linux has 64. */
#define HOST_OWN_MAX 65

/* As the kernel calls this host, found out once; "localhost" if it does not say. Any thread. */
const char *host_own(void);

/* ---- Lists: names with commas between them ---------------------------------------------------------- */

/* None of them is what a launcher would take for an option. */
bool hostlist_valid(const char *list);

/* The name that *at begins with, and how many processes it is to have ("n1:4"; count NULL: that is not asked for; 0:
 * not said); *at goes on to the next. False when none is left. A name that is too long is cut off. */
bool hostlist_next(const char **at, char name[HOST_MAX], int *count);

/* "n1" and "n1.cluster.org" are the same host; two names with a domain are if they are equal. */
bool hostlist_has(const char *list, const char *host);

#endif
