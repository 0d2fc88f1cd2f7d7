/* Modules: see module.h. */
#include "scheduler/munge/module.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Executables are bin/NAME and lib/epop/NAME of one tree; those of tests lie deeper. */
static int find(const char *file, char path[PATH_MAX])
{
    static const char *const below[] = {"../lib/epop", ".", "../../lib/epop"};
    char own[PATH_MAX / 2];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    char *slash = length > 0 ? memrchr(own, '/', (size_t)length) : NULL;
    if (!slash)
        return -1;
    *slash = '\0';
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        snprintf(path, PATH_MAX, "%s/%s/%.200s", own, below[i], file);
        if (!access(path, R_OK))
            return 0;
    }
    return -1;
}

const void *module_load(const char *file, const char *symbol, struct error *error)
{
    char path[PATH_MAX];
    void *handle, *found;
    if (find(file, path)) {
        error_set(error, ERROR_FAILED, "lib/epop/%s is missing: it is built where the library's headers are", file);
        return NULL;
    }
    /* Global: the plugins that libslurm loads find its functions by that. */
    handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    found = handle ? dlsym(handle, symbol) : NULL;
    if (!found)
        error_set(error, ERROR_FAILED, "%s", dlerror());
    return found;
}
