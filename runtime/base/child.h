/*
 * Children that the program forks: they have all descriptors that this process has, and a connection of which somebody
 * has a copy does not break when this process dies. What is closed in them is said here.
 */
#ifndef EPOP_BASE_CHILD_H
#define EPOP_BASE_CHILD_H

#include <stdbool.h>

/* In children forked from here on *fd is closed, if it is not -1 then. The variable stays for good; the same may be
 * said again. Any thread. */
void child_without(const int *fd);

/* The same for one of many descriptors; `there` is false before it is closed here. Any thread. */
void child_closes(int fd, bool there);

#endif
