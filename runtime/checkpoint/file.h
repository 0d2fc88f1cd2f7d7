/* A file that is being written, from its beginning to its end. */
#ifndef EPOP_CHECKPOINT_FILE_H
#define EPOP_CHECKPOINT_FILE_H

#include <pthread.h>
#include <semaphore.h>

#include "runtime/checkpoint/module.h"
#include "runtime/checkpoint/place.h"
#include "runtime/checkpoint/store.h"

/* A part that waits for its writing. */
struct file_copy {
    char *bytes;
    int64_t count, offset;
};

struct file {
    MPI_Comm comm;
    int rank;
    struct place place;               /* its lock: rank 0's alone */
    int fd;                           /* for data; rank 0's is the lock */
    const struct hdf5_module *module; /* rank 0, until the structure is complete */
    void *structure;
    struct layout_dataset *datasets; /* checksum: of this rank's part */
    int count;
    bool behind;
    struct file_copy *copies; /* behind: one for each dataset */
    pthread_t thread;         /* behind.c */
    sem_t go;
    bool running, called_off;
    struct store_listener listener;
    struct error error; /* of the thread */
};

/* As store_table has it. */
int file_create(const char *path, MPI_Comm comm, const struct checkpoint_head *head, void **handle,
                struct error *error);
int file_create_behind(const char *path, MPI_Comm comm, const struct checkpoint_head *head, void **handle,
                       struct error *error);
int file_commit(void *handle, struct error *error);
void file_abandon(void *handle);

/* ---- For what happens in between ---- */

/* Frees all, and removes what is not settled. Local. */
void file_free(struct file *file);

/* Puts the file's name before the text. -1. */
int file_failed(const struct file *file, struct error *error);

/* One result for all ranks; where it is bad nothing stays, and the text names the file. Collective. */
int file_outcome(struct file *file, int result, struct error *error);

/* The structure with its checksums; HDF5 is done with the file. Collective, as file_outcome. */
int file_seal(struct file *file, struct error *error);

/* What this rank wrote is on disk. 0, or -1 with text. Local. */
int file_sync(struct file *file, struct error *error);

/* All is on disk: it gets its name. Local, rank 0. 0, or -1 with the file's name in the text. */
int file_name(struct file *file, struct error *error);

#endif
