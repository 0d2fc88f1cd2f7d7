/* The table of lib/epop/hdf5.so. HDF5 prints nothing of its own while one of these functions runs. */
#include "runtime/checkpoint/hdf5/read.h"
#include "runtime/checkpoint/hdf5/structure.h"
#include "runtime/checkpoint/hdf5/write.h"

#include <hdf5.h>
#include <stdio.h>

#include <epop/visibility.h>

#define QUIETLY(call)                                                                                                  \
    struct errors_before before = errors_hold();                                                                       \
    int result = call;                                                                                                 \
    errors_restore(&before);                                                                                           \
    return result

static void module_library(char text[32])
{
    unsigned major = 0, minor = 0, patch = 0;
    H5get_libversion(&major, &minor, &patch);
    snprintf(text, 32, "%u.%u.%u", major, minor, patch);
}

static int module_create(const char *path, const struct checkpoint_head *head, void **file, struct error *error)
{
    QUIETLY(write_create(path, head, file, error));
}

static int module_add(void *file, struct layout_dataset *dataset, const struct layout_type *type, struct error *error)
{
    QUIETLY(write_add(file, dataset, type, error));
}

static int module_seal(void *file, const struct layout_dataset *dataset, struct error *error)
{
    QUIETLY(write_seal(file, dataset, error));
}

static int module_link(void *file, const struct layout_dataset *dataset, struct error *error)
{
    QUIETLY(write_link(file, dataset, error));
}

static int module_close(void *file, struct error *error)
{
    QUIETLY(write_close(file, error));
}

static void module_discard(void *file)
{
    struct errors_before before = errors_hold();
    write_discard(file);
    errors_restore(&before);
}

static int module_read(const char *path, struct checkpoint_head *head, struct layout_dataset **datasets, int *count,
                       struct error *error)
{
    QUIETLY(read_structure(path, head, datasets, count, error));
}

EPOP_EXPORT extern const struct hdf5_module hdf5_module;
const struct hdf5_module hdf5_module = {
    .version = HDF5_MODULE_VERSION,
    .library = module_library,
    .create = module_create,
    .add = module_add,
    .seal = module_seal,
    .link = module_link,
    .close = module_close,
    .discard = module_discard,
    .read = module_read,
};
