/* Names of hosts. */
#ifndef EPOP_BASE_HOST_H
#define EPOP_BASE_HOST_H

/* Room for a name that a list of hosts has: DNS allows 253 characters. */
#define HOST_MAX 256

/* And for that of a host itself, of which Linux has 64. */
#define HOST_OWN_MAX 65

/* As the kernel calls this host, found out once; "localhost" if it does not say. Any thread. */
const char *host_own(void);

#endif
