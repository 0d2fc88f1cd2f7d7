/* Making a checkpoint from the list of a program's data, and filling the data from one. */
#include "runtime/checkpoint/checkpoint.h"

#include <stdbool.h>
#include <stdlib.h>

#include "runtime/checkpoint/owner.h"
#include "runtime/describe/allocatable.h"
#include "runtime/describe/collective.h"

/* ---- Making a checkpoint ------------------------------------------------------------------------ */

#define SLABS_MOST 16 /* of an entry */

/* What is being saved. */
struct taking {
    const struct store_table *store;
    epop_window_t window;
    epop_description_t list;
    void *file; /* NULL: none is open */
    const char *base;
    struct checkpoint_async *async; /* NULL: it is on disk when this is over */
    struct checkpoint_taken taken;
};

static bool is_saved(const struct described *entry)
{
    return entry->kind != &kind_values && !(entry->flags & EPOP_SCRATCH);
}

static int64_t slab_bytes(const struct slab *slab)
{
    int size;
    MPI_Type_size(slab->type, &size);
    return slab->count * size;
}

/* As the store's link; 1: not even tried, either. */
static int link_slab(struct taking *t, const char *name, bool constant, struct error *error)
{
    int result = constant && t->base[0] ? t->store->link(t->file, name, t->base, error) : 1;
    t->taken.linked |= result == 0;
    return result;
}

static int put_slab(struct taking *t, const struct slab *slab, bool constant, struct error *error)
{
    int linked = link_slab(t, slab->name, constant, error);
    if (linked <= 0)
        return linked;
    t->taken.bytes += slab_bytes(slab);
    return t->store->write(t->file, slab, error);
}

static void free_slab(struct slab *slab)
{
    if (slab->owned)
        free(slab->data);
    slab->owned = false;
}

static int put_slabs(struct taking *t, struct described *entry, bool constant, struct error *error)
{
    struct slab slabs[SLABS_MOST] = {{.dims = 0}};
    int count = entry->kind->save(entry, &t->window, slabs, SLABS_MOST, error), result = count < 0 ? -1 : 0;
    if (result)
        t->store->abandon(t->file);
    for (int i = 0; i < count; i++) {
        if (!result)
            result = put_slab(t, &slabs[i], constant, error);
        free_slab(&slabs[i]);
    }
    return result;
}

/* What is known to be one slab is linked before it would be put in order for nothing. */
static int put_entry(struct taking *t, struct described *entry, struct error *error)
{
    bool constant = entry->flags & EPOP_CONSTANT, whole = constant && entry->kind->one_slab;
    int result = link_slab(t, entry->name, whole, error);
    if (result == 1)
        result = put_slabs(t, entry, constant && !whole, error);
    if (result)
        t->file = NULL;
    return result;
}

static struct head_members *members_of(const epop_description_t *list)
{
    struct head_members *all = calloc((size_t)list->count + 1, sizeof *all);
    int count = 0;
    for (int i = 0; all && i < list->count; i++)
        if (list->entries[i].kind == &kind_values && list->entries[i].members.count)
            all[count++] = (struct head_members){list->entries[i].name, &list->entries[i].members};
    return all;
}

/* The head says what there is. */
static const char *complete_head(const struct taking *t, struct checkpoint_head *head)
{
    for (int i = 0; i < t->list.count; i++)
        if (owner_describe(head, t->list.entries[i].name, t->list.entries[i].kind->word))
            return "out of memory";
    head->values = describe_values_pack(&t->list, &head->value_bytes);
    head->members = members_of(&t->list);
    return head->values && head->members ? NULL : "out of memory";
}

static int save_all(struct taking *t, const char *path, struct checkpoint_head *head, struct error *error)
{
    int (*create)(const char *, MPI_Comm, const struct checkpoint_head *, void **, struct error *) =
        t->async ? t->store->create_async : t->store->create;
    if (create(path, t->window.all, head, &t->file, error))
        return -1;
    for (int i = 0; i < t->list.count; i++)
        if (is_saved(&t->list.entries[i]) && put_entry(t, &t->list.entries[i], error))
            return -1;
    if (!t->async)
        return t->store->commit(t->file, error);
    t->async->file = t->file;
    return t->store->start(t->file, &t->async->listener, error);
}

