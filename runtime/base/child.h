/* Child processes: programs that EPOP starts, and children that the program forks by itself. */
#ifndef EPOP_BASE_CHILD_H
#define EPOP_BASE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "runtime/base/error.h"

/* ---- Programs that are started ------------------------------------------------------------------ */

/* They have no descriptor of this process but those that are named here, and no signal is blocked in them. */

enum { SPAWN_NOTHING = -1 }; /* /dev/null */

struct spawn {
    char *const *argv;        /* [0] is the path */
    char *const *environment; /* NULL: this process's */
    const char *directory;    /* NULL: this process's */
    int in, out, err;         /* descriptors here, or SPAWN_NOTHING */
    int mark;                 /* one more, which it has as descriptor 3; 0: none */
    bool session;             /* in a session of its own: signals to our process group do not reach it */
};

/* 0, or an error number. Any thread. */
int spawn_program(const struct spawn *what, pid_t *pid);

/* Starts it, and waits until it ends: what it prints, and complains of, is in *output then, the caller's to free. After
 * so many seconds it is killed, with all that is of its session. -1: it was, or ended otherwise than with status 0; the
 * line has its first words. Any thread. */
int spawn_read(char *const *argv, double seconds, char **output, struct error *error);

/* ---- Children that the program forks ------------------------------------------------------------ */

/* They have all descriptors that this process has, and a connection of which somebody has a copy does not break when
 * this process dies. What is named here is closed in them. */

/* In children forked from here on *fd is closed, if it is not -1 then. The variable stays for good; the same may be
 * said again. Any thread. */
void child_without(const int *fd);

/* The same for one of many descriptors; `there` is false before it is closed here. Any thread. */
void child_closes(int fd, bool there);

#endif
