/*
 * Reads a file at any number of ranks. Rank 0 reads its structure by HDF5 and tells it to all; every rank reads its
 * parts by itself, also out of files that are linked. What was read is compared with the dataset's checksum.
 */
#include "runtime/checkpoint/reading.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/checkpoint/catalog.h"
#include "runtime/checkpoint/element_type.h"
#include "runtime/checkpoint/outcome.h"
#include "runtime/checkpoint/parts.h"
#include "runtime/checkpoint/place.h"
#include "runtime/redist/wait.h"

struct reading {
    MPI_Comm comm;
    int rank, ranks;
    char path[PATH_MAX];
    struct catalog catalog;
};

/* ---- Beginning and end -------------------------------------------------------------- */

static int refuse(const struct reading *reading, struct error *error)
{
    char text[ERROR_TEXT_MAX];
    snprintf(text, sizeof text, "%s", error->text);
    return error_set(error, error->code, "the checkpoint '%s' %s", reading->path, text);
}

/* The head goes to the caller. */
static int begin(struct reading *reading, struct checkpoint_head *head, struct error *error)
{
    int result = reading->rank == 0 ? catalog_read(&reading->catalog, reading->path, error) : 0;
    if (catalog_share(&reading->catalog, reading->comm, result, error))
        return refuse(reading, error);
    *head = reading->catalog.head;
    memset(&reading->catalog.head, 0, sizeof reading->catalog.head);
    return 0;
}

int reading_open(const char *path, MPI_Comm comm, struct checkpoint_head *head, void **handle, struct error *error)
{
    struct reading *reading = calloc(1, sizeof *reading);
    if (outcome_of_all(comm, reading ? 0 : error_memory(error), error)) {
        free(reading);
        return -1;
    }
    reading->comm = comm;
    MPI_Comm_rank(comm, &reading->rank);
    MPI_Comm_size(comm, &reading->ranks);
    snprintf(reading->path, sizeof reading->path, "%s", path);
    int result = begin(reading, head, error);
    if (result)
        free(reading);
    *handle = result ? NULL : reading;
    return result;
}

void reading_close(void *handle)
{
    struct reading *reading = handle;
    catalog_free(&reading->catalog);
    free(reading);
}

/* ---- Data ----------------------------------------------------------------------------- */

static int shape(void *context, struct slab *slab, struct error *error)
{
    struct reading *reading = context;
    const struct layout_dataset *found = catalog_find(&reading->catalog, slab->name);
    if (!found) {
        error_set(error, ERROR_REFUSED, "has no array '%s'", slab->name);
        return refuse(reading, error);
    }
    slab->dims = found->dims;
    memcpy(slab->extent, found->extent, (size_t)found->dims * sizeof *found->extent);
    return 0;
}

static int64_t elements_of(const struct layout_dataset *dataset)
{
    int64_t elements = 1;
    for (int i = 0; i < dataset->dims; i++)
        elements *= dataset->extent[i];
    return elements;
}

static int open_for(const struct reading *reading, const struct layout_dataset *dataset, struct error *error)
{
    char path[PATH_MAX];
    if (!*dataset->earlier)
        memcpy(path, reading->path, sizeof path);
    else if (place_beside(reading->path, dataset->earlier, path))
        return error_set(error, ERROR_REFUSED, "cannot be read: its path is too long");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        error_set(error, ERROR_FAILED, "cannot be read by rank %d: %s; all hosts have to see its directory",
                  reading->rank, strerror(errno));
    return fd;
}

static int check_request(const struct layout_dataset *dataset, const struct slab *slab, struct part *part,
                         struct error *error)
{
    struct layout_type type;
    if (element_type_of(slab->type, &type) || !part_of_slab(part, slab))
        return error_set(error, ERROR_REFUSED, "cannot be read: '%s' is asked for as a datatype that cannot be written",
                         slab->name);
    if (strcmp(type.word, dataset->type) || type.size != dataset->size)
        return error_set(error, ERROR_REFUSED, "has '%s' as %s, and the program has it as %s", slab->name,
                         dataset->type, type.word);
    if (slab->first < 0 || slab->count < 0 || slab->first > elements_of(dataset) - slab->count)
        return error_set(error, ERROR_REFUSED, "has %lld elements of '%s', and %lld from %lld on are asked for",
                         (long long)elements_of(dataset), slab->name, (long long)slab->count, (long long)slab->first);
    part->offset = dataset->offset;
    return 0;
}

