/*
 * PMIx keeps its sockets to itself, with Nagle's algorithm on (43 ms for a message and its answer) and open
 * across exec (a child would keep the connection of a dead process alive). They are found by their address.
 */
#include "runtime/control/sockets.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* "nspace.rank;tcp4://127.0.0.1:4711" or "...;tcp6://::1:4711" to an address. 0 or -1. */
static int parse_uri(const char *uri, struct sockaddr_storage *address)
{
    const char *scheme = strstr(uri, ";tcp"), *host = scheme ? strstr(scheme, "://") : NULL;
    const char *port = host ? strrchr(host, ':') : NULL;
    char text[INET6_ADDRSTRLEN];
    memset(address, 0, sizeof *address);
    if (!port || port <= host + 3 || (size_t)(port - host - 3) >= sizeof text)
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

static bool same_address(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;
    const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;
    if (a->ss_family != b->ss_family)
        return 0;
    if (a->ss_family == AF_INET)
        return a4->sin_port == b4->sin_port && a4->sin_addr.s_addr == b4->sin_addr.s_addr;
    return a->ss_family == AF_INET6 && a6->sin6_port == b6->sin6_port &&
           !memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof a6->sin6_addr);
}

/* The first descriptor of this process that `matches` accepts, or -1. */
static int find_descriptor(bool (*matches)(int fd, const void *context), const void *context)
{
    DIR *directory = opendir("/proc/self/fd");
    int found = -1;
    for (struct dirent *entry; directory && found < 0 && (entry = readdir(directory));)
        if (entry->d_name[0] != '.' && matches(atoi(entry->d_name), context))
            found = atoi(entry->d_name);
    if (directory)
        closedir(directory);
    return found;
}

static bool is_connected_to(int fd, const void *context)
{
    struct sockaddr_storage peer;
    socklen_t size = sizeof peer;
    return !getpeername(fd, (struct sockaddr *)&peer, &size) && same_address(context, &peer);
}

static bool is_bound_to(int fd, const void *context)
{
    struct sockaddr_storage own;
    socklen_t size = sizeof own;
    return !getsockname(fd, (struct sockaddr *)&own, &size) && same_address(context, &own);
}

static bool is_listening_at(int fd, const void *context)
{
    int listening = 0;
    socklen_t size = sizeof listening;
    return !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) && listening && is_bound_to(fd, context);
}

struct inner_name {
    const struct sockaddr_un *address;
    socklen_t size;
};

static bool is_accepted_from(int fd, const void *context)
{
    const struct inner_name *name = context;
    struct sockaddr_un peer;
    socklen_t size = sizeof peer;
    return !getpeername(fd, (struct sockaddr *)&peer, &size) && peer.sun_family == AF_UNIX && size == name->size &&
           !memcmp(&peer, name->address, size);
}

/* Accepts none, so that all are seen. */
static bool shut(int fd, const void *context)
{
    if (is_bound_to(fd, context))
        shutdown(fd, SHUT_RDWR);
    return 0;
}

/* ---- Children that the program forks ----------------------------------------------------- */

static struct sockaddr_storage server_of_all; /* family 0: none */

static bool close_ours(int fd, const void *context)
{
    if (is_connected_to(fd, context) || is_bound_to(fd, context))
        close(fd);
    return false; /* so that all are seen */
}

static void in_child(void)
{
    if (server_of_all.ss_family)
        find_descriptor(close_ours, &server_of_all);
}

static void watch_children(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

void control_sockets_only_here(const char *uri)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!parse_uri(uri, &server_of_all))
        pthread_once(&once, watch_children);
}

/* ---- Hosts that have gone without a word -------------------------------------------------- */

static const int host_seconds = 30, host_seconds_most = 3600;

static int seconds_of_hosts(void)
{
    const char *text = getenv("EPOP_HOST_SECONDS");
    int seconds = text ? atoi(text) : 0;
    return seconds > 0 && seconds <= host_seconds_most ? seconds : host_seconds;
}

static void set_option(int fd, int option, int value)
{
    setsockopt(fd, IPPROTO_TCP, option, &value, sizeof value);
}

/* Where nothing is on its way the kernel asks; where something is, it is told how long that may last. */
void control_socket_needs_host(int fd)
{
    int seconds = seconds_of_hosts(), on = 1;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    set_option(fd, TCP_KEEPIDLE, seconds > 3 ? seconds / 3 : 1);
    set_option(fd, TCP_KEEPINTVL, seconds > 6 ? seconds / 6 : 1);
    set_option(fd, TCP_USER_TIMEOUT, seconds * 1000);
}

/* ---- By their address ---------------------------------------------------------------------- */

void control_socket_tune(const char *uri)
{
    struct sockaddr_storage server;
    int fd, on = 1;
    if (parse_uri(uri, &server) || (fd = find_descriptor(is_connected_to, &server)) < 0)
        return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    control_socket_needs_host(fd);
    control_sockets_only_here(uri);
}

int control_socket_listening(const char *uri)
{
    struct sockaddr_storage server;
    return !parse_uri(uri, &server) ? find_descriptor(is_listening_at, &server) : -1;
}

int control_socket_of_peer(const struct sockaddr_un *address, socklen_t size)
{
    struct inner_name name = {.address = address, .size = size};
    return find_descriptor(is_accepted_from, &name);
}

bool control_sockets_open(const char *uri)
{
    struct sockaddr_storage server;
    return !parse_uri(uri, &server) && find_descriptor(is_bound_to, &server) >= 0;
}

void control_sockets_shut(const char *uri)
{
    struct sockaddr_storage server;
    if (!parse_uri(uri, &server))
        find_descriptor(shut, &server);
}
