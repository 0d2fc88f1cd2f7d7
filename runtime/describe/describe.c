/* The list that a describe block makes, its values, and what all kinds need of elements. */
#include "runtime/describe/describe.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/interpose.h"
#include "runtime/base/hash.h"
#include "runtime/redist/element.h"

#define NAME_MAX_LENGTH 200

static void run_block(void (*block)(void *, epop_description_t *), void *data, epop_description_t *d)
{
    INTERPOSE_ASIDE;
    block(data, d);
}

int describe_run(epop_description_t *d, enum describe_mode mode, void (*block)(void *, epop_description_t *),
                 void *data, const char *values, size_t value_bytes, struct error *error)
{
    *d = (epop_description_t){.mode = mode, .values = values, .value_bytes = value_bytes};
    if (!block)
        return error_set(error, ERROR_FAILED, "the describe block is NULL");
    run_block(block, data, d);
    if (d->error.code == ERROR_NONE)
        return 0;
    *error = d->error;
    return -1;
}

void describe_free(epop_description_t *d)
{
    for (int i = 0; i < d->count; i++) {
        if (d->entries[i].kind->forget)
            d->entries[i].kind->forget(&d->entries[i]);
        members_free(&d->entries[i].members);
        free(d->entries[i].name);
        free(d->entries[i].layout);
    }
    free(d->entries);
    free(d->arrays);
    d->entries = NULL;
    d->arrays = NULL;
    d->count = d->capacity = d->array_count = 0;
}

void describe_untell(epop_description_t *d)
{
    for (int i = 0; i < d->count; i++)
        if (d->entries[i].cuts)
            d->entries[i].kind->release(&d->entries[i]);
}

void epop_describe_original(epop_description_t *d, const void *original)
{
    struct described *last = d->count ? &d->entries[d->count - 1] : NULL;
    if (last && last->flags & EPOP_CONSTANT && d->mode == DESCRIBE_LIST)
        last->original = original;
}

int describe_copy_originals(epop_description_t *d, int rank, int size)
{
    int result = 0;
    for (int i = 0; i < d->count && rank >= 0; i++) {
        struct described *entry = &d->entries[i];
        if (!entry->original || entry->ahead || *entry->local)
            continue;
        int64_t bytes = entry->kind->bytes(entry, rank, size);
        *entry->local = bytes > 0 ? malloc((size_t)bytes) : NULL;
        if (*entry->local)
            memcpy(*entry->local, entry->original, (size_t)bytes);
        else if (bytes > 0)
            result = -1;
    }
    return result;
}

void describe_release(epop_description_t *d)
{
    for (int i = 0; i < d->count; i++)
        d->entries[i].kind->release(&d->entries[i]);
}

void describe_refuse(epop_description_t *d, const char *name, const char *why)
{
    if (d->error.code == ERROR_NONE)
        error_set(&d->error, ERROR_FAILED, "described '%s': %s", name ? name : "", why);
}

/* One that is there whatever the data is: it goes before the others. */
static void refuse_form(epop_description_t *d, const char *name, const char *why)
{
    if (!d->of_form)
        d->error.code = ERROR_NONE;
    d->of_form = true;
    describe_refuse(d, name, why);
}

/* Names stand in files, and in lines of text. NULL: it is fine. */
static const char *fault_of_name(const epop_description_t *d, const char *name)
{
    size_t length = name ? strlen(name) : 0;
    if (!length || length > NAME_MAX_LENGTH)
        return "a name has 1 to 200 bytes";
    for (const char *p = name; *p; p++)
        if (iscntrl((unsigned char)*p) || *p == '/')
            return "a name has no '/' and no control characters";
    for (int i = 0; i < d->count; i++)
        if (!strcmp(d->entries[i].name, name))
            return "the name is described twice";
    return NULL;
}

static bool reserve_entry(epop_description_t *d)
{
    if (d->count < d->capacity)
        return true;
    int capacity = d->capacity ? 2 * d->capacity : 8;
    struct described *grown = realloc(d->entries, (size_t)capacity * sizeof *grown);
    if (!grown)
        return false;
    d->entries = grown;
    d->capacity = capacity;
    return true;
}

