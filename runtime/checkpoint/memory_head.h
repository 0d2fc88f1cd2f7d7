/* The head of a part in memory: that of the checkpoint, and which slabs the part has, as bytes; and whether all of a
 * part is what was written. Knows no MPI. Local. */
#ifndef EPOP_CHECKPOINT_MEMORY_HEAD_H
#define EPOP_CHECKPOINT_MEMORY_HEAD_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "runtime/checkpoint/head.h"
#include "runtime/checkpoint/memory_part.h"
#include "runtime/describe/describe.h"

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

/* From malloc(), with a checksum behind it; NULL: out of memory. */
char *memory_head_pack(const struct checkpoint_head *head, const struct memory_table *table, size_t *size);
/* Takes that checksum off. 0, or -1: it is of other bytes. */
int memory_head_verify(const char *bytes, size_t *size);
/* The opposite of packing, without the checksum; head and table are empty before. head: NULL where only the table is
 * wanted, which the first of the bytes have, up to a 0. 0, or -1 with text. */
int memory_head_unpack(const char *bytes, size_t size, struct checkpoint_head *head, struct memory_table *table,
                       struct error *error);

/* Is a complete part, with its head and all slabs, what was written? 0, or -1 with text. */
int memory_head_check_part(const char *directory, const struct memory_part *part, struct error *error);

#endif
