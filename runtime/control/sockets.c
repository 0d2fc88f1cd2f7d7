/*
 * PMIx keeps its sockets to itself, with Nagle's algorithm on (43 ms for a message and its answer) and open
 * across exec (a child would keep the connection of a dead process alive). They are found by their address.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "runtime/control/control_internal.h"

/* "nspace.rank;tcp4://127.0.0.1:4711" or "...;tcp6://::1:4711" to an address. 0 or -1. */
static int parse_uri(const char *uri, struct sockaddr_storage *address)
{
    const char *scheme = strstr(uri, "tcp"), *host = scheme == NULL ? NULL : strstr(scheme, "://");
    const char *port = host == NULL ? NULL : strrchr(host, ':');
    char text[INET6_ADDRSTRLEN];

    memset(address, 0, sizeof *address);
    if (port == NULL || port <= host + 3 || (size_t)(port - host - 3) >= sizeof text)
        return -1;
    memcpy(text, host + 3, (size_t)(port - host - 3));
    text[port - host - 3] = '\0';
    if (scheme[3] == '6') {
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)address;
        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons((uint16_t)atoi(port + 1));
        return inet_pton(AF_INET6, text, &in6->sin6_addr) == 1 ? 0 : -1;
    }
    struct sockaddr_in *in = (struct sockaddr_in *)address;
    in->sin_family = AF_INET;
    in->sin_port = htons((uint16_t)atoi(port + 1));
    return inet_pton(AF_INET, text, &in->sin_addr) == 1 ? 0 : -1;
}

static int same_address(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;
    const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;

    if (a->ss_family != b->ss_family)
        return 0;
    if (a->ss_family == AF_INET)
        return a4->sin_port == b4->sin_port && a4->sin_addr.s_addr == b4->sin_addr.s_addr;
    return a->ss_family == AF_INET6 && a6->sin6_port == b6->sin6_port &&
           memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof a6->sin6_addr) == 0;
}

/* Whom it is connected to, or where it listens: an accepted socket inherits the options of its listener. */
static int socket_address(int fd, struct sockaddr_storage *address, socklen_t *size)
{
    if (getpeername(fd, (struct sockaddr *)address, size) == 0)
        return 0;
    *size = sizeof *address;
    return getsockname(fd, (struct sockaddr *)address, size);
}

int control_sockets_tune(const char *uri)
{
    struct sockaddr_storage server, peer;
    DIR *directory;
    int found = 0, on = 1;

    if (parse_uri(uri, &server) != 0 || (directory = opendir("/proc/self/fd")) == NULL)
        return 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        socklen_t size = sizeof peer;
        int fd = atoi(entry->d_name);
        if (entry->d_name[0] == '.' || socket_address(fd, &peer, &size) != 0 || !same_address(&server, &peer))
            continue;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        found++;
    }
    closedir(directory);
    return found;
}
