/*
 * The door in front of PMIx. PMIx 4.2.2 reads a newcomer's first message with blocking calls in its one progress
 * thread (a silent connection stops the job's control), trusts the lengths in it, and crashes when its host refuses
 * a tool or the tool is gone before it is answered. So PMIx listens on a socket in our private directory instead,
 * and the address that the world sees is ours: we read first messages with limits on size, number and time,
 * and PMIx only ever meets those that carry the token.
 */
#include "runtime/control/admission.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/thread.h"
#include "runtime/control/address.h"
#include "runtime/control/control.h"
#include "runtime/control/lifeline.h"
#include "runtime/control/server.h"
#include "runtime/control/sockets.h"
#include "runtime/control/token.h"

#define PENDING_MAX    32           /* newcomers at a time; the oldest has to go when there are more */
#define PATIENCE       5            /* seconds for a newcomer to say who it is */
#define HANDOVER_WAITS 200          /* for PMIx to take one in, of 10 ms each */
#define FIRST_MAX      (128 * 1024) /* PMIx's own limit for the first message */
#define HEADER_SIZE    16           /* pmix_ptl_hdr_t: index, tag, length, padding */
#define HEADER_LENGTH  8            /* where the length stands, in the sender's byte order */

struct newcomer {
    int fd;
    double deadline;
    size_t have, want;
    char *bytes;
};

static struct {
    pthread_t thread;
    bool running;
    int listener; /* for the world */
    int stop[2];
    int directory; /* of the socket that PMIx listens on */
    char name[16]; /* of that socket */
    struct newcomer pending[PENDING_MAX];
    int count;
} admission = {.listener = -1, .stop = {-1, -1}, .directory = -1};

/* The newcomer that PMIx is just taking in: its connection, and how to tell PMIx's end of ours. */
static struct {
    pthread_mutex_t lock;
    int fd;
    struct sockaddr_un inner;
    socklen_t inner_size;
} handover = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

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
    snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d/%s", admission.directory, admission.name);
    return sizeof *address;
}

/* ---- Handing a newcomer to PMIx ---------------------------------------------- */

static bool still_there(int fd)
{
    struct pollfd poller = {.fd = fd, .events = POLLRDHUP};
    return poll(&poller, 1, 0) == 0;
}

/* PMIx reads a first message to its end before it calls us. So an end with something left to read is that of the next
 * newcomer, and the one PMIx asks for has been given up meanwhile. To give it the other's connection would have PMIx
 * wait there, and all the job's control with it, for a first message that has been read. */
static bool has_been_read(int end)
{
    int unread;
    return !ioctl(end, FIONREAD, &unread) && unread == 0;
}

/* Under the lock, in PMIx's progress thread, with the newcomer's first message read: PMIx's end of our connection. -1:
 * the newcomer that PMIx asks for has been given up. */
static int end_asked_for(void)
{
    int end = handover.fd < 0 ? -1 : control_socket_of_peer(&handover.inner, handover.inner_size);
    return end >= 0 && has_been_read(end) ? end : -1;
}

/* Puts the newcomer's connection in the place of ours. Corked, because PMIx must not learn of a newcomer that dies now
 * before it has put it on its lists. */
int control_admission_swap(void)
{
    pthread_mutex_lock(&handover.lock);
    int end = end_asked_for();
    if (end >= 0 && (!still_there(handover.fd) || dup3(handover.fd, end, O_CLOEXEC) < 0)) {
        close(end);
        end = -1;
    }
    pthread_mutex_unlock(&handover.lock);
    return end;
}

/* The next newcomer need not wait until the handover's time is up. PMIx does not look at a connection again about which
 * it is not answered, and would not close it. */
void control_admission_refuse(void)
{
    pthread_mutex_lock(&handover.lock);
    int end = end_asked_for();
    if (end >= 0)
        close(end);
    pthread_mutex_unlock(&handover.lock);
}

