/* Starting programs, and what children that the program forks must not keep open. */
#include "runtime/base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/array.h"
#include "runtime/base/clock.h"

/* ---- Programs that are started ------------------------------------------------------------------ */

static void set_descriptor(posix_spawn_file_actions_t *actions, int fd, int as)
{
    if (fd == SPAWN_NOTHING)
        posix_spawn_file_actions_addopen(actions, as, "/dev/null", as == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
    else
        posix_spawn_file_actions_adddup2(actions, fd, as);
}

int spawn_program(const struct spawn *what, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    set_descriptor(&actions, what->in, STDIN_FILENO);
    set_descriptor(&actions, what->out, STDOUT_FILENO);
    set_descriptor(&actions, what->err, STDERR_FILENO);
    if (what->mark)
        set_descriptor(&actions, what->mark, STDERR_FILENO + 1);
    posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + (what->mark ? 2 : 1));
    if (what->directory)
        posix_spawn_file_actions_addchdir_np(&actions, what->directory);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, (short)(POSIX_SPAWN_SETSIGMASK | (what->session ? POSIX_SPAWN_SETSID : 0)));
    int error = posix_spawn(pid, what->argv[0], &actions, &attributes, what->argv,
                            what->environment ? what->environment : environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

#define PIECE 65536

/* -1: the time is over, or there is no memory. */
static int collect_output(int fd, double deadline, char **output)
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

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int start_reading(char *const *argv, int *fd, pid_t *pid, struct error *error)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return error_set(error, ERROR_FAILED, "%s: %s", name_of(argv[0]), strerror(errno));
    struct spawn what = {.argv = argv, .in = SPAWN_NOTHING, .out = ends[1], .err = ends[1], .session = true};
    int failed = spawn_program(&what, pid);
    close(ends[1]);
    *fd = ends[0];
    if (!failed)
        return 0;
    close(ends[0]);
    return error_set(error, ERROR_FAILED, "%s: %s", name_of(argv[0]), strerror(failed));
}

int spawn_read(char *const *argv, double seconds, char **output, struct error *error)
{
    int fd = -1, status = 0;
    pid_t pid;
    if (start_reading(argv, &fd, &pid, error))
        return -1;
    bool late = collect_output(fd, monotonic_seconds() + seconds, output);
    close(fd);
    if (late)
        kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (late)
        return error_set(error, ERROR_TIMEOUT, "%s has not answered for %.0f s", name_of(argv[0]), seconds);
    if (!status)
        return 0;
    error_set(error, ERROR_FAILED, "%s: %.*s", name_of(argv[0]), (int)strcspn(*output, "\n"), *output);
    free(*output);
    return -1;
}

/* ---- Children that the program forks ------------------------------------------------------------ */

enum { MOST = 16, DESCRIPTORS = 1 << 16, WORD = 64 };

static _Atomic(const int *) closed[MOST];
static _Atomic uint64_t many[DESCRIPTORS / WORD]; /* a bit for each descriptor */

static void close_word(int first, uint64_t bits)
{
    for (int bit = 0; bit < WORD && bits; bit++, bits >>= 1)
        if (bits & 1)
            close(first + bit);
}

/* Once: in children of this child the numbers are those of its own files. */
static void close_in_child(void)
{
    for (int i = 0; i < MOST; i++) {
        const int *fd = atomic_exchange(&closed[i], NULL);
        if (fd && *fd >= 0)
            close(*fd);
    }
    for (int i = 0; i < DESCRIPTORS / WORD; i++)
        close_word(i * WORD, atomic_exchange(&many[i], 0));
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, close_in_child);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

void child_without(const int *fd)
{
    pthread_once(&once, watch_forks);
    for (int i = 0; i < MOST; i++) {
        const int *there = NULL;
        if (atomic_compare_exchange_strong(&closed[i], &there, fd) || there == fd)
            return;
    }
}

void child_closes(int fd, bool there)
{
    uint64_t bit = (uint64_t)1 << (fd % WORD);
    if (fd < 0 || fd >= DESCRIPTORS)
        return;
    pthread_once(&once, watch_forks);
    if (there)
        atomic_fetch_or(&many[fd / WORD], bit);
    else
        atomic_fetch_and(&many[fd / WORD], ~bit);
}
