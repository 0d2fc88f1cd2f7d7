/* Where the server listens. A file of its own, as epop listens there too, and links nothing else of the service. */
#ifndef EPOP_CONTROL_ADDRESS_H
#define EPOP_CONTROL_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>

/* With port 0. networked: may anybody be on another host? If not nobody listens there. 0, or -1 when
 * $EPOP_CONTROL_ADDRESS is no IPv4 address. */
int control_address(struct sockaddr_in *address, bool *networked);

#endif