struct described *describe_add(epop_description_t *d, const struct kind *kind, const char *name, void *local,
                               MPI_Datatype type, unsigned flags, const void *layout, size_t bytes)
{
    const char *fault = fault_of_name(d, name);
    if (!fault && kind != &kind_values && !local)
        fault = "the address of its pointer is NULL";
    if (!fault && flags & ~(EPOP_CONSTANT | EPOP_SCRATCH))
        fault = "the flags are EPOP_CONSTANT and EPOP_SCRATCH, and no others";
    if (!fault && flags & EPOP_SCRATCH && !kind->allocate)
        fault = "this kind of data cannot be EPOP_SCRATCH";
    char *copy = fault ? NULL : strdup(name);
    void *own = bytes && copy ? malloc(bytes) : NULL;
    if (!fault && (!copy || (bytes && !own) || !reserve_entry(d)))
        fault = "out of memory";
    if (fault) {
        free(copy);
        free(own);
        refuse_form(d, name, fault);
        return NULL;
    }
    if (bytes)
        memcpy(own, layout, bytes);
    struct described *entry = &d->entries[d->count++];
    *entry = (struct described){
        .kind = kind, .list = d, .name = copy, .flags = flags, .local = local, .type = type, .layout = own};
    return entry;
}

/* ---- Members ------------------------------------------------------------------------------------ */

static struct described *entry_of(const epop_description_t *d, const char *name)
{
    for (int i = 0; name && i < d->count; i++)
        if (!strcmp(d->entries[i].name, name))
            return &d->entries[i];
    return NULL;
}

static int read_members(struct described *entry, const char *text, struct members *members, struct error *error)
{
    bool declared = entry->kind == &kind_values;
    if (!text || !entry->kind->fits)
        return error_set(error, ERROR_REFUSED,
                         text ? "values and sparse rows have members, other kinds have none" : "its members are NULL");
    int result = declared ? members_declared(text, members, error) : members_named(text, members, error);
    const char *fault = result ? NULL : entry->kind->fits(entry, members);
    if (fault) {
        members_free(members);
        return error_set(error, ERROR_REFUSED, "%s", fault);
    }
    return result;
}

void epop_describe_members(epop_description_t *d, const char *name, const char *text)
{
    struct described *entry = entry_of(d, name);
    struct error error;
    struct members members;
    char why[300];
    if (!entry && d->error.code != ERROR_NONE)
        return; /* it may be missing for that */
    if (!entry) {
        refuse_form(d, name, "its members are named, but no entry before has this name");
        return;
    }
    if (read_members(entry, text, &members, &error)) {
        snprintf(why, sizeof why, "its members: %.250s", error.text);
        refuse_form(d, name, why);
        return;
    }
    members_free(&entry->members);
    entry->members = members;
}

int64_t describe_members_hash(const struct described *entry)
{
    uint64_t hash = HASH_BEGIN;
    for (int i = 0; i < entry->members.count; i++)
        hash = hash_bytes(hash, entry->members.list[i].name, sizeof entry->members.list[i].name);
    return (int64_t)(hash >> 1);
}

/* The entry before this one that describes these cuts; NULL: there is none. */
static const struct described *cuts_entry(const struct described *entry, epop_dist_t dist)
{
    for (const struct described *e = entry->list->entries; e < entry; e++)
        if (e->cuts && e->cuts->starts == dist.starts)
            return e;
    return NULL;
}

bool describe_cuts_of(const struct described *entry, epop_dist_t dist, epop_dist_t *before, epop_dist_t *after)
{
    const struct described *e = cuts_entry(entry, dist);
    if (!e)
        return false;
    *before = e->cuts->before;
    *after = e->cuts->after;
    return true;
}

bool describe_dist_goes(const struct described *entry, epop_dist_t dist)
{
    const struct described *e = dist.kind == EPOP_DIST_CUTS ? cuts_entry(entry, dist) : NULL;
    return dist.kind != EPOP_DIST_CUTS || (e && e->kind->route->goes(e));
}

bool describe_dists_ahead(const struct described *entry, epop_dist_t dist, epop_dist_t *before, epop_dist_t *after)
{
    const struct described *e = dist.kind == EPOP_DIST_CUTS ? cuts_entry(entry, dist) : NULL;
    *before = e ? e->cuts->before : dist;
    *after = e ? e->cuts->after : dist;
    return dist.kind != EPOP_DIST_CUTS || (e && e->cuts->known);
}

const void *describe_part_of(const struct described *entry)
{
    return entry->original ? entry->original : *entry->local;
}

bool describe_is_constant(const struct described *entry)
{
    return entry->flags & EPOP_CONSTANT && !(entry->flags & EPOP_SCRATCH);
}

/* ---- Values ------------------------------------------------------------------------------------- */

