/* Helper programs, which are installed beside the library: lib/libepop.so.0 and lib/epop/NAME. */
#ifndef EPOP_HELPER_H
#define EPOP_HELPER_H

#include <stddef.h>

/* The path of the helper program of that name. 0; or -1 where it is not installed, with path "". */
int helper_find(const char *name, char *path, size_t size);

/* Where a file of the tree would be that this process's executable is in, TREE/bin/NAME: "lib/epop/attend", say. 0; -1:
 * that cannot be said, or is too long. */
int tree_path(const char *rest, char *path, size_t size);

#endif
