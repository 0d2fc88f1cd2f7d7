/* A file that is read: store_table has what these promise. */
#ifndef EPOP_CHECKPOINT_READING_H
#define EPOP_CHECKPOINT_READING_H

#include "runtime/checkpoint/store.h"

int reading_open(const char *path, MPI_Comm comm, struct checkpoint_head *head, void **handle, struct error *error);
struct slab_reader reading_reader(void *handle);
void reading_close(void *handle);
int reading_needs(const char *path, char ***names, int *count, struct error *error);

#endif