/* Did the ranks together read each element once? Then their sums are that of the whole. */
static int sum_of_ranks(const struct reading *reading, const struct layout_dataset *dataset, const struct part *part,
                        bool *whole, uint64_t *sum)
{
    MPI_Request request;
    int64_t before = 0;
    uint64_t mine[2] = {0, part->sum}, all[2];
    if (MPI_Iexscan(&part->count, &before, 1, MPI_INT64_T, MPI_SUM, reading->comm, &request) != MPI_SUCCESS ||
        redist_wait(&request) != MPI_SUCCESS)
        return -1;
    before = reading->rank == 0 ? 0 : before;
    mine[0] = (part->count && part->first != before) ||
              (reading->rank == reading->ranks - 1 && before + part->count != elements_of(dataset));
    if (MPI_Iallreduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, reading->comm, &request) != MPI_SUCCESS ||
        redist_wait(&request) != MPI_SUCCESS)
        return -1;
    *whole = all[0] == 0;
    *sum = all[1];
    return 0;
}

/* Each rank looks at a block of the dataset. */
static int look_through(const struct reading *reading, const struct layout_dataset *dataset, int fd, struct part *part)
{
    int64_t elements = elements_of(dataset), block = elements / reading->ranks + 1, begin = block * reading->rank;
    part->first = begin < elements ? begin : elements;
    part->count = elements - part->first < block ? elements - part->first : block;
    part->sum = 0;
    return part_check(fd, dataset->offset, dataset->size, part->first, part->count, &part->sum);
}

static int tell(int failed, const char *name, struct error *error)
{
    if (failed == ENODATA)
        return error_set(error, ERROR_REFUSED, "is damaged: it ends within '%s'", name);
    return failed ? error_set(error, ERROR_FAILED, "cannot be read: '%s': %s", name, strerror(failed)) : 0;
}

/* Collective behind the reading. */
static int check_sum(const struct reading *reading, const struct layout_dataset *dataset, int fd,
                     const struct part *part, struct error *error)
{
    bool whole;
    uint64_t sum;
    struct part block = *part;
    int failed = sum_of_ranks(reading, dataset, part, &whole, &sum);
    if (!failed && !whole) {
        int looked = tell(look_through(reading, dataset, fd, &block), dataset->name, error);
        if (outcome_of_all(reading->comm, looked, error))
            return -1;
        failed = sum_of_ranks(reading, dataset, &block, &whole, &sum);
    }
    if (failed)
        return error_set(error, ERROR_FAILED, "cannot be read: a function of MPI failed");
    if (sum != dataset->checksum)
        return error_set(error, ERROR_REFUSED, "is damaged: '%s' is not what was written (checksum)", dataset->name);
    return 0;
}

static int read_part(const struct reading *reading, const struct layout_dataset *dataset, const struct slab *slab,
                     struct error *error)
{
    struct part part;
    int result = check_request(dataset, slab, &part, error);
    int fd = result ? -1 : open_for(reading, dataset, error);
    if (fd >= 0)
        result = tell(part_read(&part, fd), slab->name, error);
    result = outcome_of_all(reading->comm, fd < 0 ? -1 : result, error);
    if (!result)
        result = check_sum(reading, dataset, fd, &part, error);
    if (fd >= 0)
        close(fd);
    return result;
}

static int read_slab(void *context, struct slab *slab, struct error *error)
{
    struct reading *reading = context;
    const struct layout_dataset *found = catalog_find(&reading->catalog, slab->name);
    if (!found)
        error_set(error, ERROR_REFUSED, "has no array '%s'", slab->name);
    return found && !read_part(reading, found, slab, error) ? 0 : refuse(reading, error);
}

struct slab_reader reading_reader(void *handle)
{
    return (struct slab_reader){.context = handle, .shape = shape, .read = read_slab};
}

/* ---- Other files ------------------------------------------------------------------------ */

static bool has_name(char **names, int count, const char *name)
{
    int i = 0;
    while (i < count && strcmp(names[i], name))
        i++;
    return i < count;
}

static int collect(const struct catalog *catalog, char **names, int *count)
{
    for (int i = 0; i < catalog->count; i++) {
        const char *name = catalog->datasets[i].earlier;
        if (!*name || has_name(names, *count, name))
            continue;
        if (!(names[*count] = strdup(name)))
            return -1;
        ++*count;
    }
    return 0;
}

int reading_needs(const char *path, char ***names, int *count, struct error *error)
{
    struct catalog catalog;
    char text[ERROR_TEXT_MAX];
    *count = 0;
    if (catalog_read(&catalog, path, error)) {
        snprintf(text, sizeof text, "%s", error->text);
        return error_set(error, error->code, "the checkpoint '%s' %s", path, text);
    }
    *names = calloc((size_t)catalog.count + 1, sizeof **names);
    int result = *names && !collect(&catalog, *names, count) ? 0 : error_memory(error);
    catalog_free(&catalog);
    while (result && *count > 0)
        free((*names)[--*count]);
    if (result)
        free(*names);
    return result;
}