/* The list of all ranks is the same. */
static int list_data(struct taking *t, const struct checkpoint_data *data, struct error *error)
{
    struct error own = {0};
    int packed = data->pack ? data->pack(data->data) : 0;
    if (packed)
        error_set(&own, ERROR_FAILED, "its pack block returned %d", packed);
    bool fine = !packed && !describe_run(&t->list, DESCRIBE_LIST, data->describe, data->data, NULL, 0, &own);
    if (fine && describe_copy_originals(&t->list, t->window.old_rank, t->window.old_size))
        fine = !error_memory(&own);
    return describe_agree(&t->list, &t->window, fine ? NULL : own.text, NULL, error);
}

int checkpoint_take(const struct store_table *store, MPI_Comm comm, const char *path, const char *base,
                    const struct checkpoint_data *data, struct checkpoint_async *async, struct checkpoint_head *head,
                    struct checkpoint_taken *taken, struct error *error)
{
    struct taking t = {.store = store, .base = base, .async = async};
    MPI_Comm own;
    MPI_Comm_dup(comm, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    int result = describe_still(own, &t.window) == EPOP_OK ? 0 : error_memory(error);
    if (!result)
        result = list_data(&t, data, error);
    if (!result)
        result = describe_all_well(&t.window, complete_head(&t, head), error);
    if (!result)
        result = save_all(&t, path, head, error);
    *taken = t.taken;
    free(head->members);
    head->members = NULL;
    describe_free(&t.list);
    describe_still_free(&t.window);
    MPI_Comm_free(&own);
    return result;
}

/* ---- Filling data from a checkpoint ------------------------------------------------------------- */

struct loading {
    const struct store_table *store;
    epop_window_t window;
    epop_description_t list;
    struct checkpoint_head head;
    void *file;
};

/* The values come while the block runs. */
static int fill_in(struct loading *l, const struct checkpoint_data *data, struct error *error)
{
    struct error own = {0};
    bool fine =
        !describe_run(&l->list, DESCRIBE_FILL, data->describe, data->data, l->head.values, l->head.value_bytes, &own);
    return describe_agree(&l->list, &l->window, fine ? NULL : own.text, NULL, error);
}

/* Is the same described as was saved? It is so on all ranks, or on none. */
static int compare_described(const struct loading *l, const struct checkpoint_head *here, const char *path,
                             struct error *error)
{
    struct checkpoint_head now = {0};
    int result = owner_make(NULL, here->program, NULL, &now);
    for (int i = 0; !result && i < l->list.count; i++)
        result = owner_describe(&now, l->list.entries[i].name, l->list.entries[i].kind->word);
    if (result)
        error_memory(error);
    else
        result = owner_compare_described(&l->head, &now, path, error);
    checkpoint_head_free(&now);
    return result;
}

static int load_entry(struct loading *l, struct described *entry, const struct slab_reader *reader, struct error *error)
{
    if (!(entry->flags & EPOP_SCRATCH))
        return entry->kind->load(entry, &l->window, reader, error);
    int result = entry->kind->allocate(entry, l->window.new_rank, l->window.new_size);
    return describe_all_well(&l->window, result == EPOP_OK ? NULL : "out of memory for described data", error);
}

static int load_all(struct loading *l, struct error *error)
{
    const struct slab_reader reader = l->store->reader(l->file);
    for (int i = 0; i < l->list.count; i++)
        if (l->list.entries[i].kind != &kind_values && load_entry(l, &l->list.entries[i], &reader, error))
            return -1;
    int failed = describe_bounds(&l->list, l->window.new_rank, l->window.new_size);
    return describe_all_well(&l->window, failed ? "out of memory for described data" : NULL, error);
}

static int load_file(struct loading *l, const char *path, const struct checkpoint_data *data,
                     const struct checkpoint_head *here, struct error *error)
{
    if (l->store->open(path, l->window.all, &l->head, &l->file, error))
        return -1;
    int result = fill_in(l, data, error);
    if (!result)
        result = compare_described(l, here, path, error);
    if (!result)
        result = load_all(l, error);
    l->store->close(l->file);
    return result;
}

int checkpoint_load(const struct store_table *store, MPI_Comm comm, const char *path,
                    const struct checkpoint_data *data, const struct checkpoint_head *here, struct error *error)
{
    struct loading l = {.store = store};
    MPI_Comm own;
    MPI_Comm_dup(comm, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    int result = describe_still(own, &l.window) == EPOP_OK ? 0 : error_memory(error);
    if (!result)
        result = load_file(&l, path, data, here, error);
    checkpoint_head_free(&l.head);
    describe_free(&l.list);
    describe_still_free(&l.window);
    MPI_Comm_free(&own);
    return result;
}
