/* Commands: see command.h. */
#include "scheduler/slurm/command.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>

#include "runtime/base/array.h"
#include "runtime/base/child.h"
#include "runtime/base/clock.h"

#define PIECE 65536

static int find(const char *name, char path[PATH_MAX])
{
    const char *folders = getenv("PATH");
    for (const char *at = folders ? folders : "/usr/bin:/bin"; *at;) {
        size_t length = strcspn(at, ":");
        snprintf(path, PATH_MAX, "%.*s/%s", (int)length, at, name);
        if (length && !access(path, X_OK))
            return 0;
        at += length + (at[length] == ':');
    }
    return -1;
}

int command_check(const char *name, struct error *error)
{
    char path[PATH_MAX];
    return find(name, path) ? error_set(error, ERROR_REFUSED, "%s is not in PATH: there is no Slurm here", name) : 0;
}

/* Until its end, or the deadline. Complaints come on the same pipe. */
static int collect(int fd, double deadline, char **output)
{
    size_t room = 0, length = 0;
    char *text = NULL;
    for (;;) {
        struct pollfd waits = {.fd = fd, .events = POLLIN};
        double left = deadline - monotonic_seconds();
        if (array_reserve(&text, &room, length + PIECE + 1, 1) || left <= 0 ||
            (poll(&waits, 1, (int)(left * 1000) + 1) < 0 && errno != EINTR)) {
            free(text);
            return -1;
        }
        ssize_t got = waits.revents ? read(fd, text + length, PIECE) : -1;
        if (!got)
            break;
        length += got > 0 ? (size_t)got : 0;
    }
    text[length] = '\0';
    *output = text;
    return 0;
}

static int start(const char *const *argv, int *fd, pid_t *pid, struct error *error)
{
    char path[PATH_MAX];
    const char *words[32] = {path};
    int ends[2];
    for (int i = 1; i < 31 && argv[i]; i++)
        words[i] = argv[i];
    if (find(argv[0], path))
        return error_set(error, ERROR_FAILED, "%s is not in PATH", argv[0]);
    if (pipe2(ends, O_CLOEXEC))
        return error_set(error, ERROR_FAILED, "%s: %s", argv[0], strerror(errno));
    struct spawn what = {.argv = (char *const *)words, .in = SPAWN_NOTHING, .out = ends[1], .err = ends[1]};
    int failed = spawn_program(&what, pid);
    close(ends[1]);
    *fd = ends[0];
    if (!failed)
        return 0;
    close(ends[0]);
    return error_set(error, ERROR_FAILED, "%s: %s", argv[0], strerror(failed));
}

int command_read(const char *const *argv, double seconds, char **output, struct error *error)
{
    int fd, status = 0;
    pid_t pid;
    if (start(argv, &fd, &pid, error))
        return -1;
    bool late = collect(fd, monotonic_seconds() + seconds, output);
    close(fd);
    if (late)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (late)
        return error_set(error, ERROR_TIMEOUT, "%s has not answered for %.0f s", argv[0], seconds);
    if (!status)
        return 0;
    error_set(error, ERROR_FAILED, "%s: %.*s", argv[0], (int)strcspn(*output, "\n"), *output);
    free(*output);
    return -1;
}