void control_admission_uncork(int fd)
{
    int off = 0;
    setsockopt(fd, IPPROTO_TCP, TCP_CORK, &off, sizeof off);
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
    if (fd >= 0 && !bind(fd, (struct sockaddr *)&unnamed, sizeof(sa_family_t)) &&
        !getsockname(fd, (struct sockaddr *)own, own_size) &&
        !connect(fd, (struct sockaddr *)&address, inner_address(&address)))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Whoever looks from PMIx's side sees the newcomer together with its first message. 0 or -1. */
static int begin_handover(const struct newcomer *newcomer, int inner, const struct sockaddr_un *own, socklen_t own_size)
{
    pthread_mutex_lock(&handover.lock);
    ssize_t sent = send(inner, newcomer->bytes, newcomer->have, MSG_NOSIGNAL | MSG_DONTWAIT);
    handover.fd = newcomer->fd;
    handover.inner = *own;
    handover.inner_size = own_size;
    pthread_mutex_unlock(&handover.lock);
    return sent == (ssize_t)newcomer->have ? 0 : -1;
}

static void end_handover(void)
{
    pthread_mutex_lock(&handover.lock);
    handover.fd = -1;
    pthread_mutex_unlock(&handover.lock);
}

/* Waits until PMIx's end closes: it has been replaced, or PMIx did not like what it read. In short waits: a moment in
 * which this process was stopped is no time that PMIx had. */
static void await_handover(int inner)
{
    struct pollfd poller = {.fd = inner, .events = POLLIN | POLLRDHUP};
    for (int waits = 0; waits < HANDOVER_WAITS && poll(&poller, 1, 10) == 0; waits++)
        ;
}

/* One at a time. */
static void admit(const struct newcomer *newcomer)
{
    struct sockaddr_un own;
    socklen_t own_size;
    int inner;
    if (!still_there(newcomer->fd) || prepare_connection(newcomer->fd) || (inner = connect_inner(&own, &own_size)) < 0)
        return;
    if (!begin_handover(newcomer, inner, &own, own_size))
        await_handover(inner);
    end_handover();
    close(inner);
}

/* ---- Newcomers ------------------------------------------------------------------ */

static void drop(int which)
{
    close_fd(&admission.pending[which].fd);
    free(admission.pending[which].bytes);
    admission.count--;
    memmove(&admission.pending[which], &admission.pending[which + 1],
            (size_t)(admission.count - which) * sizeof admission.pending[0]);
}

static void welcome(int fd)
{
    char *bytes = malloc(HEADER_SIZE);
    if (!bytes) {
        close(fd);
        return;
    }
    if (admission.count == PENDING_MAX)
        drop(0);
    admission.pending[admission.count++] =
        (struct newcomer){.fd = fd, .deadline = monotonic_seconds() + PATIENCE, .want = HEADER_SIZE, .bytes = bytes};
}

/* The header is complete: room for the rest. -1 for a length that is none. */
static int expect_rest(struct newcomer *newcomer)
{
    uint32_t length;
    memcpy(&length, newcomer->bytes + HEADER_LENGTH, sizeof length);
    if (length == 0 || length > FIRST_MAX)
        return -1;
    char *bytes = realloc(newcomer->bytes, HEADER_SIZE + length);
    if (!bytes)
        return -1;
    newcomer->bytes = bytes;
    newcomer->want = HEADER_SIZE + length;
    return 0;
}

/* Reads what is there. 1: the first message is complete; 0: not yet; -1: this is no tool of ours. */
static int listen_to(struct newcomer *newcomer)
{
    while (newcomer->have < newcomer->want) {
        ssize_t got = recv(newcomer->fd, newcomer->bytes + newcomer->have, newcomer->want - newcomer->have, 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return 0;
        if (got <= 0)
            return -1;
        newcomer->have += (size_t)got;
        if (newcomer->have == HEADER_SIZE && newcomer->want == HEADER_SIZE && expect_rest(newcomer))
            return -1;
    }
    return control_token_within(control_server_token(), newcomer->bytes, newcomer->have) ? 1 : -1;
}

/* Some want nothing but to hear of the end. */
static void take_in(struct newcomer *newcomer)
{
    if (!control_lifeline_asked(newcomer->bytes, newcomer->have)) {
        admit(newcomer);
        return;
    }
    control_lifeline_keep(newcomer->fd);
    newcomer->fd = -1;
}

static void accept_newcomers(void)
{
    for (int i = 0; i < PENDING_MAX; i++) {
        int fd = accept4(admission.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            control_socket_needs_host(fd);
            welcome(fd);
        } else if (errno == EMFILE || errno == ENFILE)
            usleep(10000); /* the program holds all descriptors; those who wait may come later */
        if (fd < 0)
            return;
    }
}

/* The pollers are those of `count` newcomers as they were before; from the last, because dropping shifts. */
static void serve_newcomers(const struct pollfd *pollers, int count)
{
    double now = monotonic_seconds();
    for (int i = count - 1; i >= 0; i--) {
        int verdict = pollers[i].revents != 0 ? listen_to(&admission.pending[i]) : 0;
        if (verdict > 0)
            take_in(&admission.pending[i]);
        if (verdict != 0 || admission.pending[i].deadline <= now)
            drop(i);
    }
}

static void *admission_thread(void *unused)
{
    struct pollfd pollers[2 + PENDING_MAX];
    (void)unused;
    for (;;) {
        pollers[0] = (struct pollfd){.fd = admission.stop[0], .events = POLLIN};
        pollers[1] = (struct pollfd){.fd = admission.listener, .events = POLLIN};
        for (int i = 0; i < admission.count; i++)
            pollers[2 + i] = (struct pollfd){.fd = admission.pending[i].fd, .events = POLLIN};
        int count = admission.count;
        double wait = count ? 1e3 * (admission.pending[0].deadline - monotonic_seconds()) : -1;
        if (poll(pollers, (nfds_t)(2 + count), count && wait < 0 ? 0 : (int)ceil(wait)) < 0)
            continue;
        if (pollers[0].revents != 0)
            break;
        serve_newcomers(pollers + 2, count);
        if (pollers[1].revents != 0)
            accept_newcomers();
    }
    while (admission.count > 0)
        drop(admission.count - 1);
    return NULL;
}

/* ---- Opening and closing --------------------------------------------------------- */

/* Listens to the world, and puts the address into the uri in the place of PMIx's own. */
static int listen_outside(char *uri)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    char *place = strchr(uri, ';'), host[INET_ADDRSTRLEN];
    if (!place || control_address(&address)) {
        errno = EINVAL;
        return -1;
    }
    admission.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (admission.listener < 0 || bind(admission.listener, (struct sockaddr *)&address, size) ||
        listen(admission.listener, SOMAXCONN) || getsockname(admission.listener, (struct sockaddr *)&address, &size))
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
    if (!getsockname(old, (struct sockaddr *)&address, &size))
        knock((struct sockaddr *)&address, size);
}

/* Puts a socket in our directory in the place of PMIx's own. */
static int replace_listener(int pmix_listener)
{
    struct sockaddr_un address;
    int inner = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), result = -1;
    int old = fcntl(pmix_listener, F_DUPFD_CLOEXEC, 0);
    if (inner >= 0 && old >= 0 && !bind(inner, (struct sockaddr *)&address, inner_address(&address)) &&
        !listen(inner, PENDING_MAX) && dup3(inner, pmix_listener, O_CLOEXEC) >= 0) {
        wake_listener(old);
        result = 0;
    }
    close_fd(&inner);
    close_fd(&old);
    return result;
}

int control_admission_open(char uri[CONTROL_URI_MAX], const char *directory)
{
    int pmix_listener = control_socket_listening(uri);
    snprintf(admission.name, sizeof admission.name, "admission");
    admission.directory = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (pmix_listener < 0 || admission.directory < 0 || pipe2(admission.stop, O_CLOEXEC))
        goto failed;
    if (listen_outside(uri) || replace_listener(pmix_listener))
        goto failed;
    if (thread_start(&admission.thread, admission_thread, NULL))
        goto failed;
    admission.running = true;
    return 0;
failed:;
    int saved = errno;
    control_admission_close();
    errno = saved;
    return -1;
}

void control_admission_close(void)
{
    if (admission.running && write(admission.stop[1], "", 1) == 1)
        pthread_join(admission.thread, NULL);
    admission.running = false;
    control_lifeline_cut();
    close_fd(&admission.listener);
    close_fd(&admission.stop[0]);
    close_fd(&admission.stop[1]);
    close_fd(&admission.directory);
}