/*
 * Values: plain bytes that are the same on all ranks. They do not move: who needs them gets them before its block
 * runs, as one text of names and lengths.
 */

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
static bool unpack_value(const char **at, const char *end, struct packed *value)
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
    while (unpack_value(&at, end, &value)) {
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
        refuse_form(d, name, values ? "values of 0 bytes" : "the address of the values is NULL");
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

static void values_terms(const struct described *entry, redist_terms *terms)
{
    redist_term(terms, "the number of bytes", (int64_t)entry->value_bytes);
    redist_term(terms, "the checksum of the members' names", describe_members_hash(entry));
}

static const char *values_fit(const struct described *entry, const struct members *members)
{
    static _Thread_local char why[100];
    snprintf(why, sizeof why, "they take %zu bytes, and the values have %zu", members->bytes, entry->value_bytes);
    return members->bytes == entry->value_bytes ? NULL : why;
}

/* They stand in the head of a checkpoint. */
static int values_save(struct described *entry, const epop_window_t *window, struct slab *slabs, int most,
                       struct error *error)
{
    (void)entry, (void)window, (void)slabs, (void)most, (void)error;
    return 0;
}

static int values_load(struct described *entry, const epop_window_t *window, const struct slab_reader *reader,
                       struct error *error)
{
    (void)entry, (void)window, (void)reader, (void)error;
    return 0;
}

/* Those of rank 0, which the others get: bytes between the members of a structure may differ. */
static void values_sum(const struct described *entry, int rank, int size, int64_t *count, uint64_t *sum)
{
    (void)size;
    if (rank != 0)
        return;
    *count += 1;
    *sum += describe_mix(0, entry->values, entry->value_bytes);
}

static int64_t values_bytes(const struct described *entry, int rank, int size)
{
    (void)rank, (void)size;
    return (int64_t)entry->value_bytes;
}

static void values_release(struct described *entry)
{
    (void)entry;
}

const struct kind kind_values = {.word = "values",
                                 .terms = values_terms,
                                 .fits = values_fit,
                                 .save = values_save,
                                 .load = values_load,
                                 .sum = values_sum,
                                 .bytes = values_bytes,
                                 .release = values_release};

/* ---- What kinds share --------------------------------------------------------------------------- */

/* What kinds need of the elements of an MPI datatype: room, bytes, checksums. */

int64_t describe_bytes(MPI_Datatype type, int64_t count)
{
    redist_element element;
    return redist_element_of(type, &element) == 0 ? redist_block_bytes(&element, count) : 0;
}

bool describe_room(MPI_Datatype type, int64_t count, void **block)
{
    int64_t bytes = describe_bytes(type, count);
    *block = bytes > 0 ? calloc(1, (size_t)(bytes + redist_edge)) : NULL;
    return bytes == 0 || *block;
}

bool describe_copy(const struct described *entry, int64_t count, void **copy)
{
    int64_t bytes = describe_bytes(entry->type, count);
    *copy = bytes > 0 && *entry->local ? malloc((size_t)bytes) : NULL;
    if (*copy)
        memcpy(*copy, *entry->local, (size_t)bytes);
    return bytes == 0 || *copy;
}

void describe_release_part(struct described *entry)
{
    free(*entry->local);
    *entry->local = NULL;
}

/* With a last mix, so that sums of many do not cancel. */
uint64_t describe_mix(int64_t index, const void *bytes, size_t size)
{
    uint64_t value = hash_bytes(HASH_BEGIN ^ (uint64_t)index * 0x9e3779b97f4a7c15u, bytes, size);
    value ^= value >> 31;
    return value * 0xbf58476d1ce4e5b9u;
}

/* One element with gaps: only what is its data. Without the memory it is left out. */
static uint64_t mix_packed(const redist_element *element, int64_t index, const void *at, char *room)
{
    int position = 0;
    if (!room || MPI_Pack(at, 1, element->type, room, (int)element->size, &position, MPI_COMM_SELF) != MPI_SUCCESS)
        return 0;
    return describe_mix(index, room, (size_t)position);
}

void describe_mix_elements(MPI_Datatype type, const void *elements, int64_t count,
                           int64_t (*global)(const void *context, int64_t local), const void *context, uint64_t *sum)
{
    redist_element element;
    if (!elements || redist_element_of(type, &element) != 0)
        return;
    char *room = element.dense ? NULL : malloc((size_t)element.size + 1);
    for (int64_t i = 0; i < count; i++) {
        const char *at = (const char *)elements + i * element.extent;
        *sum += element.dense ? describe_mix(global(context, i), at, (size_t)element.size)
                              : mix_packed(&element, global(context, i), at, room);
    }
    free(room);
}

void describe_sum_indices(int64_t indices, int rank, int64_t *count, uint64_t *sum)
{
    if (rank != 0)
        return;
    *count += 1;
    *sum += describe_mix(0, &indices, sizeof indices);
}
