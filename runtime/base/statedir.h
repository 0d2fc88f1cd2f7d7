/*
 * What a user's programs keep: ${XDG_STATE_HOME:-$HOME/.local/state}/epop (XDG Base Directory Specification), which
 * the hosts of a cluster share as they share the home.
 */
#ifndef EPOP_STATEDIR_H
#define EPOP_STATEDIR_H

#include <stddef.h>
#include <sys/types.h>

/* The path of a file or folder there; it need not exist. 0; or -1 where there is no home, or no room. Local. */
int statedir_path(char *path, size_t size, const char *name);

/* Makes the folders above the path that are missing. 0, or -1 with errno. */
int make_parents(const char *path, mode_t mode);

#endif
