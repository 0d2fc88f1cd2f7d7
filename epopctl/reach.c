/* Whether a job listens: see reach.h. */
#include "epopctl/reach.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define LIMIT_MS 1000

/* "NSPACE.RANK;tcp4://ADDRESS:PORT". 0 or -1. */
static int parse(const char *uri, struct sockaddr_in *address)
{
    char host[64];
    unsigned port;
    *address = (struct sockaddr_in){.sin_family = AF_INET};
    if (sscanf(uri, "%*[^;];tcp4://%63[^:]:%u", host, &port) != 2 || port > UINT16_MAX)
        return -1;
    address->sin_port = htons((uint16_t)port);
    return inet_pton(AF_INET, host, &address->sin_addr) == 1 ? 0 : -1;
}

static bool connects(int fd, const struct sockaddr_in *address)
{
    int error = 0;
    socklen_t size = sizeof error;
    struct pollfd done = {.fd = fd, .events = POLLOUT};
    if (!connect(fd, (const struct sockaddr *)address, sizeof *address))
        return true;
    return errno == EINPROGRESS && poll(&done, 1, LIMIT_MS) == 1 &&
           !getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) && !error;
}

bool ctl_listens(const struct control_job *job)
{
    struct sockaddr_in address;
    if (parse(job->uri, &address))
        return true; /* not known */
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool listens = fd >= 0 && connects(fd, &address);
    if (fd >= 0)
        close(fd);
    return listens;
}
