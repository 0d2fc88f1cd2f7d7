/* Where the files of EPOP and of its users are. */
#include "runtime/base/paths.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- What is installed -------------------------------------------------------------------------- */

int helper_find(const char *name, char *path, size_t size)
{
    static const char here;
    Dl_info self;
    path[0] = 0;
    if (!dladdr(&here, &self) || !self.dli_fname)
        return -1;
    const char *slash = strrchr(self.dli_fname, '/');
    int folder = slash ? (int)(slash + 1 - self.dli_fname) : 0;
    int length = snprintf(path, size, "%.*sepop/%s", folder, self.dli_fname, name);
    if (length >= 0 && (size_t)length < size && !access(path, X_OK))
        return 0;
    path[0] = 0;
    return -1;
}

int tree_path(const char *rest, char *path, size_t size)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return -1;
    self[length] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(self, '/');
        if (slash)
            *slash = '\0';
    }
    int used = snprintf(path, size, "%s/%s", self, rest);
    return used >= 0 && (size_t)used < size ? 0 : -1;
}

/* ---- What a user's programs keep ---------------------------------------------------------------- */

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
