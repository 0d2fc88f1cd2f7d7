/* A driver of HDF5 that remembers failures; otherwise it does as HDF5's own one for POSIX. */
#include "runtime/checkpoint/hdf5/driver.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct driven {
    H5FD_t base; /* HDF5's, first */
    int fd, trouble;
    int *told;
    haddr_t end, allocated;
};

static struct driven *driven(const H5FD_t *file)
{
    return (struct driven *)file;
}

static void keep_trouble(struct driven *file, int trouble)
{
    if (file->trouble)
        return;
    file->trouble = trouble;
    if (file->told)
        *file->told = trouble;
}

static H5FD_t *open_driven(const char *name, unsigned flags, hid_t access, haddr_t most)
{
    struct stat status;
    struct driven *file = calloc(1, sizeof *file);
    int how = O_RDWR | O_CLOEXEC | (flags & H5F_ACC_TRUNC ? O_TRUNC : 0);
    (void)access;
    (void)most;
    if (!file)
        return NULL;
    file->fd = open(name, how);
    if (file->fd < 0 || fstat(file->fd, &status)) {
        if (file->fd >= 0)
            close(file->fd);
        free(file);
        return NULL;
    }
    file->end = (haddr_t)status.st_size;
    return &file->base;
}

static herr_t close_driven(H5FD_t *file)
{
    close(driven(file)->fd);
    free(file);
    return 0;
}

static herr_t query_features(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA |
             H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t get_allocated(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return driven(file)->allocated;
}

static herr_t set_allocated(H5FD_t *file, H5FD_mem_t type, haddr_t end)
{
    (void)type;
    driven(file)->allocated = end;
    return 0;
}

static haddr_t get_end(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return driven(file)->end;
}

static herr_t get_handle(H5FD_t *file, hid_t access, void **handle)
{
    (void)access;
    *handle = file;
    return 0;
}

/* What is not there is zeros. */
static herr_t read_driven(H5FD_t *file, H5FD_mem_t type, hid_t how, haddr_t at, size_t bytes, void *data)
{
    ssize_t got = 1;
    char *to = data;
    (void)type;
    (void)how;
    for (; bytes && got > 0; at += (haddr_t)got, to += got, bytes -= (size_t)got)
        if ((got = pread(driven(file)->fd, to, bytes, (off_t)at)) <= 0)
            break;
    memset(to, 0, bytes);
    return 0;
}

static herr_t write_driven(H5FD_t *file, H5FD_mem_t type, hid_t how, haddr_t at, size_t bytes, const void *data)
{
    const char *from = data;
    struct driven *own = driven(file);
    (void)type;
    (void)how;
    own->end = at + bytes > own->end ? at + bytes : own->end;
    while (bytes && !own->trouble) {
        ssize_t written = pwrite(own->fd, from, bytes, (off_t)at);
        if (written < 0 && errno != EINTR)
            keep_trouble(own, errno);
        written = written < 0 ? 0 : written;
        from += written;
        at += (haddr_t)written;
        bytes -= (size_t)written;
    }
    return 0;
}

static herr_t truncate_driven(H5FD_t *file, hid_t how, hbool_t closing)
{
    struct driven *own = driven(file);
    (void)how;
    (void)closing;
    if (own->end == own->allocated)
        return 0;
    if (!own->trouble && ftruncate(own->fd, (off_t)own->allocated))
        keep_trouble(own, errno);
    own->end = own->allocated;
    return 0;
}

static const H5FD_class_t driver = {
#ifdef H5FD_CLASS_VERSION
    .version = H5FD_CLASS_VERSION,
#endif
    .name = "epop",
    .maxaddr = (haddr_t)LLONG_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .open = open_driven,
    .close = close_driven,
    .query = query_features,
    .get_eoa = get_allocated,
    .set_eoa = set_allocated,
    .get_eof = get_end,
    .get_handle = get_handle,
    .read = read_driven,
    .write = write_driven,
    .truncate = truncate_driven,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

int driver_choose(hid_t access)
{
    static hid_t registered = H5I_INVALID_HID;
    if (H5Iis_valid(registered) <= 0)
        registered = H5FDregister(&driver);
    return registered < 0 || H5Pset_driver(access, registered, NULL) < 0 ? -1 : 0;
}

/* The driver's own part of a file. */
static struct driven *driver_of_file(hid_t file)
{
    void *handle = NULL;
    return H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) < 0 ? NULL : handle;
}

void driver_watch(hid_t file, int *trouble)
{
    struct driven *own = driver_of_file(file);
    if (own)
        own->told = trouble;
    *trouble = own ? own->trouble : EIO;
}

void driver_stop(hid_t file)
{
    struct driven *own = driver_of_file(file);
    if (own)
        keep_trouble(own, ECANCELED);
}
