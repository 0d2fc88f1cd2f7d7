/*
 * Parts of checkpoints in a directory of this host's memory. NUMBER-RANK-SIZE is the part of a rank of a checkpoint,
 * a directory with a file for each slab, and the head; while it is being written its name ends with .part. Knows no
 * MPI. All local.
 */
#ifndef EPOP_CHECKPOINT_MEMORY_PART_H
#define EPOP_CHECKPOINT_MEMORY_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "runtime/checkpoint/format.h"
#include "runtime/describe/describe.h"

#define MEMORY_PATH 512

/* ---- Directories and files ---------------------------------------------------------------------- */

struct memory_part {
    int number, rank, size;
};

/* Makes the directory above, and that of a part that is to be written. 0, or -1 with text. */
int memory_part_begin(const char *directory, const struct memory_part *part, struct error *error);
/* A file of it with so much room, mapped; NULL with text. With no bytes: not NULL, and not to be looked at. */
void *memory_part_make(const char *directory, const struct memory_part *part, int slab, int64_t bytes,
                       struct error *error);
/* Instead: a file of a complete part becomes one of this part, too. 0, or -1: it is not there. */
int memory_part_link(const char *directory, const struct memory_part *part, int slab,
                     const struct memory_part *complete, int complete_slab);
/* Removes a file of one that is being written, if it is there. */
void memory_part_drop(const char *directory, const struct memory_part *part, int slab);
/* One of a complete part, to be read. */
const void *memory_part_map(const char *directory, const struct memory_part *part, int slab, int64_t bytes,
                            struct error *error);
void memory_part_unmap(const void *map, int64_t bytes);

/* The head: any bytes. */
int memory_part_write_head(const char *directory, const struct memory_part *part, const char *bytes, size_t size,
                           struct error *error);
/* From malloc(), followed by a 0; NULL with text. */
char *memory_part_read_head(const char *directory, const struct memory_part *part, size_t *size, struct error *error);

/* Gives it its name. 0, or -1 with text. */
int memory_part_complete(const char *directory, const struct memory_part *part, struct error *error);
/* Removes it, also where it has its name already. */
void memory_part_abandon(const char *directory, const struct memory_part *part);

/* The complete ones; *parts from malloc(). How many, or -1: out of memory. */
int memory_parts_list(const char *directory, struct memory_part **parts);
/* Removes all, complete or not, of other checkpoints than that one. */
void memory_parts_remove_others(const char *directory, int number);

/* ---- What is in a part -------------------------------------------------------------------------- */

/* The head of a part has the head of the checkpoint, and which slabs the part has, as bytes. */

/* A slab of one rank's part. */
struct memory_slab {
    char name[sizeof((struct slab *)0)->name];
    int dims;
    int64_t extent[SLAB_DIMS];
    int64_t bytes; /* of an element */
    int64_t first, count;
    uint64_t checksum; /* of this part of it */
};

struct memory_table {
    struct memory_slab *slabs;
    size_t room;
    int count;
};

/* 0, or -1: out of memory. */
int memory_table_add(struct memory_table *table, const struct memory_slab *slab);
void memory_table_free(struct memory_table *table);

/* What memory_slab.checksum is of these bytes of it. */
uint64_t memory_slab_checksum(const struct memory_slab *slab, const void *bytes);

/* From malloc(), with a checksum at the end; NULL: out of memory. */
char *memory_head_pack(const struct checkpoint_head *head, const struct memory_table *table, size_t *size);
/* Takes that checksum off. 0, or -1: it is of other bytes. */
int memory_head_verify(const char *bytes, size_t *size);
/* The opposite of packing, without the checksum; head and table are empty before. head: NULL where only the table is
 * wanted, which the first of the bytes have, up to a 0. 0, or -1 with text. */
int memory_head_unpack(const char *bytes, size_t size, struct checkpoint_head *head, struct memory_table *table,
                       struct error *error);

/* Which slabs a complete part has; the table is empty before. 0, or -1 with text. */
int memory_head_read_table(const char *directory, const struct memory_part *part, struct memory_table *table,
                           struct error *error);
/* Is a complete part, with its head and all slabs, what was written? 0, or -1 with text. */
int memory_head_check_part(const char *directory, const struct memory_part *part, struct error *error);

#endif
