/* Writing behind the program's back: a thread of each process, which uses neither MPI nor HDF5. */
#include "runtime/checkpoint/behind.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/thread.h"
#include "runtime/checkpoint/file.h"
#include "runtime/checkpoint/limit.h"
#include "runtime/checkpoint/outcome.h"
#include "runtime/checkpoint/parts.h"

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
static void *run(void *argument)
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

static int start_thread(struct file *file, struct error *error)
{
    sem_init(&file->go, 0, 0);
    int failed = thread_start(&file->thread, run, file);
    file->running = !failed;
    return failed ? error_set(error, ERROR_FAILED, "no thread for it: %s", strerror(failed)) : 0;
}

static void join(struct file *file)
{
    if (!file->running)
        return;
    pthread_join(file->thread, NULL);
    sem_destroy(&file->go);
    file->running = false;
}

int behind_start(void *handle, const struct store_listener *listener, struct error *error)
{
    struct file *file = handle;
    struct limit_before before = limit_hold();
    file->listener = *listener;
    int result = file_seal(file, error);
    limit_release(&before);
    if (result)
        return -1;
    result = outcome_of_all(file->comm, start_thread(file, error), error);
    file->called_off = result != 0;
    sem_post(&file->go);
    if (!result)
        return 0;
    join(file);
    file_failed(file, error);
    file_free(file);
    return -1;
}

int behind_settle(void *handle, bool complete, struct error *error)
{
    struct file *file = handle;
    join(file);
    int result = complete && file->rank == 0 ? file_name(file, error) : 0;
    file_free(file);
    return result;
}
