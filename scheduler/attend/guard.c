/* The attendant's side of the guard: see guard.h; its own is guarding.c. */
#include "scheduler/attend/guard.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "scheduler/attend/guarding.h"

int guard_start(struct guard *guard, const struct launch *launch, const char *directory, struct error *error)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return error_set(error, ERROR_FAILED, "no guard: %s", strerror(errno));
    guard->pid = fork();
    if (guard->pid == 0) {
        close(ends[0]);
        _exit(guarding(launch, directory, ends[1]));
    }
    close(ends[1]);
    guard->fd = ends[0];
    if (guard->pid > 0)
        return 0;
    close(ends[0]);
    return error_set(error, ERROR_FAILED, "no guard: %s", strerror(errno));
}

static void say(const struct guard *guard, char word)
{
    if (guard->fd >= 0)
        send(guard->fd, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void guard_go(const struct guard *guard)
{
    say(guard, GUARDING_GO);
}

void guard_terminate(const struct guard *guard)
{
    say(guard, GUARDING_TERMINATE);
}

void guard_kill(const struct guard *guard)
{
    say(guard, GUARDING_KILL);
}

int guard_read(struct guard *guard, struct guard_message *message)
{
    ssize_t length = guard->fd >= 0 ? recv(guard->fd, message, sizeof *message, MSG_DONTWAIT) : 0;
    if (length == (ssize_t)sizeof *message)
        return 1;
    if (length < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (guard->fd >= 0)
        close(guard->fd);
    guard->fd = -1;
    return -1;
}
