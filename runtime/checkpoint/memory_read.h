/* Reading checkpoints from memory, as struct store_table has it. */
#ifndef EPOP_CHECKPOINT_MEMORY_READ_H
#define EPOP_CHECKPOINT_MEMORY_READ_H

#include "runtime/checkpoint/store.h"

int memory_open(const char *path, MPI_Comm comm, struct checkpoint_head *head, void **file, struct error *error);
struct slab_reader memory_reader(void *file);
void memory_close(void *file);

#endif
