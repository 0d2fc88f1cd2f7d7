/*
 * Parts of checkpoints in a directory of this host's memory, by their names. NUMBER-RANK-SIZE is the part of a rank of
 * a checkpoint, a directory with a file for each slab, and the head; with .part behind it while it is being written.
 * Knows no MPI. All local.
 */
#ifndef EPOP_CHECKPOINT_MEMORY_PART_H
#define EPOP_CHECKPOINT_MEMORY_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"

#define MEMORY_PATH 512

struct memory_part {
    int number, rank, size;
};

/* Makes the directory above, and that of a part that is to be written. 0, or -1 with text. */
int memory_part_begin(const char *directory, const struct memory_part *part, struct error *error);
/* A file of it with so much room, mapped; NULL with text. With no bytes: not NULL, and not to be looked at. */
void *memory_part_make(const char *directory, const struct memory_part *part, int slab, int64_t bytes,
                       struct error *error);
/* One of a complete part, to be read. */
const void *memory_part_map(const char *directory, const struct memory_part *part, int slab, int64_t bytes,
                            struct error *error);
void memory_part_unmap(const void *map, int64_t bytes);

/* The head: any bytes. */
int memory_part_write_head(const char *directory, const struct memory_part *part, const char *bytes, size_t size,
                           struct error *error);
/* From malloc(), with a 0 behind; NULL with text. */
char *memory_part_read_head(const char *directory, const struct memory_part *part, size_t *size, struct error *error);

/* Gives it its name. 0, or -1 with text. */
int memory_part_complete(const char *directory, const struct memory_part *part, struct error *error);
/* Removes it, also where it has its name already. */
void memory_part_abandon(const char *directory, const struct memory_part *part);

/* The complete ones; *parts from malloc(). How many, or -1: out of memory. */
int memory_parts_list(const char *directory, struct memory_part **parts);
/* Removes all, complete or not, of other checkpoints than that one. */
void memory_parts_remove_others(const char *directory, int number);

#endif
