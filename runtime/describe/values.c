/* Values: plain bytes that are the same on all ranks. They do not move: who needs them gets them before its block runs,
 * as one text of names and lengths. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/describe/describe.h"

/* One of the packed values: a name with its terminator, a length, and the bytes. */
struct packed {
    const char *name, *bytes;
    uint64_t length;
};

static size_t packed_bytes(const struct described *entry)
{
    return strlen(entry->name) + 1 + sizeof(uint64_t) + entry->value_bytes;
}

/* Values; and what other kinds have to be told before their data comes: cuts, partitions. */
static bool has_values(const struct described *entry)
{
    return entry->value_bytes > 0;
}

char *describe_values_pack(const epop_description_t *d, size_t *bytes)
{
    size_t total = 0;
    for (int i = 0; i < d->count; i++)
        total += has_values(&d->entries[i]) ? packed_bytes(&d->entries[i]) : 0;
    char *packed = malloc(total ? total : 1), *at = packed;
    for (int i = 0; packed && i < d->count; i++) {
        const struct described *entry = &d->entries[i];
        uint64_t length = entry->value_bytes;
        if (!has_values(entry))
            continue;
        at = stpcpy(at, entry->name) + 1;
        at = (char *)mempcpy(at, &length, sizeof length);
        at = (char *)mempcpy(at, entry->values, entry->value_bytes);
    }
    *bytes = total;
    return packed;
}

/* The values at *at, which goes on to the next. False: no more, or nothing that was packed. */
static bool unpack(const char **at, const char *end, struct packed *value)
{
    const char *name_end = memchr(*at, 0, (size_t)(end - *at));
    if (!name_end || (size_t)(end - name_end) < 1 + sizeof value->length)
        return false;
    value->name = *at;
    memcpy(&value->length, name_end + 1, sizeof value->length);
    value->bytes = name_end + 1 + sizeof value->length;
    if (value->length > (uint64_t)(end - value->bytes))
        return false;
    *at = value->bytes + value->length;
    return true;
}

const char *describe_values_find(const epop_description_t *d, const char *name, size_t *bytes)
{
    struct packed value;
    const char *at = d->values, *end = d->values + d->value_bytes;
    while (unpack(&at, end, &value)) {
        if (strcmp(value.name, name))
            continue;
        *bytes = value.length;
        return value.bytes;
    }
    return NULL;
}

bool describe_fill(epop_description_t *d, const char *name, void *values, size_t bytes)
{
    char why[120];
    size_t there = 0;
    const char *found = describe_values_find(d, name, &there);
    if (found && there == bytes) {
        memcpy(values, found, bytes);
        return true;
    }
    if (found)
        snprintf(why, sizeof why, "%zu bytes of values here, %zu where they come from", bytes, there);
    describe_refuse(d, name, found ? why : "there are no values of this name where they come from");
    return false;
}

void epop_describe_values(epop_description_t *d, const char *name, void *values, size_t bytes)
{
    if (!values || !bytes) {
        describe_refuse(d, name, values ? "values of 0 bytes" : "the address of the values is NULL");
        return;
    }
    struct described *entry = describe_add(d, &kind_values, name, NULL, MPI_BYTE, 0, NULL, 0);
    if (!entry)
        return;
    entry->values = values;
    entry->value_bytes = bytes;
    if (d->mode == DESCRIBE_FILL && d->error.code == ERROR_NONE)
        describe_fill(d, name, values, bytes);
}

static void terms(const struct described *entry, redist_terms *terms)
{
    redist_term(terms, "the number of bytes", (int64_t)entry->value_bytes);
}

/* They stand in the head of a checkpoint. */
static int save(struct described *entry, const epop_window_t *window, struct slab *slabs, int most, struct error *error)
{
    (void)entry, (void)window, (void)slabs, (void)most, (void)error;
    return 0;
}

static int load(struct described *entry, const epop_window_t *window, const struct slab_reader *reader,
                struct error *error)
{
    (void)entry, (void)window, (void)reader, (void)error;
    return 0;
}

/* Those of rank 0, which the others get: bytes between the members of a structure may differ. */
static void sum(const struct described *entry, int rank, int size, int64_t *count, uint64_t *sum)
{
    (void)size;
    if (rank != 0)
        return;
    *count += 1;
    *sum += describe_mix(0, entry->values, entry->value_bytes);
}

static int64_t bytes(const struct described *entry, int rank, int size)
{
    (void)rank, (void)size;
    return (int64_t)entry->value_bytes;
}

static void release(struct described *entry)
{
    (void)entry;
}

const struct kind kind_values = {
    .word = "values", .terms = terms, .save = save, .load = load, .sum = sum, .bytes = bytes, .release = release};
