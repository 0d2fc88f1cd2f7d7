/* The job's side of the supervisor: see supervisor.h. */
#include "runtime/control/supervisor.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/child.h"
#include "runtime/wire/socket.h"

enum { CONNECT_MS = 3000, HEARD_MS = 1000, LINE_MAX_BYTES = 640, ANSWER_BYTES = 1 << 18 };

static struct {
    bool there, found; /* one is named; its address is known */
    char host[256], token[72];
    struct sockaddr_storage address;
    socklen_t length;
    int fd; /* process 0's connection */
} supervisor = {.fd = -1};

/* On its own host by loopback: what the host's name means need not be reached from here. */
static void resolve(const char *port)
{
    char own[256] = "";
    const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    gethostname(own, sizeof own - 1);
    if (getaddrinfo(!strcmp(own, supervisor.host) ? "127.0.0.1" : supervisor.host, port, &hints, &found))
        return;
    memcpy(&supervisor.address, found->ai_addr, found->ai_addrlen);
    supervisor.length = found->ai_addrlen;
    supervisor.found = true;
    freeaddrinfo(found);
}

bool supervisor_know(void)
{
    const char *text = getenv(SUPERVISOR);
    char port[8];
    supervisor.there = text && sscanf(text, "%255s %7s %71s", supervisor.host, port, supervisor.token) == 3;
    if (supervisor.there)
        resolve(port);
    return supervisor.there;
}

bool supervisor_is_there(void)
{
    return supervisor.there;
}

int supervisor_recoveries(void)
{
    const char *text = supervisor.there ? getenv(SUPERVISOR_COUNT) : NULL;
    return text ? atoi(text) : 0;
}

static bool is_ready(int fd, short events, int ms)
{
    struct pollfd one = {.fd = fd, .events = events};
    int ready;
    while ((ready = poll(&one, 1, ms)) < 0 && errno == EINTR)
        ;
    return ready > 0;
}

/* A descriptor, or -1 with errno. */
static int reach(int ms)
{
    int failure = 0, fd = socket(supervisor.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    socklen_t size = sizeof failure;
    if (fd < 0)
        return -1;
    if (connect(fd, (const struct sockaddr *)&supervisor.address, supervisor.length) && errno != EINPROGRESS)
        failure = errno;
    else if (!is_ready(fd, POLLOUT, ms))
        failure = ETIMEDOUT;
    else
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size);
    if (!failure)
        return fd;
    close(fd);
    errno = failure;
    return -1;
}

/* Lines are short, and the socket's buffer is not. */
static bool put(int fd, const char *line, int length)
{
    return length > 0 && send(fd, line, (size_t)length, MSG_NOSIGNAL) == length;
}

static bool is_heard(int fd, int ms)
{
    char answer;
    return is_ready(fd, POLLIN, ms) && recv(fd, &answer, 1, 0) == 1;
}

int supervisor_begin(struct error *error)
{
    char line[LINE_MAX_BYTES], own[64] = "?";
    int on = 1, fd = supervisor.found ? reach(CONNECT_MS) : -1;
    gethostname(own, sizeof own - 1);
    int length =
        snprintf(line, sizeof line, "%s %s %ld %s\n", supervisor.token, SUPERVISOR_BEGINS, (long)getpid(), own);
    if (fd < 0)
        return error_set(error, ERROR_FAILED,
                         "cannot reach epop --recover on %s: %s; EPOP_CONTROL_ADDRESS there names "
                         "the address that is reached",
                         supervisor.host, supervisor.found ? strerror(errno) : "that name means no address here");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    wire_socket_tune(fd);
    if (!put(fd, line, length) || !is_heard(fd, CONNECT_MS)) {
        close(fd);
        return error_set(error, ERROR_FAILED, "epop --recover on %s does not answer", supervisor.host);
    }
    supervisor.fd = fd;
    child_without(&supervisor.fd);
    return 0;
}

void supervisor_say(const char *line)
{
    char text[LINE_MAX_BYTES];
    if (supervisor.fd >= 0)
        put(supervisor.fd, text, snprintf(text, sizeof text, "%.600s\n", line));
}

static _Atomic(cJSON *) list;

/* Up to the end of the line, or for a second. */
static size_t read_line(int fd, char *line, size_t size)
{
    size_t used = 0;
    while (used < size - 1 && is_ready(fd, POLLIN, HEARD_MS)) {
        ssize_t n = recv(fd, line + used, size - 1 - used, 0);
        if (n <= 0)
            break;
        used += (size_t)n;
        if (line[used - 1] == '\n')
            break;
    }
    line[used] = '\0';
    return used;
}

void supervisor_runs(const char *line)
{
    char *answer = malloc(ANSWER_BYTES);
    if (answer && supervisor.fd >= 0) {
        supervisor_say(line);
        if (read_line(supervisor.fd, answer, ANSWER_BYTES))
            atomic_store(&list, cJSON_Parse(answer));
    }
    free(answer);
}

const cJSON *supervisor_list(void)
{
    return atomic_load(&list);
}

void supervisor_end(const char *word, int status, const char *text)
{
    char line[LINE_MAX_BYTES];
    int fd = supervisor.found ? reach(HEARD_MS) : -1, first = text ? (int)strcspn(text, "\n") : 0;
    int length = snprintf(line, sizeof line, "%s %s %d %.*s\n", supervisor.token, word, status,
                          first < 400 ? first : 400, text ? text : "");
    if (fd >= 0 && put(fd, line, length))
        is_heard(fd, HEARD_MS);
    if (fd >= 0)
        close(fd);
}
