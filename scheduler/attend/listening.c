/* Accepting connections: see listening.h. */
#include "scheduler/attend/listening.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "scheduler/epoprm/address.h"

static bool is_ours(int fd)
{
    struct ucred other;
    socklen_t length = sizeof other;
    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &other, &length) && (other.uid == geteuid() || !other.uid);
}

static void take(void *context, int fd)
{
    const struct listening *l = context;
    if (is_ours(fd))
        l->take(l->context, fd);
    else
        close(fd);
}

/* Under another name first: who finds it there can connect. */
static int bind_at(int fd, const char *path, struct error *error)
{
    struct sockaddr_un address;
    char fresh[PATH_MAX];
    int directory;
    snprintf(fresh, sizeof fresh, "%s~", path);
    if (address_make(&address, &directory, fresh, error))
        return -1;
    unlink(fresh);
    int failed = bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 16) || rename(fresh, path);
    if (failed)
        error_set(error, ERROR_FAILED, "%s: %s", path, strerror(errno));
    close(directory);
    return failed ? -1 : 0;
}

int listening_open(struct listening *l, struct loop *loop, const char *directory, void (*to)(void *context, int fd),
                   void *context, struct error *error)
{
    *l = (struct listening){.take = to, .context = context};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || asprintf(&l->path, "%s/socket", directory) < 0)
        return error_set(error, ERROR_FAILED, "no socket: %s", strerror(errno));
    if (bind_at(fd, l->path, error))
        return -1;
    return listener_begin(&l->listener, loop, fd, take, l) ? error_memory(error) : 0;
}

void listening_close(struct listening *l)
{
    unlink(l->path);
    listener_end(&l->listener);
    close(l->listener.watched.fd);
    free(l->path);
}
