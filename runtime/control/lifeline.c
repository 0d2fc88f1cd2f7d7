/* The job's end, for those that left it: see lifeline.h. A connection that is open as long as the job runs; that of a
 * rank 0 that was killed ends, too. */
#include "runtime/control/lifeline.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/array.h"
#include "runtime/control/control.h"

#define REACH_SECONDS 5

/* The first message has the form of PMIx's, with other words where it has the receiver and a tag. */
struct first {
    char magic[8];
    uint32_t length, unused;
    char token[CONTROL_TOKEN_MAX - 1];
};
static const char magic[8] = "lifeline";

static struct {
    pthread_mutex_t lock;
    int *all;
    size_t room, count;
    bool cut;
} lines = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- The process that left ------------------------------------------------------------- */

static int parse(const char *uri, struct sockaddr_in *address)
{
    char host[INET_ADDRSTRLEN];
    int port;
    const char *place = strstr(uri, ";tcp4://");
    *address = (struct sockaddr_in){.sin_family = AF_INET};
    if (!place || sscanf(place, ";tcp4://%15[0-9.]:%d", host, &port) != 2)
        return -1;
    address->sin_port = htons((uint16_t)port);
    return inet_pton(AF_INET, host, &address->sin_addr) == 1 ? 0 : -1;
}

int control_lifeline(const char *uri, const char *token)
{
    struct sockaddr_in address;
    struct timeval limit = {.tv_sec = REACH_SECONDS};
    struct first first = {.length = sizeof first.token};
    if (parse(uri, &address) || strlen(token) != sizeof first.token)
        return -1;
    memcpy(first.magic, magic, sizeof magic);
    memcpy(first.token, token, sizeof first.token);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (!connect(fd, (struct sockaddr *)&address, sizeof address) &&
        send(fd, &first, sizeof first, MSG_NOSIGNAL) == (ssize_t)sizeof first)
        return fd;
    close(fd);
    return -1;
}

/* ---- The server ---------------------------------------------------------------------------- */

bool control_lifeline_asked(const char *bytes, size_t size)
{
    return size == sizeof(struct first) && !memcmp(bytes, magic, sizeof magic);
}

static bool is_gone(int fd)
{
    struct pollfd poller = {.fd = fd, .events = POLLIN};
    return poll(&poller, 1, 0) > 0;
}

/* Those whose process has ended: looked for when another one comes, so that they are never many. With the lock held. */
static void forget_gone(void)
{
    size_t kept = 0;
    for (size_t i = 0; i < lines.count; i++)
        if (is_gone(lines.all[i]))
            close(lines.all[i]);
        else
            lines.all[kept++] = lines.all[i];
    lines.count = kept;
}

void control_lifeline_keep(int fd)
{
    pthread_mutex_lock(&lines.lock);
    forget_gone();
    if (lines.cut || array_reserve(&lines.all, &lines.room, lines.count + 1, sizeof *lines.all))
        close(fd);
    else
        lines.all[lines.count++] = fd;
    pthread_mutex_unlock(&lines.lock);
}

/* Children that were forked meanwhile have copies, so closing is not enough. */
void control_lifeline_cut(void)
{
    pthread_mutex_lock(&lines.lock);
    lines.cut = true;
    while (lines.count) {
        int fd = lines.all[--lines.count];
        shutdown(fd, SHUT_RDWR);
        close(fd);
    }
    pthread_mutex_unlock(&lines.lock);
}
