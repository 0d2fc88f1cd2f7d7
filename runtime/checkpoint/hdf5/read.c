/* Reads what a file has besides data: its head, and where each dataset is, also those that are linked. */
#include "runtime/checkpoint/hdf5/read.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/checkpoint/hdf5/structure.h"

#define LINKS_MOST 100000

struct reading {
    const char *path;
    hid_t file;
    int64_t bytes; /* of the file */
    struct layout_dataset *datasets;
    int count, links;
    struct error *error;
};

static int64_t file_bytes(const char *path)
{
    struct stat status;
    return stat(path, &status) ? 0 : (int64_t)status.st_size;
}

static int say_damaged(struct reading *reading, const char *name, const char *what)
{
    return error_set(reading->error, ERROR_REFUSED, "is damaged: '%s' %s", name, what);
}

static struct layout_dataset *append_found(struct reading *reading, const char *name)
{
    struct layout_dataset *more = realloc(reading->datasets, ((size_t)reading->count + 1) * sizeof *more);
    if (!more) {
        error_memory(reading->error);
        return NULL;
    }
    reading->datasets = more;
    memset(&more[reading->count], 0, sizeof *more);
    snprintf(more[reading->count].name, LAYOUT_NAME, "%s", name);
    return &more[reading->count++];
}

static int get_extent(hid_t dataset, struct layout_dataset *found)
{
    hsize_t extent[LAYOUT_DIMS];
    hid_t space = H5Dget_space(dataset);
    found->dims = H5Sget_simple_extent_ndims(space);
    int result = found->dims >= 1 && found->dims <= LAYOUT_DIMS ? H5Sget_simple_extent_dims(space, extent, NULL) : -1;
    for (int i = 0; result >= 0 && i < found->dims; i++)
        found->extent[i] = (int64_t)extent[i];
    H5Sclose(space);
    return result < 0 ? -1 : 0;
}

static int64_t get_size(hid_t dataset)
{
    hid_t type = H5Dget_type(dataset);
    size_t size = H5Tget_size(type);
    H5Tclose(type);
    return (int64_t)size;
}

/* Bytes of a dataset; -1: there is no such number. */
static int64_t found_bytes(const struct layout_dataset *found)
{
    int64_t bytes = found->size;
    for (int i = 0; i < found->dims; i++) {
        if (found->extent[i] < 0 || __builtin_mul_overflow(bytes, found->extent[i], &bytes))
            return -1;
    }
    return bytes;
}

static int describe_found(struct reading *reading, hid_t dataset, struct layout_dataset *found)
{
    char *word = NULL;
    haddr_t offset = H5Dget_offset(dataset);
    found->size = get_size(dataset);
    if (get_extent(dataset, found) || found->size <= 0 || attributes_get_text(dataset, "type", &word) ||
        attributes_get(dataset, "checksum", H5T_NATIVE_UINT64, &found->checksum)) {
        free(word);
        return say_damaged(reading, found->name, "has no shape, type or checksum that were written with it");
    }
    snprintf(found->type, sizeof found->type, "%s", word);
    free(word);
    int64_t bytes = found_bytes(found);
    found->offset = offset == HADDR_UNDEF ? 0 : (int64_t)offset;
    if (bytes < 0 || (bytes && (offset == HADDR_UNDEF || found->offset > reading->bytes - bytes)))
        return say_damaged(reading, found->name, "reaches beyond the end of the file");
    return 0;
}

static int add_dataset(struct reading *reading, const char *name)
{
    struct layout_dataset *found = append_found(reading, name);
    hid_t dataset = found ? H5Dopen2(reading->file, name, H5P_DEFAULT) : -1;
    if (!found)
        return -1;
    if (dataset < 0)
        return say_damaged(reading, name, "cannot be opened");
    int result = describe_found(reading, dataset, found);
    H5Dclose(dataset);
    return result;
}

static herr_t visit_link(hid_t group, const char *name, const H5L_info_t *info, void *data)
{
    struct reading *reading = data;
    if (++reading->links > LINKS_MOST || strlen(name) >= LAYOUT_NAME)
        return error_set(reading->error, ERROR_REFUSED, "is damaged: it has more, or deeper, groups than any of ours");
    if (info->type != H5L_TYPE_HARD)
        return 0;
    hid_t object = H5Oopen(group, name, H5P_DEFAULT);
    if (object < 0)
        return say_damaged(reading, name, "cannot be opened");
    H5I_type_t type = H5Iget_type(object);
    H5Oclose(object);
    return type == H5I_DATASET ? add_dataset(reading, name) : 0;
}

/* A FIFO would be waited for. */
static bool is_regular(const char *path)
{
    struct stat status;
    return stat(path, &status) || S_ISREG(status.st_mode);
}

