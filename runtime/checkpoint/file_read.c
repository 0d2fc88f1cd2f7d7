/*
 * Reads a checkpoint file at any number of ranks. Rank 0 reads its structure by HDF5 and tells it to all; every rank
 * reads its parts by itself, also out of files that are linked. What was read is compared with the dataset's
 * checksum.
 */
#include "runtime/checkpoint/file_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/checkpoint/file_place.h"
#include "runtime/checkpoint/hdf5.h"
#include "runtime/checkpoint/parts.h"
#include "runtime/checkpoint/store.h"
#include "runtime/redist/wait.h"

int catalog_read(struct catalog *catalog, const char *path, struct error *error)
{
    memset(catalog, 0, sizeof *catalog);
    const struct hdf5_module *module = hdf5_load(error);
    return module ? module->read(path, &catalog->head, &catalog->datasets, &catalog->count, error) : -1;
}

/* ---- The catalog, from rank 0 to all ------------------------------------------------------------ */

/* The ranks of a job are of one kind: structures go as they are. */

#define TEXTS 3

struct lengths {
    size_t text[TEXTS], values, datasets;
    int count;
};

static char **catalog_text(struct catalog *catalog, int i)
{
    char **texts[TEXTS] = {&catalog->head.program, &catalog->head.structure, &catalog->head.arguments};
    return texts[i];
}

static struct lengths measure_catalog(struct catalog *catalog)
{
    struct lengths lengths = {.values = catalog->head.value_bytes, .count = catalog->count};
    lengths.datasets = (size_t)catalog->count * sizeof *catalog->datasets;
    for (int i = 0; i < TEXTS; i++)
        lengths.text[i] = strlen(*catalog_text(catalog, i)) + 1;
    return lengths;
}

static size_t total_length(const struct lengths *lengths)
{
    size_t bytes = lengths->values + lengths->datasets;
    for (int i = 0; i < TEXTS; i++)
        bytes += lengths->text[i];
    return bytes;
}

/* Into what rank 0 sends to all, or out of it. Returns where the next part goes. */
static char *move_bytes(char *packed, void *own, size_t bytes, int pack)
{
    if (bytes)
        memcpy(pack ? packed : own, pack ? own : packed, bytes);
    return packed + bytes;
}

static void move_catalog(struct catalog *catalog, const struct lengths *lengths, char *packed, int pack)
{
    for (int i = 0; i < TEXTS; i++)
        packed = move_bytes(packed, *catalog_text(catalog, i), lengths->text[i], pack);
    packed = move_bytes(packed, catalog->head.values, lengths->values, pack);
    move_bytes(packed, catalog->datasets, lengths->datasets, pack);
}

static int make_catalog_room(struct catalog *catalog, const struct lengths *lengths)
{
    int missing = 0;
    for (int i = 0; i < TEXTS; i++)
        missing |= !(*catalog_text(catalog, i) = malloc(lengths->text[i]));
    missing |= !(catalog->head.values = malloc(lengths->values + 1));
    missing |= !(catalog->datasets = malloc(lengths->datasets + 1));
    catalog->count = lengths->count;
    return missing;
}

static int receive_catalog(struct catalog *catalog, const struct checkpoint_head *head, const struct lengths *lengths,
                           char *packed)
{
    catalog->head = *head;
    int missing = make_catalog_room(catalog, lengths);
    if (missing)
        catalog_free(catalog);
    else
        move_catalog(catalog, lengths, packed, 0);
    return missing;
}

static int share_content(struct catalog *catalog, MPI_Comm comm, const struct checkpoint_head *head,
                         const struct lengths *lengths, struct error *error)
{
    int rank, result;
    MPI_Comm_rank(comm, &rank);
    char *packed = malloc(total_length(lengths) + 1);
    if (rank == 0 && packed)
        move_catalog(catalog, lengths, packed, 1);
    result = outcome_of_all(comm, packed ? 0 : error_memory(error), error);
    if (!result)
        result = outcome_of_first(comm, 0, packed, (int64_t)total_length(lengths), error);
    if (!result && rank > 0 && receive_catalog(catalog, head, lengths, packed))
        result = error_memory(error);
    free(packed);
    return outcome_of_all(comm, result, error);
}

/* From rank 0 of comm, where its reading had this result, to all. Collective. 0, or -1 on all with
 * the text of rank 0. */
static int catalog_share(struct catalog *catalog, MPI_Comm comm, int result, struct error *error)
{
    int rank;
    struct lengths lengths = {.count = 0};
    struct checkpoint_head head = {.format = 0};
    MPI_Comm_rank(comm, &rank);
    if (rank == 0 && !result) {
        lengths = measure_catalog(catalog);
        head = catalog->head;
    }
    if (outcome_of_first(comm, result, &lengths, sizeof lengths, error) ||
        outcome_of_first(comm, 0, &head, sizeof head, error))
        return -1;
    result = share_content(catalog, comm, &head, &lengths, error);
    if (result)
        catalog_free(catalog);
    return result;
}

const struct layout_dataset *catalog_find(const struct catalog *catalog, const char *name)
{
    for (int i = 0; i < catalog->count; i++)
        if (!strcmp(catalog->datasets[i].name, name))
            return &catalog->datasets[i];
    return NULL;
}

void catalog_free(struct catalog *catalog)
{
    checkpoint_head_free(&catalog->head);
    free(catalog->datasets);
    catalog->datasets = NULL;
    catalog->count = 0;
}

struct reading {
    MPI_Comm comm;
    int rank, ranks;
    char path[PATH_MAX];
    struct catalog catalog;
};

