/*
 * Where the server listens besides its Unix socket: nowhere as long as all processes are on this host, else where the
 * others can reach it. $EPOP_CONTROL_ADDRESS decides on hosts with several networks.
 */
#include "runtime/control/address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/host.h"
#include "runtime/control/control.h"

static bool other_hosts;

void control_reach_hosts(void)
{
    other_hosts = true;
}

static bool is_loopback(const struct sockaddr *address)
{
    const struct sockaddr_in *in = (const void *)address;
    return (ntohl(in->sin_addr.s_addr) >> 24) == 127;
}

/* What the others find this host by: Hydra starts them by the same names. */
static int by_name(struct sockaddr_in *address)
{
    const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    int result = -1;
    if (getaddrinfo(host_own(), NULL, &hints, &list))
        return -1;
    for (const struct addrinfo *at = list; at && result != 0; at = at->ai_next)
        if (!is_loopback(at->ai_addr)) {
            memcpy(address, at->ai_addr, sizeof *address);
            result = 0;
        }
    freeaddrinfo(list);
    return result;
}

static int by_interface(struct sockaddr_in *address)
{
    struct ifaddrs *list = NULL;
    int result = -1;
    if (getifaddrs(&list))
        return -1;
    for (const struct ifaddrs *at = list; at && result != 0; at = at->ifa_next)
        if (at->ifa_addr && at->ifa_addr->sa_family == AF_INET && (at->ifa_flags & IFF_UP) &&
            !is_loopback(at->ifa_addr)) {
            memcpy(address, at->ifa_addr, sizeof *address);
            result = 0;
        }
    freeifaddrs(list);
    return result;
}

int control_address(struct sockaddr_in *address, bool *networked)
{
    const char *chosen = getenv("EPOP_CONTROL_ADDRESS");
    bool named = chosen && chosen[0];
    *networked = other_hosts || named;
    *address = (struct sockaddr_in){.sin_family = AF_INET};
    if (named)
        return inet_pton(AF_INET, chosen, &address->sin_addr) == 1 ? 0 : -1;
    if (other_hosts && by_name(address) && by_interface(address))
        address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address->sin_port = 0;
    return 0;
}
