/*
 * The door in front of PMIx. PMIx 4.2.2 reads a newcomer's first message with blocking calls in its one progress
 * thread (a silent connection stops the job's control), trusts the lengths in it, and crashes when its host refuses
 * a tool or the tool is gone before it is answered. So PMIx listens on a socket in our private directory instead,
 * and the address that the world sees is this gate's: it reads first messages with limits on size, number and time,
 * and PMIx only ever meets those that carry the token.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "runtime/control/control_internal.h"

#define PENDING_MAX   32           /* newcomers at a time; the oldest has to go when there are more */
#define PATIENCE_MS   5000         /* for a newcomer to say who it is */
#define HANDOVER_MS   2000         /* for PMIx to take one in */
#define FIRST_MAX     (128 * 1024) /* PMIx's own limit for the first message */
#define HEADER_SIZE   16           /* pmix_ptl_hdr_t: index, tag, length, padding */
#define HEADER_LENGTH 8            /* where the length stands, in the sender's byte order */

typedef struct newcomer {
    int fd;
    long long deadline;
    size_t have, want;
    char *bytes;
} newcomer_t;

static struct {
    pthread_t thread;
    int running;
    int listener; /* for the world */
    int stop[2];
    int directory; /* of the socket that PMIx listens on */
    char name[16]; /* of that socket */
    newcomer_t pending[PENDING_MAX];
    int count;
} gate = {.listener = -1, .stop = {-1, -1}, .directory = -1};

/* The newcomer that PMIx is just taking in: its connection, and how to tell PMIx's end of ours. */
static struct {
    pthread_mutex_t lock;
    int fd;
    struct sockaddr_un inner;
    socklen_t inner_size;
} handover = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

static long long now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* A path that fits into sun_path however long the directory's is. */
static socklen_t inner_address(struct sockaddr_un *address)
{
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d/%s", gate.directory, gate.name);
    return sizeof *address;
}

/* ---- Handing a newcomer to PMIx ---------------------------------------------- */

/* In PMIx's progress thread, with the newcomer's first message read from our end: puts its connection in the place
 * of ours. Corked, because PMIx must not learn of a newcomer that dies now before it has put it on its lists. */
int control_gate_swap(void)
{
    int result = -1;

    pthread_mutex_lock(&handover.lock);
    if (handover.fd >= 0)
        result = control_socket_of_peer(&handover.inner, handover.inner_size);
    if (result >= 0 && dup3(handover.fd, result, O_CLOEXEC) < 0)
        result = -1;
    pthread_mutex_unlock(&handover.lock);
    return result;
}

void control_gate_uncork(int fd)
{
    int off = 0;

    setsockopt(fd, IPPROTO_TCP, TCP_CORK, &off, sizeof off);
}

static int still_there(int fd)
{
    struct pollfd poller = {.fd = fd, .events = POLLRDHUP};

    return poll(&poller, 1, 0) == 0;
}

static int prepare_connection(int fd)
{
    int on = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_CORK, &on, sizeof on);
    return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
}

