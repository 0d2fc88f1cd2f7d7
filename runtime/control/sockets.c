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
    const char *scheme = strstr(uri, ";tcp"), *host = scheme == NULL ? NULL : strstr(scheme, "://");
    const char *port = host == NULL ? NULL : strrchr(host, ':');
    char text[INET6_ADDRSTRLEN];

    memset(address, 0, sizeof *address);
    if (port == NULL || port <= host + 3 || (size_t)(port - host - 3) >= sizeof text)
        return -1;
    memcpy(text, host + 3, (size_t)(port - host - 3));
    text[port - host - 3] = '\0';
    if (scheme[4] == '6') {
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

/* The first descriptor of this process that `matches` accepts, or -1. */
static int find_descriptor(int (*matches)(int fd, const void *context), const void *context)
{
    DIR *directory = opendir("/proc/self/fd");
    int found = -1;

    for (struct dirent *entry; directory != NULL && found < 0 && (entry = readdir(directory)) != NULL;)
        if (entry->d_name[0] != '.' && matches(atoi(entry->d_name), context))
            found = atoi(entry->d_name);
    if (directory != NULL)
        closedir(directory);
    return found;
}

static int is_connected_to(int fd, const void *context)
{
    struct sockaddr_storage peer;
    socklen_t size = sizeof peer;

    return getpeername(fd, (struct sockaddr *)&peer, &size) == 0 && same_address(context, &peer);
}

static int is_bound_to(int fd, const void *context)
{
    struct sockaddr_storage own;
    socklen_t size = sizeof own;

    return getsockname(fd, (struct sockaddr *)&own, &size) == 0 && same_address(context, &own);
}

static int is_listening_at(int fd, const void *context)
{
    int listening = 0;
    socklen_t size = sizeof listening;

    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) == 0 && listening && is_bound_to(fd, context);
}

typedef struct inner_name {
    const struct sockaddr_un *address;
    socklen_t size;
} inner_name_t;

static int is_accepted_from(int fd, const void *context)
{
    const inner_name_t *name = context;
    struct sockaddr_un peer;
    socklen_t size = sizeof peer;

    return getpeername(fd, (struct sockaddr *)&peer, &size) == 0 && peer.sun_family == AF_UNIX && size == name->size &&
           memcmp(&peer, name->address, size) == 0;
}

/* Accepts none, so that all are seen. */
static int shut(int fd, const void *context)
{
    if (is_bound_to(fd, context))
        shutdown(fd, SHUT_RDWR);
    return 0;
}

void control_socket_tune(const char *uri)
{
    struct sockaddr_storage server;
    int fd, on = 1;

    if (parse_uri(uri, &server) != 0 || (fd = find_descriptor(is_connected_to, &server)) < 0)
        return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
}

int control_socket_listening(const char *uri)
{
    struct sockaddr_storage server;

    return parse_uri(uri, &server) == 0 ? find_descriptor(is_listening_at, &server) : -1;
}

int control_socket_of_peer(const struct sockaddr_un *address, socklen_t size)
{
    inner_name_t name = {.address = address, .size = size};

    return find_descriptor(is_accepted_from, &name);
}

int control_sockets_open(const char *uri)
{
    struct sockaddr_storage server;

    return parse_uri(uri, &server) == 0 && find_descriptor(is_bound_to, &server) >= 0;
}

void control_sockets_shut(const char *uri)
{
    struct sockaddr_storage server;

    if (parse_uri(uri, &server) == 0)
        find_descriptor(shut, &server);
}
