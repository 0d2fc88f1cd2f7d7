/* How sockets are listened at, reached and set: see socket.h. */
#include "runtime/wire/socket.h"

#include <errno.h>
#include <event2/listener.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/base/child.h"
#include "runtime/base/host.h"
#include "runtime/wire/loop.h"

/* ---- Paths that are longer than an address holds ------------------------------------------ */

/* Takes no memory: it is also called by handlers of signals. */
static int open_directory(const char *path, size_t length)
{
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%.*s", (int)(length ? length : 1), path);
    return open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* By way of its directory, which stays open until the caller closes it. The directory, or -1 with errno. */
static int address_of(const char *path, struct sockaddr_un *address)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    int directory = open_directory(slash ? path : ".", slash ? (size_t)(slash - path) : 1);
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (directory >= 0)
        snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d/%.80s", directory, name);
    return directory;
}

/* ---- Names that are no paths (unix(7), abstract) --------------------------------------------- */

static socklen_t address_of_name(const char *name, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int length = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "%.100s", name);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

/* ---- Listening ------------------------------------------------------------------------------ */

static int new_socket(int family)
{
    return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* The socket hands its mode on to what bind makes: the umask is that of all threads. */
static int bind_path(int fd, const char *path, const struct sockaddr_un *address)
{
    unlink(path);
    return fchmod(fd, 0600) || bind(fd, (const struct sockaddr *)address, sizeof *address) ? -1 : 0;
}

int wire_listen_path(const char *path, struct error *error)
{
    struct sockaddr_un address;
    int directory = address_of(path, &address), fd = directory >= 0 ? new_socket(AF_UNIX) : -1;
    if (fd < 0 || bind_path(fd, path, &address) || listen(fd, SOMAXCONN)) {
        error_set(error, ERROR_FAILED, "%s: cannot listen there: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        fd = -1;
    }
    if (directory >= 0)
        close(directory);
    return fd;
}

int wire_listen_address(struct sockaddr *address, socklen_t *size, struct error *error)
{
    int on = 1, off = 0, fd = new_socket(address->sa_family);
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd >= 0 && address->sa_family == AF_INET6) /* for version 4, too */
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (fd >= 0 && !bind(fd, address, *size) && !listen(fd, SOMAXCONN) && !getsockname(fd, address, size))
        return fd;
    error_set(error, ERROR_FAILED, "cannot listen to the network: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

#define REST 0.05 /* seconds */

struct wire_listener {
    int fd;
    struct event *ready, *rest;
    void (*take)(void *context, int fd);
    void *context;
    bool held;
};

enum { AT_ONCE = 64 };

static void go_on(evutil_socket_t fd, short what, void *context)
{
    struct wire_listener *listener = context;
    (void)fd, (void)what;
    if (!listener->held)
        event_add(listener->ready, NULL);
}

/* Whoever cannot be taken stays in front of the door, which would be heard all the time. */
static void on_knock(evutil_socket_t fd, short what, void *context)
{
    struct wire_listener *listener = context;
    (void)what;
    for (int i = 0; i < AT_ONCE && !listener->held; i++) {
        int taken = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (taken >= 0) {
            listener->take(listener->context, taken);
            continue;
        }
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
            event_del(listener->ready);
            wire_timer_set(listener->rest, REST);
        }
        return;
    }
}

struct wire_listener *wire_listener_new(struct event_base *base, int fd, void (*take)(void *context, int fd),
                                        void *context)
{
    struct wire_listener *listener = calloc(1, sizeof *listener);
    if (!listener) {
        close(fd);
        return NULL;
    }
    *listener = (struct wire_listener){.fd = fd, .take = take, .context = context};
    child_closes(fd, true);
    listener->ready = event_new(base, fd, EV_READ | EV_PERSIST, on_knock, listener);
    listener->rest = evtimer_new(base, go_on, listener);
    if (listener->ready)
        event_priority_set(listener->ready, WIRE_OTHERS);
    if (listener->ready && listener->rest && !event_add(listener->ready, NULL))
        return listener;
    wire_listener_free(listener);
    return NULL;
}

void wire_listener_hold(struct wire_listener *listener, bool hold)
{
    listener->held = hold;
    if (hold)
        event_del(listener->ready);
    else if (!evtimer_pending(listener->rest, NULL))
        event_add(listener->ready, NULL);
}

int wire_listen_name(const char *name)
{
    struct sockaddr_un address;
    socklen_t size = address_of_name(name, &address);
    int fd = new_socket(AF_UNIX);
    if (fd < 0 || (!bind(fd, (const struct sockaddr *)&address, size) && !listen(fd, SOMAXCONN)))
        return fd;
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

void wire_listener_free(struct wire_listener *listener)
{
    if (!listener)
        return;
    if (listener->ready)
        event_free(listener->ready);
    if (listener->rest)
        event_free(listener->rest);
    child_closes(listener->fd, false);
    close(listener->fd);
    free(listener);
}

/* ---- Reaching -------------------------------------------------------------------------------- */

static int connect_there(const struct sockaddr *address, socklen_t size)
{
    int fd = new_socket(address->sa_family);
    if (fd < 0 || !connect(fd, address, size) || errno == EINPROGRESS)
        return fd;
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

int wire_connect_path(const char *path)
{
    struct sockaddr_un address;
    int directory = address_of(path, &address);
    int fd = directory >= 0 ? connect_there((const struct sockaddr *)&address, sizeof address) : -1, saved = errno;
    if (directory >= 0)
        close(directory);
    errno = saved;
    return fd;
}

int wire_connect_name(const char *name)
{
    struct sockaddr_un address;
    socklen_t size = address_of_name(name, &address);
    return connect_there((const struct sockaddr *)&address, size);
}

int wire_connect_address(const struct sockaddr *address, socklen_t size)
{
    return connect_there(address, size);
}

/* ---- Of a connection ------------------------------------------------------------------------- */

int wire_host_seconds(void)
{
    const char *text = getenv("EPOP_HOST_SECONDS");
    int seconds = text ? atoi(text) : 0;
    return seconds > 0 ? seconds : 30;
}

static void set_option(int fd, int option, int value)
{
    setsockopt(fd, IPPROTO_TCP, option, &value, sizeof value);
}

void wire_socket_tune(int fd)
{
    int seconds = wire_host_seconds(), on = 1;
    set_option(fd, TCP_NODELAY, 1);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    set_option(fd, TCP_KEEPIDLE, seconds > 3 ? seconds / 3 : 1);
    set_option(fd, TCP_KEEPINTVL, seconds > 6 ? seconds / 6 : 1);
    set_option(fd, TCP_USER_TIMEOUT, seconds * 1000);
}

bool wire_socket_user(int fd, uid_t *uid)
{
    struct ucred other;
    struct sockaddr_storage own;
    socklen_t size = sizeof other, own_size = sizeof own;
    bool local = !getsockname(fd, (struct sockaddr *)&own, &own_size) && own.ss_family == AF_UNIX;
    if (!local || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &other, &size))
        return false;
    *uid = other.uid;
    return true;
}

void wire_host(char *name, size_t size)
{
    const char *played = getenv("EPOP_HOST_NAME");
    snprintf(name, size, "%s", played ? played : host_own());
}
