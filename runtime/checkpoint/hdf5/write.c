/*
 * Makes the structure of a file. Each dataset is one stretch of the file, which is laid out when the dataset is
 * made, so that others can write there without HDF5; HDF5 itself writes nothing there.
 */
#include "runtime/checkpoint/hdf5/write.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/checkpoint/hdf5/driver.h"
#include "runtime/checkpoint/hdf5/structure.h"

#define PAGE 4096 /* where larger datasets begin: pages that two ranks write are few */

struct writing {
    hid_t file;
    int trouble; /* of the driver: an error number */
    struct linked *linked;
    int links;
};

/* Version 1.8 of the format has checksums of its own structure. No file stays open because an object of it does. */
static hid_t make_new_file(const char *path)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    H5Pset_alignment(access, 4 * PAGE, PAGE);
    H5Pset_attr_phase_change(creation, 0, 0); /* attributes of any length */
    hid_t file = driver_choose(access) ? -1 : H5Fcreate(path, H5F_ACC_TRUNC, creation, access);
    H5Pclose(access);
    H5Pclose(creation);
    return file;
}

static void free_new_file(struct writing *writing)
{
    free(writing->linked);
    free(writing);
}

void write_discard(void *file)
{
    struct writing *writing = file;
    driver_stop(writing->file);
    H5Fclose(writing->file);
    free_new_file(writing);
}

int write_create(const char *path, const struct checkpoint_head *head, void **file, struct error *error)
{
    struct writing *writing = calloc(1, sizeof *writing);
    if (!writing)
        return error_memory(error);
    writing->file = make_new_file(path);
    if (writing->file >= 0)
        driver_watch(writing->file, &writing->trouble);
    if (writing->file >= 0 && !head_put(writing->file, head)) {
        *file = writing;
        return 0;
    }
    errors_tell(error, "its head cannot be written");
    if (writing->file >= 0)
        write_discard(writing);
    else
        free_new_file(writing);
    return -1;
}

static hid_t open_new(hid_t file, const struct layout_dataset *dataset, hid_t type)
{
    hsize_t extent[LAYOUT_DIMS];
    for (int i = 0; i < dataset->dims; i++)
        extent[i] = (hsize_t)dataset->extent[i];
    hid_t space = H5Screate_simple(dataset->dims, extent, NULL);
    hid_t links = H5Pcreate(H5P_LINK_CREATE), creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_create_intermediate_group(links, true);
    H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    hid_t made = H5Dcreate2(file, dataset->name, type, space, links, creation, H5P_DEFAULT);
    H5Pclose(creation);
    H5Pclose(links);
    H5Sclose(space);
    return made;
}

int write_add(void *file, struct layout_dataset *dataset, const struct layout_type *type, struct error *error)
{
    struct writing *writing = file;
    hid_t element = types_make(type);
    hid_t made = element >= 0 ? open_new(writing->file, dataset, element) : -1;
    if (element >= 0)
        H5Tclose(element);
    if (made < 0)
        return errors_tell(error, "the dataset cannot be made");
    haddr_t offset = H5Dget_offset(made);
    int result = attributes_put_text(made, "type", type->word);
    H5Dclose(made);
    dataset->offset = offset == HADDR_UNDEF ? 0 : (int64_t)offset;
    return result ? errors_tell(error, "the dataset cannot be described") : 0;
}

int write_seal(void *file, const struct layout_dataset *dataset, struct error *error)
{
    struct writing *writing = file;
    hid_t found = H5Dopen2(writing->file, dataset->name, H5P_DEFAULT);
    int result = found < 0 ? -1 : attributes_put(found, "checksum", H5T_NATIVE_UINT64, 0, &dataset->checksum);
    if (found >= 0)
        H5Dclose(found);
    return result ? errors_tell(error, "the checksum cannot be written") : 0;
}

static int remember_link(struct writing *writing, const struct layout_dataset *dataset)
{
    struct linked *more = realloc(writing->linked, ((size_t)writing->links + 1) * sizeof *more);
    if (!more)
        return -1;
    writing->linked = more;
    memset(&more[writing->links], 0, sizeof *more);
    memcpy(more[writing->links].name, dataset->name, LAYOUT_NAME);
    memcpy(more[writing->links].file, dataset->earlier, LAYOUT_NAME);
    more[writing->links++].checksum = dataset->checksum;
    return 0;
}

int write_link(void *file, const struct layout_dataset *dataset, struct error *error)
{
    struct writing *writing = file;
    if (remember_link(writing, dataset))
        return error_memory(error);
    hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, true);
    herr_t made = H5Lcreate_external(dataset->earlier, dataset->name, writing->file, dataset->name, links, H5P_DEFAULT);
    H5Pclose(links);
    return made < 0 ? errors_tell(error, "the link cannot be made") : 0;
}

static int put_links(const struct writing *writing)
{
    if (!writing->links)
        return 0;
    hid_t type = linked_type();
    int result = attributes_put(writing->file, "linked", type, (hsize_t)writing->links, writing->linked);
    H5Tclose(type);
    return result;
}

int write_close(void *file, struct error *error)
{
    struct writing *writing = file;
    int failed = put_links(writing) | (H5Fclose(writing->file) < 0), trouble = writing->trouble;
    if (failed)
        errors_tell(error, "its structure cannot be written");
    else if (trouble)
        error_set(error, ERROR_FAILED, "%s", strerror(trouble));
    free_new_file(writing);
    return failed || trouble ? -1 : 0;
}
