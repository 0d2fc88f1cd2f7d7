/* Paths: of what is installed beside this program, and of what a user's programs keep. */
#ifndef EPOP_BASE_PATHS_H
#define EPOP_BASE_PATHS_H

#include <stddef.h>
#include <sys/types.h>

/* ---- What is installed -------------------------------------------------------------------------- */

/* The path of the helper program of that name, lib/epop/NAME beside lib/libepop.so.0. 0; or -1 where it is not
 * installed, with path "". */
int helper_find(const char *name, char *path, size_t size);

/* Where a file of the tree would be that this process's executable is in, TREE/bin/NAME: "lib/epop/attend", say. 0; -1:
 * that cannot be said, or is too long. */
int tree_path(const char *rest, char *path, size_t size);

/* ---- What a user's programs keep ---------------------------------------------------------------- */

/* It is in ${XDG_STATE_HOME:-$HOME/.local/state}/epop (XDG Base Directory Specification), which the hosts of a cluster
 * share as they share the home. */

/* The path of a file or folder there; it need not exist. 0; or -1 where there is no home, or no room. Local. */
int statedir_path(char *path, size_t size, const char *name);

/* Makes the folders above any path that are missing. 0, or -1 with errno. */
int make_parents(const char *path, mode_t mode);

#endif
