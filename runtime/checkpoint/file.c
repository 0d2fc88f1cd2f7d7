/*
 * The store of files: writing a checkpoint file. Rank 0 makes its structure by HDF5 and says where each dataset
 * lies; every rank writes its part there by itself. So what is written needs neither MPI nor HDF5, and a thread can
 * do it while the program goes on.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/thread.h"
#include "runtime/checkpoint/file_place.h"
#include "runtime/checkpoint/file_read.h"
#include "runtime/checkpoint/hdf5.h"
#include "runtime/checkpoint/parts.h"
#include "runtime/checkpoint/store.h"
#include "runtime/redist/wait.h"

/* This rank's part of a dataset, until the thread has written it. */
struct file_copy {
    char *bytes;
    int64_t count, offset;
};

struct file {
    MPI_Comm comm;
    int rank;
    struct file_place place;          /* its lock: rank 0's alone */
    int fd;                           /* for data; rank 0's is the lock */
    const struct hdf5_module *module; /* rank 0, until the structure is complete */
    void *structure;
    struct layout_dataset *datasets; /* checksum: of this rank's part */
    int count;
    bool async;
    struct file_copy *copies; /* async: one for each dataset */
    pthread_t thread;         /* async: writes the copies */
    sem_t go;
    bool running, called_off;
    struct store_listener listener;
    struct error error; /* of the thread */
};

/* ---- The limit of the process ------------------------------------------------------------------- */

/* A file that grows beyond it (ulimit -f) is an error like others here, and no signal. That comes to the thread that
 * writes. */
struct limit_before {
    sigset_t mask;
    bool pending;
};

static void only_limit(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGXFSZ);
}

static bool limit_is_pending(void)
{
    sigset_t pending;
    return !sigpending(&pending) && sigismember(&pending, SIGXFSZ) == 1;
}

/* Of the calling thread. */
static struct limit_before limit_hold(void)
{
    sigset_t set;
    struct limit_before before = {.pending = limit_is_pending()};
    only_limit(&set);
    pthread_sigmask(SIG_BLOCK, &set, &before.mask);
    return before;
}

static void limit_release(const struct limit_before *before)
{
    sigset_t set;
    const struct timespec now = {0};
    only_limit(&set);
    while (!before->pending && limit_is_pending() && sigtimedwait(&set, NULL, &now) == SIGXFSZ)
        continue;
    pthread_sigmask(SIG_SETMASK, &before->mask, NULL);
}

/* ---- What can go wrong -------------------------------------------------------------------------- */

/* Puts the file's name before the text. Always -1. */
static int file_failed(const struct file *file, struct error *error)
{
    char text[ERROR_TEXT_MAX];
    snprintf(text, sizeof text, "%s", error->text);
    return error_set(error, error->code, "the checkpoint '%s' cannot be written: %s", file->place.path, text);
}

/* Frees all, and removes what is not settled. Local. */
static void file_free(struct file *file)
{
    if (file->structure)
        file->module->discard(file->structure);
    if (file->fd >= 0 && file->fd != file->place.lock)
        close(file->fd);
    file_place_remove(&file->place);
    for (int i = 0; file->copies && i < file->count; i++)
        free(file->copies[i].bytes);
    free(file->copies);
    free(file->datasets);
    free(file);
}

/* One result for all ranks; where it is bad nothing stays, and the text names the file. Collective. */
static int file_outcome(struct file *file, int result, struct error *error)
{
    if (!outcome_of_all(file->comm, result, error))
        return 0;
    file_failed(file, error);
    file_free(file);
    return -1;
}

/* ---- The beginning ------------------------------------------------------------------------------ */

static int begin_first(struct file *file, const struct checkpoint_head *head, struct error *error)
{
    file->module = hdf5_load(error);
    if (!file->module || file_place_make(&file->place, error))
        return -1;
    file->fd = file->place.lock;
    return file->module->create(file->place.part, head, &file->structure, error);
}

/* Behind rank 0, whose host the name has. */
static int begin_other(struct file *file, struct error *error)
{
    file->fd = open(file->place.part, O_WRONLY | O_CLOEXEC);
    if (file->fd >= 0)
        return 0;
    return error_set(error, ERROR_FAILED, "rank %d cannot open it: %s; all hosts have to see this directory",
                     file->rank, strerror(errno));
}

static struct file *new_file(const char *path, MPI_Comm comm, bool async, struct error *error)
{
    struct file *file = calloc(1, sizeof *file);
    if (!file) {
        error_memory(error);
        return NULL;
    }
    *file = (struct file){.comm = comm, .fd = -1, .async = async};
    MPI_Comm_rank(comm, &file->rank);
    if (!file_place_name(&file->place, path, error))
        return file;
    free(file);
    return NULL;
}