static hid_t open_file(const char *path, struct error *error)
{
    if (!is_regular(path))
        return error_set(error, ERROR_REFUSED, "cannot be read: it is no regular file");
    hid_t how = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_file_locking(how, false, true);
    H5Pset_fclose_degree(how, H5F_CLOSE_STRONG);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, how);
    if (file < 0)
        errors_tell(error, "is damaged"); /* before the next call of HDF5, which forgets why */
    H5Pclose(how);
    if (file >= 0)
        return file;
    if (access(path, R_OK))
        error_set(error, ERROR_REFUSED, "cannot be read: %s", strerror(errno));
    else if (H5Fis_hdf5(path) <= 0)
        error_set(error, ERROR_REFUSED, "is no HDF5 file, or damaged at its beginning");
    return file;
}

/* ---- Links -------------------------------------------------------------------------------------- */

static int read_rows(hid_t attribute, struct linked **rows, int *count)
{
    hid_t space = H5Aget_space(attribute), type = linked_type();
    hssize_t there = H5Sget_simple_extent_npoints(space);
    *rows = there > 0 && there < INT_MAX ? calloc((size_t)there, sizeof **rows) : NULL;
    int result = *rows && H5Aread(attribute, type, *rows) >= 0 ? 0 : -1;
    *count = result ? 0 : (int)there;
    H5Tclose(type);
    H5Sclose(space);
    return result;
}

static int get_links(struct reading *reading, struct linked **rows, int *count)
{
    *rows = NULL;
    *count = 0;
    if (H5Aexists(reading->file, "linked") == 0)
        return 0;
    hid_t attribute = H5Aopen(reading->file, "linked", H5P_DEFAULT);
    int result = attribute < 0 ? -1 : read_rows(attribute, rows, count);
    if (attribute >= 0)
        H5Aclose(attribute);
    return result ? say_damaged(reading, "linked", "cannot be read") : 0;
}

/* The file that a link names, in the same directory. */
static hid_t open_linked(struct reading *reading, const struct linked *row, int64_t *bytes)
{
    char path[PATH_MAX];
    const char *slash = strrchr(reading->path, '/');
    struct error why;
    snprintf(path, sizeof path, "%.*s%.*s", slash ? (int)(slash + 1 - reading->path) : 0, reading->path,
             LAYOUT_NAME - 1, row->file);
    hid_t file = open_file(path, &why);
    if (file < 0)
        error_set(reading->error, ERROR_REFUSED, "needs '%.255s' for '%.255s', and that %.400s", row->file, row->name,
                  why.text);
    *bytes = file_bytes(path);
    return file;
}

static int add_linked(struct reading *reading, const struct linked *row)
{
    struct reading other = *reading;
    other.file = open_linked(reading, row, &other.bytes);
    if (other.file < 0)
        return -1;
    int result = add_dataset(&other, row->name);
    H5Fclose(other.file);
    reading->datasets = other.datasets;
    reading->count = other.count;
    if (result)
        return error_set(reading->error, ERROR_REFUSED, "needs '%.255s' for '%.255s', and that %.400s", row->file,
                         row->name, reading->error->text);
    struct layout_dataset *found = &reading->datasets[reading->count - 1];
    memcpy(found->earlier, row->file, LAYOUT_NAME);
    if (found->checksum != row->checksum)
        return error_set(reading->error, ERROR_REFUSED, "needs '%.255s' for '%.255s', and there it is another array",
                         row->file, row->name);
    return 0;
}

static int add_all_linked(struct reading *reading)
{
    struct linked *rows;
    int count, result = get_links(reading, &rows, &count);
    for (int i = 0; !result && i < count; i++) {
        rows[i].name[LAYOUT_NAME - 1] = rows[i].file[LAYOUT_NAME - 1] = '\0';
        result = strchr(rows[i].file, '/') ? say_damaged(reading, "linked", "names another directory")
                                           : add_linked(reading, &rows[i]);
    }
    free(rows);
    return result;
}

/* ---- All ---------------------------------------------------------------------------------------- */

static int read_head_and_datasets(struct reading *reading, struct checkpoint_head *head)
{
    if (head_get(reading->file, head, reading->error))
        return -1;
    reading->error->code = ERROR_NONE;
    herr_t visited = H5Lvisit(reading->file, H5_INDEX_NAME, H5_ITER_INC, visit_link, reading);
    if (visited < 0 && reading->error->code == ERROR_NONE)
        errors_tell(reading->error, "is damaged");
    if (visited >= 0 && !add_all_linked(reading))
        return 0;
    checkpoint_head_free(head);
    return -1;
}

int read_structure(const char *path, struct checkpoint_head *head, struct layout_dataset **datasets, int *count,
                   struct error *error)
{
    struct reading reading = {.path = path, .file = open_file(path, error), .bytes = file_bytes(path), .error = error};
    if (reading.file < 0)
        return -1;
    int result = read_head_and_datasets(&reading, head);
    H5Fclose(reading.file);
    if (result)
        free(reading.datasets);
    *datasets = result ? NULL : reading.datasets;
    *count = reading.count;
    return result;
}