/* ---- Beginning and end -------------------------------------------------------------------------- */

static int refuse_file(const struct reading *reading, struct error *error)
{
    char text[ERROR_TEXT_MAX];
    snprintf(text, sizeof text, "%s", error->text);
    return error_set(error, error->code, "the checkpoint '%s' %s", reading->path, text);
}

/* The head goes to the caller. */
static int begin_reading(struct reading *reading, struct checkpoint_head *head, struct error *error)
{
    int result = reading->rank == 0 ? catalog_read(&reading->catalog, reading->path, error) : 0;
    if (catalog_share(&reading->catalog, reading->comm, result, error))
        return refuse_file(reading, error);
    *head = reading->catalog.head;
    memset(&reading->catalog.head, 0, sizeof reading->catalog.head);
    return 0;
}

int file_open(const char *path, MPI_Comm comm, struct checkpoint_head *head, void **handle, struct error *error)
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
    int result = begin_reading(reading, head, error);
    if (result)
        free(reading);
    *handle = result ? NULL : reading;
    return result;
}

void file_close(void *handle)
{
    struct reading *reading = handle;
    catalog_free(&reading->catalog);
    free(reading);
}

/* ---- Slabs -------------------------------------------------------------------------------------- */

static int file_shape(void *context, struct slab *slab, struct error *error)
{
    struct reading *reading = context;
    const struct layout_dataset *found = catalog_find(&reading->catalog, slab->name);
    if (!found) {
        error_set(error, ERROR_REFUSED, "has no array '%s'", slab->name);
        return refuse_file(reading, error);
    }
    slab->dims = found->dims;
    memcpy(slab->extent, found->extent, (size_t)found->dims * sizeof *found->extent);
    return 0;
}

static int64_t dataset_elements(const struct layout_dataset *dataset)
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
    else if (file_place_beside(reading->path, dataset->earlier, path))
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
    if (slab->first < 0 || slab->count < 0 || slab->first > dataset_elements(dataset) - slab->count)
        return error_set(error, ERROR_REFUSED, "has %lld elements of '%s', and %lld from %lld on are asked for",
                         (long long)dataset_elements(dataset), slab->name, (long long)slab->count,
                         (long long)slab->first);
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
              (reading->rank == reading->ranks - 1 && before + part->count != dataset_elements(dataset));
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
    int64_t elements = dataset_elements(dataset), block = elements / reading->ranks + 1, begin = block * reading->rank;
    part->first = begin < elements ? begin : elements;
    part->count = elements - part->first < block ? elements - part->first : block;
    part->sum = 0;
    return part_check(fd, dataset->offset, dataset->size, part->first, part->count, &part->sum);
}

static int say_read_failure(int failed, const char *name, struct error *error)
{
    if (failed == ENODATA)
        return error_set(error, ERROR_REFUSED, "is damaged: it ends within '%s'", name);
    return failed ? error_set(error, ERROR_FAILED, "cannot be read: '%s': %s", name, strerror(failed)) : 0;
}

/* Collective, once all have read. */
static int check_sum(const struct reading *reading, const struct layout_dataset *dataset, int fd,
                     const struct part *part, struct error *error)
{
    bool whole;
    uint64_t sum;
    struct part block = *part;
    int failed = sum_of_ranks(reading, dataset, part, &whole, &sum);
    if (!failed && !whole) {
        int looked = say_read_failure(look_through(reading, dataset, fd, &block), dataset->name, error);
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
        result = say_read_failure(part_read(&part, fd), slab->name, error);
    result = outcome_of_all(reading->comm, fd < 0 ? -1 : result, error);
    if (!result)
        result = check_sum(reading, dataset, fd, &part, error);
    if (fd >= 0)
        close(fd);
    return result;
}

static int file_read_slab(void *context, struct slab *slab, struct error *error)
{
    struct reading *reading = context;
    const struct layout_dataset *found = catalog_find(&reading->catalog, slab->name);
    if (!found)
        error_set(error, ERROR_REFUSED, "has no array '%s'", slab->name);
    return found && !read_part(reading, found, slab, error) ? 0 : refuse_file(reading, error);
}

struct slab_reader file_reader(void *handle)
{
    return (struct slab_reader){.context = handle, .shape = file_shape, .read = file_read_slab};
}

/* ---- Which other files it needs ----------------------------------------------------------------- */

static bool is_collected(char **names, int count, const char *name)
{
    int i = 0;
    while (i < count && strcmp(names[i], name))
        i++;
    return i < count;
}

static int collect_names(const struct catalog *catalog, char **names, int *count)
{
    for (int i = 0; i < catalog->count; i++) {
        const char *name = catalog->datasets[i].earlier;
        if (!*name || is_collected(names, *count, name))
            continue;
        if (!(names[*count] = strdup(name)))
            return -1;
        ++*count;
    }
    return 0;
}

int file_needs(const char *path, char ***names, int *count, struct error *error)
{
    struct catalog catalog;
    char text[ERROR_TEXT_MAX];
    *count = 0;
    if (catalog_read(&catalog, path, error)) {
        snprintf(text, sizeof text, "%s", error->text);
        return error_set(error, error->code, "the checkpoint '%s' %s", path, text);
    }
    *names = calloc((size_t)catalog.count + 1, sizeof **names);
    int result = *names && !collect_names(&catalog, *names, count) ? 0 : error_memory(error);
    catalog_free(&catalog);
    while (result && *count > 0)
        free((*names)[--*count]);
    if (result)
        free(*names);
    return result;
}