/* Our end of a connection to PMIx, with a name of its own. */
static int connect_inner(struct sockaddr_un *own, socklen_t *own_size)
{
    struct sockaddr_un address, unnamed = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    *own_size = sizeof *own;
    if (fd >= 0 && bind(fd, (struct sockaddr *)&unnamed, sizeof(sa_family_t)) == 0 &&
        getsockname(fd, (struct sockaddr *)own, own_size) == 0 &&
        connect(fd, (struct sockaddr *)&address, inner_address(&address)) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static void set_handover(int fd, const struct sockaddr_un *inner, socklen_t size)
{
    pthread_mutex_lock(&handover.lock);
    handover.fd = fd;
    if (inner != NULL)
        handover.inner = *inner;
    handover.inner_size = size;
    pthread_mutex_unlock(&handover.lock);
}

/* One at a time. PMIx's end closes when it has been replaced, or when PMIx did not like what it read. */
static void admit(const newcomer_t *newcomer)
{
    struct sockaddr_un own;
    socklen_t own_size;
    int inner;

    if (!still_there(newcomer->fd) || prepare_connection(newcomer->fd) != 0 ||
        (inner = connect_inner(&own, &own_size)) < 0)
        return;
    set_handover(newcomer->fd, &own, own_size);
    if (send(inner, newcomer->bytes, newcomer->have, MSG_NOSIGNAL) == (ssize_t)newcomer->have) {
        struct pollfd poller = {.fd = inner, .events = POLLIN | POLLRDHUP};
        poll(&poller, 1, HANDOVER_MS);
    }
    set_handover(-1, NULL, 0);
    close(inner);
}

/* ---- Newcomers ------------------------------------------------------------------ */

static void drop(int which)
{
    close(gate.pending[which].fd);
    free(gate.pending[which].bytes);
    gate.count--;
    memmove(&gate.pending[which], &gate.pending[which + 1], (size_t)(gate.count - which) * sizeof gate.pending[0]);
}

static void welcome(int fd)
{
    char *bytes = malloc(HEADER_SIZE);

    if (bytes == NULL) {
        close(fd);
        return;
    }
    if (gate.count == PENDING_MAX)
        drop(0);
    gate.pending[gate.count++] =
        (newcomer_t){.fd = fd, .deadline = now_ms() + PATIENCE_MS, .want = HEADER_SIZE, .bytes = bytes};
}

/* The header is complete: room for the rest. -1 for a length that is none. */
static int expect_rest(newcomer_t *newcomer)
{
    uint32_t length;

    memcpy(&length, newcomer->bytes + HEADER_LENGTH, sizeof length);
    if (length == 0 || length > FIRST_MAX)
        return -1;
    char *bytes = realloc(newcomer->bytes, HEADER_SIZE + length);
    if (bytes == NULL)
        return -1;
    newcomer->bytes = bytes;
    newcomer->want = HEADER_SIZE + length;
    return 0;
}

/* Reads what is there. 1: the first message is complete; 0: not yet; -1: this is no tool of ours. */
static int listen_to(newcomer_t *newcomer)
{
    while (newcomer->have < newcomer->want) {
        ssize_t got = recv(newcomer->fd, newcomer->bytes + newcomer->have, newcomer->want - newcomer->have, 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return 0;
        if (got <= 0)
            return -1;
        newcomer->have += (size_t)got;
        if (newcomer->have == HEADER_SIZE && newcomer->want == HEADER_SIZE && expect_rest(newcomer) != 0)
            return -1;
    }
    return control_token_within(control_server_token(), newcomer->bytes, newcomer->have) ? 1 : -1;
}

static void accept_newcomers(void)
{
    for (int i = 0; i < PENDING_MAX; i++) {
        int fd = accept4(gate.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0)
            welcome(fd);
        else if (errno == EMFILE || errno == ENFILE)
            usleep(10000); /* the program holds all descriptors; those who wait may come later */
        if (fd < 0)
            return;
    }
}

/* The pollers are those of `count` newcomers as they were before; from the last, because dropping shifts. */
static void serve_newcomers(const struct pollfd *pollers, int count)
{
    long long now = now_ms();

    for (int i = count - 1; i >= 0; i--) {
        int verdict = pollers[i].revents != 0 ? listen_to(&gate.pending[i]) : 0;
        if (verdict > 0)
            admit(&gate.pending[i]);
        if (verdict != 0 || gate.pending[i].deadline <= now)
            drop(i);
    }
}

static void *gate_thread(void *unused)
{
    struct pollfd pollers[2 + PENDING_MAX];

    (void)unused;
    for (;;) {
        pollers[0] = (struct pollfd){.fd = gate.stop[0], .events = POLLIN};
        pollers[1] = (struct pollfd){.fd = gate.listener, .events = POLLIN};
        for (int i = 0; i < gate.count; i++)
            pollers[2 + i] = (struct pollfd){.fd = gate.pending[i].fd, .events = POLLIN};
        int count = gate.count;
        long long wait = count == 0 ? -1 : gate.pending[0].deadline - now_ms();
        if (poll(pollers, (nfds_t)(2 + count), count > 0 && wait < 0 ? 0 : (int)wait) < 0)
            continue;
        if (pollers[0].revents != 0)
            break;
        serve_newcomers(pollers + 2, count);
        if (pollers[1].revents != 0)
            accept_newcomers();
    }
    while (gate.count > 0)
        drop(gate.count - 1);
    return NULL;
}

/* ---- Opening and closing --------------------------------------------------------- */

/* Listens to the world, and puts the address into the uri in the place of PMIx's own. */
static int listen_outside(char *uri)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    char *place = strchr(uri, ';'), host[INET_ADDRSTRLEN];

    if (place == NULL || control_address(&address) != 0) {
        errno = EINVAL;
        return -1;
    }
    gate.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (gate.listener < 0 || bind(gate.listener, (struct sockaddr *)&address, size) != 0 ||
        listen(gate.listener, SOMAXCONN) != 0 || getsockname(gate.listener, (struct sockaddr *)&address, &size) != 0)
        return -1;
    inet_ntop(AF_INET, &address.sin_addr, host, sizeof host);
    snprintf(place, CONTROL_URI_MAX - (size_t)(place - uri), ";tcp4://%s:%d", host, ntohs(address.sin_port));
    return 0;
}

/* Connects and leaves at once. */
static void knock(const struct sockaddr *address, socklen_t size)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0)
        connect(fd, address, size);
    close_fd(&fd);
}