static int begin_file(const char *path, MPI_Comm comm, const struct checkpoint_head *head, bool async, void **handle,
                      struct error *error)
{
    struct file *file = new_file(path, comm, async, error);
    if (outcome_of_all(comm, file ? 0 : -1, error)) {
        free(file);
        return -1;
    }
    struct limit_before before = limit_hold();
    int result = file_outcome(file, file->rank == 0 ? begin_first(file, head, error) : 0, error);
    if (!result)
        result = file_outcome(file, outcome_of_first(comm, 0, file->place.part, sizeof file->place.part, error), error);
    if (!result)
        result = file_outcome(file, file->rank > 0 ? begin_other(file, error) : 0, error);
    limit_release(&before);
    *handle = result ? NULL : file;
    return result;
}

/* As store_table has it. */
static int file_create(const char *path, MPI_Comm comm, const struct checkpoint_head *head, void **file,
                       struct error *error)
{
    return begin_file(path, comm, head, false, file, error);
}

static int file_create_async(const char *path, MPI_Comm comm, const struct checkpoint_head *head, void **file,
                             struct error *error)
{
    return begin_file(path, comm, head, true, file, error);
}

/* ---- Slabs -------------------------------------------------------------------------------------- */

static int64_t slab_elements(const struct slab *slab)
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
    if (gap || (file->rank == ranks - 1 && before + slab->count != slab_elements(slab)))
        return error_set(error, ERROR_FAILED, "'%s': the parts of the ranks do not make up the whole (rank %d)",
                         slab->name, file->rank);
    return 0;
}

static int describe_dataset(struct layout_dataset *dataset, struct layout_type *type, struct part *part,
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

/* One more of datasets and, if it is written by a thread, of copies. */
static int append_dataset(struct file *file, const struct layout_dataset *dataset, struct error *error)
{
    size_t count = (size_t)file->count + 1;
    struct layout_dataset *datasets = realloc(file->datasets, count * sizeof *datasets);
    if (datasets)
        file->datasets = datasets;
    struct file_copy *copies = file->async ? realloc(file->copies, count * sizeof *copies) : NULL;
    if (copies)
        file->copies = copies;
    if (!datasets || (file->async && !copies))
        return error_memory(error);
    file->datasets[file->count] = *dataset;
    if (copies)
        copies[file->count] = (struct file_copy){.bytes = NULL};
    file->count++;
    return 0;
}

/* Large pages are made quickly, and this is what the program waits for. */
static char *copy_room(int64_t bytes)
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
    if (bytes && !(copy->bytes = copy_room(bytes)))
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
    if (file->async)
        result = copy_part(file, part, error);
    else if ((failed = part_write(part, file->fd)))
        result = error_set(error, ERROR_FAILED, "%s", strerror(failed));
    dataset->checksum = part->sum;
    return result;
}

static int write_one_slab(struct file *file, const struct slab *slab, struct error *error)
{
    struct part part;
    struct layout_type type;
    struct layout_dataset dataset;
    int result = check_parts(file, slab, error);
    result = result ? result : describe_dataset(&dataset, &type, &part, slab, error);
    if (file_outcome(file, result, error))
        return -1;
    if (file->rank == 0)
        result = file->module->add(file->structure, &dataset, &type, error);
    if (outcome_of_first(file->comm, result, &dataset.offset, sizeof dataset.offset, error)) {
        file_failed(file, error);
        file_free(file);
        return -1;
    }
    result = append_dataset(file, &dataset, error);
    return file_outcome(file, result ? result : take_part(file, &part, error), error);
}

static int file_write_slab(void *handle, const struct slab *slab, struct error *error)
{
    struct limit_before before = limit_hold();
    int result = write_one_slab(handle, slab, error);
    limit_release(&before);
    return result;
}

/* ---- Slabs of an earlier file ------------------------------------------------------------------- */

