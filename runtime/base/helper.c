/* Where the helper programs are: see helper.h. */
#include "runtime/base/helper.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
