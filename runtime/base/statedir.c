/* The user's state directory: see statedir.h. */
#include "runtime/base/statedir.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int statedir_path(char *path, size_t size, const char *name)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    bool given = state && state[0] == '/';
    if (!given && (!home || home[0] != '/'))
        return -1;
    int length = snprintf(path, size, "%s%s/epop/%s", given ? state : home, given ? "" : "/.local/state", name);
    return length > 0 && (size_t)length < size ? 0 : -1;
}

int make_parents(const char *path, mode_t mode)
{
    char *part = strdup(path);
    int failed = part ? 0 : -1;
    for (char *slash = part ? strchr(part + 1, '/') : NULL; slash && !failed; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        failed = mkdir(part, mode) && errno != EEXIST ? -1 : 0;
        *slash = '/';
    }
    int why = errno;
    free(part);
    errno = why;
    return failed;
}