/* PMIx's listener thread sleeps in select on the old socket. A knock there wakes it, but it only looks up when it
 * finds someone at the descriptor, which is the new socket by now: so one knocks there first. */
static void wake_listener(int old)
{
    struct sockaddr_un inner;
    struct sockaddr_storage address;
    socklen_t size = sizeof address;

    knock((struct sockaddr *)&inner, inner_address(&inner));
    if (getsockname(old, (struct sockaddr *)&address, &size) == 0)
        knock((struct sockaddr *)&address, size);
}

/* Puts a socket in our directory in the place of PMIx's own. */
static int replace_listener(int pmix_listener)
{
    struct sockaddr_un address;
    int inner = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), result = -1;
    int old = fcntl(pmix_listener, F_DUPFD_CLOEXEC, 0);

    if (inner >= 0 && old >= 0 && bind(inner, (struct sockaddr *)&address, inner_address(&address)) == 0 &&
        listen(inner, PENDING_MAX) == 0 && dup3(inner, pmix_listener, O_CLOEXEC) >= 0) {
        wake_listener(old);
        result = 0;
    }
    close_fd(&inner);
    close_fd(&old);
    return result;
}

int control_gate_open(char uri[CONTROL_URI_MAX], const char *directory)
{
    int pmix_listener = control_socket_listening(uri);

    snprintf(gate.name, sizeof gate.name, "gate");
    gate.directory = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (pmix_listener < 0 || gate.directory < 0 || pipe2(gate.stop, O_CLOEXEC) != 0)
        goto failed;
    if (listen_outside(uri) != 0 || replace_listener(pmix_listener) != 0)
        goto failed;
    if (pthread_create(&gate.thread, NULL, gate_thread, NULL) != 0)
        goto failed;
    gate.running = 1;
    return 0;
failed:;
    int saved = errno;
    control_gate_close();
    errno = saved;
    return -1;
}

void control_gate_close(void)
{
    if (gate.running && write(gate.stop[1], "", 1) == 1)
        pthread_join(gate.thread, NULL);
    gate.running = 0;
    close_fd(&gate.listener);
    close_fd(&gate.stop[0]);
    close_fd(&gate.stop[1]);
    close_fd(&gate.directory);
}
