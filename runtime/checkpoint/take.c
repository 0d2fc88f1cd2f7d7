/* Making a checkpoint: see take.h. */
#include "runtime/checkpoint/take.h"

#include <stdlib.h>

#include "runtime/checkpoint/owner.h"
#include "runtime/describe/collective.h"

#define SLABS_MOST 16 /* of an entry */

/* What is being saved. */
struct taking {
    const struct store_table *store;
    epop_window_t window;
    epop_description_t list;
    void *file; /* NULL: none is open */
    const char *base;
    struct checkpoint_behind *behind; /* NULL: it is on disk when this is over */
    struct checkpoint_taken taken;
};

static bool is_saved(const struct described *entry)
{
    return entry->kind != &kind_values && !(entry->flags & EPOP_SCRATCH);
}

static int64_t bytes_of(const struct slab *slab)
{
    int size;
    MPI_Type_size(slab->type, &size);
    return slab->count * size;
}

static int put(struct taking *t, const struct slab *slab, bool constant, struct error *error)
{
    if (constant && t->base[0]) {
        t->taken.linked = true;
        return t->store->link(t->file, slab->name, t->base, error);
    }
    t->taken.bytes += bytes_of(slab);
    return t->store->write(t->file, slab, error);
}

static void free_slab(struct slab *slab)
{
    if (slab->owned)
        free(slab->data);
    slab->owned = false;
}

static int put_entry(struct taking *t, struct described *entry, struct error *error)
{
    struct slab slabs[SLABS_MOST] = {{.dims = 0}};
    int count = entry->kind->save(entry, &t->window, slabs, SLABS_MOST, error), result = count < 0 ? -1 : 0;
    if (result)
        t->store->abandon(t->file);
    for (int i = 0; i < count; i++) {
        if (!result)
            result = put(t, &slabs[i], entry->flags & EPOP_CONSTANT, error);
        free_slab(&slabs[i]);
    }
    if (result)
        t->file = NULL;
    return result;
}

/* The head says what there is. */
static const char *complete_head(const struct taking *t, struct checkpoint_head *head)
{
    for (int i = 0; i < t->list.count; i++)
        if (owner_describe(head, t->list.entries[i].name, t->list.entries[i].kind->word))
            return "out of memory";
    head->values = describe_values_pack(&t->list, &head->value_bytes);
    return head->values ? NULL : "out of memory";
}

static int save_all(struct taking *t, const char *path, struct checkpoint_head *head, struct error *error)
{
    int (*create)(const char *, MPI_Comm, const struct checkpoint_head *, void **, struct error *) =
        t->behind ? t->store->create_behind : t->store->create;
    if (create(path, t->window.all, head, &t->file, error))
        return -1;
    for (int i = 0; i < t->list.count; i++)
        if (is_saved(&t->list.entries[i]) && put_entry(t, &t->list.entries[i], error))
            return -1;
    if (!t->behind)
        return t->store->commit(t->file, error);
    t->behind->file = t->file;
    return t->store->start(t->file, &t->behind->listener, error);
}

/* The list of all ranks is the same. */
static int list(struct taking *t, const struct checkpoint_data *data, struct error *error)
{
    struct error own = {0};
    int packed = data->pack ? data->pack(data->data) : 0;
    if (packed)
        error_set(&own, ERROR_FAILED, "its pack block returned %d", packed);
    bool fine = !packed && !describe_run(&t->list, DESCRIBE_LIST, data->describe, data->data, NULL, 0, &own);
    if (describe_all_well(&t->window, fine ? NULL : own.text, error))
        return -1;
    if (describe_agree(&t->list, &t->window, NULL) != EPOP_OK)
        return error_set(error, ERROR_FAILED, "the ranks do not describe the same data");
    return 0;
}

int checkpoint_take(const struct store_table *store, MPI_Comm comm, const char *path, const char *base,
                    const struct checkpoint_data *data, struct checkpoint_behind *behind, struct checkpoint_head *head,
                    struct checkpoint_taken *taken, struct error *error)
{
    struct taking t = {.store = store, .base = base, .behind = behind};
    MPI_Comm own;
    MPI_Comm_dup(comm, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    int result = describe_still(own, &t.window) == EPOP_OK ? 0 : error_memory(error);
    if (!result)
        result = list(&t, data, error);
    if (!result)
        result = describe_all_well(&t.window, complete_head(&t, head), error);
    if (!result)
        result = save_all(&t, path, head, error);
    *taken = t.taken;
    describe_free(&t.list);
    describe_still_free(&t.window);
    MPI_Comm_free(&own);
    return result;
}
