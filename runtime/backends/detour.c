/*
 * A detour to a joining process: a port of this process, and a thread that passes on what comes there. In ch3:sock a
 * port is "tag#0$port#44611$description#HOST$ifname#192.0.2.2$": that of the detour is put in its place.
 */
#include "runtime/backends/detour.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/thread.h"

#define CONNECT_TIMEOUT_MS 2000

struct detour {
    int listener;
    int ends[2];
};

/* ---- Passing on ------------------------------------------------------------------------------ */

/* What the other end cannot take any more is dropped. */
static void write_all(int fd, const char *data, ssize_t size)
{
    while (size > 0) {
        ssize_t written = send(fd, data, (size_t)size, MSG_NOSIGNAL);
        if (written < 0 && errno != EINTR)
            return;
        if (written > 0) {
            data += written;
            size -= written;
        }
    }
}

/* False when this end has closed, or was reset: then the other one hears of an end. */
static bool pass_on(int from, int to)
{
    char data[16384];
    ssize_t size;
    do
        size = recv(from, data, sizeof data, 0);
    while (size < 0 && errno == EINTR);
    if (size > 0)
        write_all(to, data, size);
    else
        shutdown(to, SHUT_WR);
    return size > 0;
}

/* MPI may come late, when a rank that takes part in its connect does; refused it would end the job. */
static void *pump(void *argument)
{
    struct detour *detour = argument;
    int one = 1;
    do
        detour->ends[0] = accept(detour->listener, NULL, NULL);
    while (detour->ends[0] < 0 && errno == EINTR);
    if (detour->ends[0] >= 0) {
        struct pollfd ends[2] = {{.fd = detour->ends[0], .events = POLLIN}, {.fd = detour->ends[1], .events = POLLIN}};
        setsockopt(detour->ends[0], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        while ((ends[0].fd >= 0 || ends[1].fd >= 0) && (poll(ends, 2, -1) >= 0 || errno == EINTR))
            for (int i = 0; i < 2; i++)
                if (ends[i].revents && !pass_on(detour->ends[i], detour->ends[1 - i]))
                    ends[i].fd = -1;
        close(detour->ends[0]);
    }
    close(detour->ends[1]);
    close(detour->listener);
    free(detour);
    return NULL;
}

/* ---- Setting it up ---------------------------------------------------------------------------- */

static bool field(const char *port, const char *name, char *value, size_t size)
{
    const char *begin = strstr(port, name);
    if (!begin)
        return false;
    begin += strlen(name);
    size_t length = strcspn(begin, "$");
    return snprintf(value, size, "%.*s", (int)length, begin) < (int)size;
}

/* Like MPICH, by the host's name alone. */
static int connect_to(const char *host, const char *number)
{
    struct addrinfo wanted = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found = NULL;
    if (getaddrinfo(host, number, &wanted, &found))
        return -1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1, error = -1;
    socklen_t size = sizeof error;
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    if (connect(fd, found->ai_addr, found->ai_addrlen) == 0 || errno == EINPROGRESS)
        if (poll(&wait, 1, CONNECT_TIMEOUT_MS) == 1)
            getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    freeaddrinfo(found);
    if (error) {
        close(fd);
        return -1;
    }
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

/* Its number, or -1. */
static int listen_here(int *listener)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    *listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(*listener, (struct sockaddr *)&address, size) || listen(*listener, 1) ||
        getsockname(*listener, (struct sockaddr *)&address, &size))
        return -1;
    return ntohs(address.sin_port);
}

int detour_begin(const char *port, char *here, size_t size, struct error *error)
{
    char host[256], number[16], tag[16];
    snprintf(here, size, "%s", port);
    if (!field(port, "description#", host, sizeof host) || !field(port, "port#", number, sizeof number) ||
        !field(port, "tag#", tag, sizeof tag))
        return 0;
    struct detour *detour = malloc(sizeof *detour);
    int there = detour ? connect_to(host, number) : -1, own = -1;
    if (there < 0) {
        error_set(error, ERROR_FAILED, "MPI could not connect the joining processes: nobody answers at %.60s", host);
        free(detour);
        return -1;
    }
    *detour = (struct detour){.listener = -1, .ends = {-1, there}};
    own = listen_here(&detour->listener);
    if (own < 0 || thread_start(NULL, pump, detour)) {
        error_set(error, ERROR_FAILED, "MPI could not connect the joining processes: out of sockets or threads");
        close(detour->listener);
        close(there);
        free(detour);
        return -1;
    }
    snprintf(here, size, "tag#%s$port#%d$description#127.0.0.1$ifname#127.0.0.1$", tag, own);
    return 0;
}
