/* Finds and loads lib/epop/hdf5.so, beside the library that this code is part of, or beside the executable. */
#include "runtime/checkpoint/hdf5.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* From lib/libepop.so; from tests/mpi/NAME, bench/NAME, which have the library in themselves. */
static const char *const places[] = {"epop/hdf5.so", "../lib/epop/hdf5.so", "../../lib/epop/hdf5.so"};

static bool look_beside_file(const char *file, char path[PATH_MAX])
{
    const char *slash = strrchr(file, '/');
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        if (snprintf(path, PATH_MAX, "%.*s/%s", (int)(slash - file), file, places[i]) < PATH_MAX && !access(path, R_OK))
            return true;
    }
    return false;
}

static bool find_module(char path[PATH_MAX])
{
    char own[PATH_MAX / 2];
    Dl_info info;
    if (dladdr(places, &info) && look_beside_file(info.dli_fname, path))
        return true;
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length <= 0)
        return false;
    own[length] = '\0';
    return look_beside_file(own, path);
}

static const struct hdf5_module *load_module(struct error *error)
{
    char path[PATH_MAX];
    if (!find_module(path)) {
        error_set(error, ERROR_FAILED,
                  "this EPOP was built without HDF5 (lib/epop/hdf5.so is missing): install libhdf5-dev, or what "
                  "it is called here, and build again");
        return NULL;
    }
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct hdf5_module *found = handle ? dlsym(handle, "hdf5_module") : NULL;
    if (!found)
        error_set(error, ERROR_FAILED, "HDF5 cannot be loaded: %s; install libhdf5-103-1, or what it is called here",
                  dlerror());
    else if (found->version != HDF5_MODULE_VERSION)
        error_set(error, ERROR_FAILED, "%s is of another EPOP (version %u, not %u): install it again", path,
                  found->version, HDF5_MODULE_VERSION);
    return found && found->version == HDF5_MODULE_VERSION ? found : NULL;
}

const struct hdf5_module *hdf5_load(struct error *error)
{
    static const struct hdf5_module *loaded;
    if (!loaded)
        loaded = load_module(error);
    return loaded;
}