/* In the directory of the new file. */
static int find_earlier(const struct file *file, const char *name, const char *earlier, struct layout_dataset *dataset,
                        struct error *error)
{
    char path[PATH_MAX];
    struct catalog catalog;
    if (strlen(earlier) >= LAYOUT_NAME || file_place_beside(file->place.path, earlier, path))
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

static int file_link_slab(void *handle, const char *name, const char *earlier, struct error *error)
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

/* ---- The end: at once --------------------------------------------------------------------------- */

static int seal_datasets(struct file *file, struct error *error)
{
    int result = 0;
    for (int i = 0; !result && i < file->count; i++)
        result = file->module->seal(file->structure, &file->datasets[i], error);
    void *structure = file->structure;
    if (result)
        return result;
    file->structure = NULL;
    return file->module->close(structure, error);
}

/* Sums of all ranks, at rank 0. */
static int add_checksums(struct file *file, struct error *error)
{
    MPI_Request request;
    int result = 0;
    uint64_t *sums = malloc(2 * ((size_t)file->count + 1) * sizeof *sums), *all = sums + file->count + 1;
    for (int i = 0; sums && i < file->count; i++)
        sums[i] = file->datasets[i].checksum;
    if (outcome_of_all(file->comm, sums ? 0 : error_memory(error), error)) {
        free(sums);
        return -1;
    }
    if (MPI_Ireduce(sums, all, file->count, MPI_UINT64_T, MPI_SUM, 0, file->comm, &request) != MPI_SUCCESS ||
        redist_wait(&request) != MPI_SUCCESS)
        result = error_set(error, ERROR_FAILED, "a function of MPI failed");
    for (int i = 0; !result && file->rank == 0 && i < file->count; i++)
        file->datasets[i].checksum = all[i];
    free(sums);
    return result;
}

/* The structure with its checksums; HDF5 is done with the file. Collective, as file_outcome. */
static int file_seal(struct file *file, struct error *error)
{
    int result = add_checksums(file, error);
    if (!result && file->rank == 0)
        result = seal_datasets(file, error);
    return file_outcome(file, result, error);
}

/* What this rank wrote is on disk. 0, or -1 with text. Local. */
static int file_sync(struct file *file, struct error *error)
{
    return fsync(file->fd) ? error_set(error, ERROR_FAILED, "%s", strerror(errno)) : 0;
}

/* All is on disk: it gets its name. Local, rank 0. 0, or -1 with the file's name in the text. */
static int file_give_name(struct file *file, struct error *error)
{
    file->fd = -1; /* was the lock */
    return file_place_settle(&file->place, error) ? file_failed(file, error) : 0;
}

/* The name comes when all is on disk. */
static int end_file(struct file *file, struct error *error)
{
    int result = file->rank == 0 ? file_give_name(file, error) : 0;
    result = outcome_of_first(file->comm, result, NULL, 0, error);
    file_free(file);
    return result;
}

static int file_commit(void *handle, struct error *error)
{
    struct file *file = handle;
    struct limit_before before = limit_hold();
    int result = file_seal(file, error);
    if (!result)
        result = file_outcome(file, file_sync(file, error), error);
    if (!result)
        result = end_file(file, error);
    limit_release(&before);
    return result;
}

static void file_abandon(void *handle)
{
    file_free(handle);
}

/* ---- The end: asynchronously -------------------------------------------------------------------- */

/* A thread of each process writes the copies while the program goes on. It uses neither MPI nor HDF5. */

static int write_copies(struct file *file, struct error *error)
{
    int failed = 0;
    for (int i = 0; !failed && i < file->count; i++) {
        struct file_copy *copy = &file->copies[i];
        failed = part_write_bytes(file->fd, copy->bytes, copy->count, copy->offset);
        free(copy->bytes);
        copy->bytes = NULL;
    }
    return failed ? error_set(error, ERROR_FAILED, "%s", strerror(failed)) : file_sync(file, error);
}

/* The thread takes no signals, so that of a file's limit is an error there, too. It waits until all ranks have one. */
static void *write_async_copies(void *argument)
{
    struct file *file = argument;
    while (sem_wait(&file->go))
        continue;
    if (file->called_off)
        return NULL;
    int result = write_copies(file, &file->error);
    if (result)
        file_failed(file, &file->error);
    file->listener.written(file->listener.context, result ? &file->error : NULL);
    return NULL;
}

static int start_async_writer(struct file *file, struct error *error)
{
    sem_init(&file->go, 0, 0);
    int failed = thread_start(&file->thread, write_async_copies, file);
    file->running = !failed;
    return failed ? error_set(error, ERROR_FAILED, "no thread for it: %s", strerror(failed)) : 0;
}

static void join_async_writer(struct file *file)
{
    if (!file->running)
        return;
    pthread_join(file->thread, NULL);
    sem_destroy(&file->go);
    file->running = false;
}

static int file_start_async(void *handle, const struct store_listener *listener, struct error *error)
{
    struct file *file = handle;
    struct limit_before before = limit_hold();
    file->listener = *listener;
    int result = file_seal(file, error);
    limit_release(&before);
    if (result)
        return -1;
    result = outcome_of_all(file->comm, start_async_writer(file, error), error);
    file->called_off = result != 0;
    sem_post(&file->go);
    if (!result)
        return 0;
    join_async_writer(file);
    file_failed(file, error);
    file_free(file);
    return -1;
}

static int file_settle_async(void *handle, bool complete, struct error *error)
{
    struct file *file = handle;
    join_async_writer(file);
    int result = complete && file->rank == 0 ? file_give_name(file, error) : 0;
    file_free(file);
    return result;
}

/* ---- The table ---------------------------------------------------------------------------------- */

const struct store_table store_file = {
    .version = STORE_VERSION,
    .name = "file",
    .create = file_create,
    .write = file_write_slab,
    .link = file_link_slab,
    .commit = file_commit,
    .abandon = file_abandon,
    .open = file_open,
    .reader = file_reader,
    .close = file_close,
    .create_async = file_create_async,
    .start = file_start_async,
    .settle = file_settle_async,
    .needs = file_needs,
};
