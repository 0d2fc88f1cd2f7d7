/* Starting programs: with no descriptor of ours but those that are said, and with no signal blocked. */
#ifndef EPOP_BASE_SPAWN_H
#define EPOP_BASE_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

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

#endif
