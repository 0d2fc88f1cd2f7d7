/*
 * The file of a checkpoint. Rank 0 makes its structure by HDF5 and says where each dataset lies; every rank writes its
 * part there by itself. So what is written needs neither MPI nor HDF5, and can be done by a thread (behind.c).
 */
#include "runtime/checkpoint/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/checkpoint/limit.h"
#include "runtime/checkpoint/outcome.h"
#include "runtime/redist/wait.h"

int file_failed(const struct file *file, struct error *error)
{
    char text[ERROR_TEXT_MAX];
    snprintf(text, sizeof text, "%s", error->text);
    return error_set(error, error->code, "the checkpoint '%s' cannot be written: %s", file->place.path, text);
}

void file_free(struct file *file)
{
    if (file->structure)
        file->module->discard(file->structure);
    if (file->fd >= 0 && file->fd != file->place.lock)
        close(file->fd);
    place_remove(&file->place);
    for (int i = 0; file->copies && i < file->count; i++)
        free(file->copies[i].bytes);
    free(file->copies);
    free(file->datasets);
    free(file);
}

int file_outcome(struct file *file, int result, struct error *error)
{
    if (!outcome_of_all(file->comm, result, error))
        return 0;
    file_failed(file, error);
    file_free(file);
    return -1;
}

/* ---- Beginning ------------------------------------------------------------------ */

static int begin_first(struct file *file, const struct checkpoint_head *head, struct error *error)
{
    file->module = checkpoint_module(error);
    if (!file->module || place_make(&file->place, error))
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

static struct file *make(const char *path, MPI_Comm comm, bool behind, struct error *error)
{
    struct file *file = calloc(1, sizeof *file);
    if (!file) {
        error_memory(error);
        return NULL;
    }
    *file = (struct file){.comm = comm, .fd = -1, .behind = behind};
    MPI_Comm_rank(comm, &file->rank);
    if (!place_name(&file->place, path, error))
        return file;
    free(file);
    return NULL;
}

static int begin(const char *path, MPI_Comm comm, const struct checkpoint_head *head, bool behind, void **handle,
                 struct error *error)
{
    struct file *file = make(path, comm, behind, error);
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

int file_create(const char *path, MPI_Comm comm, const struct checkpoint_head *head, void **file, struct error *error)
{
    return begin(path, comm, head, false, file, error);
}

int file_create_behind(const char *path, MPI_Comm comm, const struct checkpoint_head *head, void **file,
                       struct error *error)
{
    return begin(path, comm, head, true, file, error);
}

/* ---- The end ------------------------------------------------------------------------ */

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

int file_seal(struct file *file, struct error *error)
{
    int result = add_checksums(file, error);
    if (!result && file->rank == 0)
        result = seal_datasets(file, error);
    return file_outcome(file, result, error);
}

int file_sync(struct file *file, struct error *error)
{
    return fsync(file->fd) ? error_set(error, ERROR_FAILED, "%s", strerror(errno)) : 0;
}

int file_name(struct file *file, struct error *error)
{
    file->fd = -1; /* was the lock */
    return place_settle(&file->place, error) ? file_failed(file, error) : 0;
}

/* The name comes when all is on disk. */
static int end(struct file *file, struct error *error)
{
    int result = file->rank == 0 ? file_name(file, error) : 0;
    result = outcome_of_first(file->comm, result, NULL, 0, error);
    file_free(file);
    return result;
}

int file_commit(void *handle, struct error *error)
{
    struct file *file = handle;
    struct limit_before before = limit_hold();
    int result = file_seal(file, error);
    if (!result)
        result = file_outcome(file, file_sync(file, error), error);
    if (!result)
        result = end(file, error);
    limit_release(&before);
    return result;
}

void file_abandon(void *handle)
{
    file_free(handle);
}
