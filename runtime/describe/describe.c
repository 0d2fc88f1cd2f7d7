/* The description: an entry for each line of the block, and the first fault. */
#include "runtime/describe/describe.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/interpose.h"

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
        free(d->entries[i].name);
        free(d->entries[i].layout);
    }
    free(d->entries);
    d->entries = NULL;
    d->count = d->capacity = 0;
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

static bool reserve(epop_description_t *d)
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
    if (!fault && (!copy || (bytes && !own) || !reserve(d)))
        fault = "out of memory";
    if (fault) {
        free(copy);
        free(own);
        describe_refuse(d, name, fault);
        return NULL;
    }
    if (bytes)
        memcpy(own, layout, bytes);
    struct described *entry = &d->entries[d->count++];
    *entry = (struct described){
        .kind = kind, .list = d, .name = copy, .flags = flags, .local = local, .type = type, .layout = own};
    return entry;
}

bool describe_cuts_of(const struct described *entry, epop_dist_t dist, epop_dist_t *before, epop_dist_t *after)
{
    for (const struct described *e = entry->list->entries; e < entry; e++) {
        if (!e->cuts || e->cuts->before.starts != dist.starts)
            continue;
        *before = e->cuts->before;
        *after = e->cuts->after;
        return true;
    }
    return false;
}
