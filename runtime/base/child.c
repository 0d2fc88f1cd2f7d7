/* Starting programs, and what children that the program forks must not keep open. */
#include "runtime/base/child.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

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
