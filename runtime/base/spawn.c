/* Starting programs: see spawn.h. */
#include "runtime/base/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

static void give(posix_spawn_file_actions_t *actions, int fd, int as)
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
    give(&actions, what->in, STDIN_FILENO);
    give(&actions, what->out, STDOUT_FILENO);
    give(&actions, what->err, STDERR_FILENO);
    if (what->mark)
        give(&actions, what->mark, STDERR_FILENO + 1);
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
