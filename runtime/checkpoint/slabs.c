/* What is written to a file: slabs, each a dataset; and links to those of an earlier file. */
#include "runtime/checkpoint/slabs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/checkpoint/catalog.h"
#include "runtime/checkpoint/element_type.h"
#include "runtime/checkpoint/file.h"
#include "runtime/checkpoint/limit.h"
#include "runtime/checkpoint/outcome.h"
#include "runtime/checkpoint/parts.h"
#include "runtime/redist/wait.h"

static int64_t elements_of(const struct slab *slab)
{
    int64_t elements = 1;
    for (int i = 0; i < slab->dims; i++)
        elements *= slab->extent[i];
    return elements;
}

/* Do the parts of the ranks follow each other, from the first to the last element? */
static int check_parts(const struct file *file, const struct slab *slab, struct error *error)
{
    int ranks;
    int64_t before = 0;
    MPI_Request request;
    MPI_Comm_size(file->comm, &ranks);
    if (MPI_Iexscan(&slab->count, &before, 1, MPI_INT64_T, MPI_SUM, file->comm, &request) != MPI_SUCCESS ||
        redist_wait(&request) != MPI_SUCCESS)
        return error_set(error, ERROR_FAILED, "'%s': a function of MPI failed", slab->name);
    before = file->rank == 0 ? 0 : before;
    bool gap = slab->count > 0 && slab->first != before;
    if (gap || (file->rank == ranks - 1 && before + slab->count != elements_of(slab)))
        return error_set(error, ERROR_FAILED, "'%s': the parts of the ranks do not make up the whole (rank %d)",
                         slab->name, file->rank);
    return 0;
}

static int describe(struct layout_dataset *dataset, struct layout_type *type, struct part *part,
                    const struct slab *slab, struct error *error)
{
    memset(dataset, 0, sizeof *dataset);
    if (slab->dims < 1 || slab->dims > LAYOUT_DIMS || element_type_of(slab->type, type) || !part_of_slab(part, slab))
        return error_set(error, ERROR_REFUSED, "'%s': elements of this datatype cannot be written", slab->name);
    snprintf(dataset->name, sizeof dataset->name, "%s", slab->name);
    snprintf(dataset->type, sizeof dataset->type, "%s", type->word);
    dataset->size = type->size;
    dataset->dims = slab->dims;
    memcpy(dataset->extent, slab->extent, (size_t)slab->dims * sizeof *slab->extent);
    return 0;
}

/* One more of datasets and, behind, of copies. */
static int append(struct file *file, const struct layout_dataset *dataset, struct error *error)
{
    size_t count = (size_t)file->count + 1;
    struct layout_dataset *datasets = realloc(file->datasets, count * sizeof *datasets);
    if (datasets)
        file->datasets = datasets;
    struct file_copy *copies = file->behind ? realloc(file->copies, count * sizeof *copies) : NULL;
    if (copies)
        file->copies = copies;
    if (!datasets || (file->behind && !copies))
        return error_memory(error);
    file->datasets[file->count] = *dataset;
    if (copies)
        copies[file->count] = (struct file_copy){.bytes = NULL};
    file->count++;
    return 0;
}

/* Large pages are made quickly, and this is what the program waits for. */
static char *room_for(int64_t bytes)
{
    const size_t large = 1 << 21;
    size_t rounded = ((size_t)bytes + large - 1) / large * large;
    if ((size_t)bytes < large)
        return malloc((size_t)bytes);
    char *room = aligned_alloc(large, rounded);
    if (room)
        madvise(room, rounded, MADV_HUGEPAGE);
    return room;
}

static int copy_part(struct file *file, struct part *part, struct error *error)
{
    struct file_copy *copy = &file->copies[file->count - 1];
    int64_t bytes = part_bytes(part);
    if (bytes && !(copy->bytes = room_for(bytes)))
        return error_memory(error);
    copy->count = bytes;
    copy->offset = part_place(part);
    return part_copy(part, copy->bytes) ? error_memory(error) : 0;
}

static int take_part(struct file *file, struct part *part, struct error *error)
{
    struct layout_dataset *dataset = &file->datasets[file->count - 1];
    int failed = 0, result = 0;
    part->offset = dataset->offset;
    if (file->behind)
        result = copy_part(file, part, error);
    else if ((failed = part_write(part, file->fd)))
        result = error_set(error, ERROR_FAILED, "%s", strerror(failed));
    dataset->checksum = part->sum;
    return result;
}

static int write_slab(struct file *file, const struct slab *slab, struct error *error)
{
    struct part part;
    struct layout_type type;
    struct layout_dataset dataset;
    int result = check_parts(file, slab, error);
    result = result ? result : describe(&dataset, &type, &part, slab, error);
    if (file_outcome(file, result, error))
        return -1;
    if (file->rank == 0)
        result = file->module->add(file->structure, &dataset, &type, error);
    if (outcome_of_first(file->comm, result, &dataset.offset, sizeof dataset.offset, error)) {
        file_failed(file, error);
        file_free(file);
        return -1;
    }
    result = append(file, &dataset, error);
    return file_outcome(file, result ? result : take_part(file, &part, error), error);
}

int slabs_write(void *handle, const struct slab *slab, struct error *error)
{
    struct limit_before before = limit_hold();
    int result = write_slab(handle, slab, error);
    limit_release(&before);
    return result;
}

/* ---- Links --------------------------------------------------------------------------- */

/* In the directory of the new file. */
static int find_earlier(const struct file *file, const char *name, const char *earlier, struct layout_dataset *dataset,
                        struct error *error)
{
    char path[PATH_MAX];
    struct catalog catalog;
    if (strlen(earlier) >= LAYOUT_NAME || place_beside(file->place.path, earlier, path))
        return error_set(error, ERROR_REFUSED, "'%s' is to come from '%s', which is no file's name", name, earlier);
    if (catalog_read(&catalog, path, error))
        return error_set(error, ERROR_FAILED, "'%s' is to come from '%s', and that %.400s", name, earlier, error->text);
    const struct layout_dataset *found = catalog_find(&catalog, name);
    if (found)
        *dataset = *found;
    catalog_free(&catalog);
    if (!found)
        return error_set(error, ERROR_FAILED, "'%s' is to come from '%s', which has none", name, earlier);
    if (!*dataset->earlier) /* else that one is linked, too: to where it is */
        snprintf(dataset->earlier, sizeof dataset->earlier, "%s", earlier);
    return 0;
}

int slabs_link(void *handle, const char *name, const char *earlier, struct error *error)
{
    struct file *file = handle;
    struct layout_dataset dataset;
    struct limit_before before = limit_hold();
    int result = 0;
    if (file->rank == 0)
        result = find_earlier(file, name, earlier, &dataset, error);
    if (file->rank == 0 && !result)
        result = file->module->link(file->structure, &dataset, error);
    result = file_outcome(file, result, error);
    limit_release(&before);
    return result;
}
