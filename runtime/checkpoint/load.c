/* Filling a program's data from a checkpoint: see take.h. */
#include <stdbool.h>
#include <stdlib.h>

#include "runtime/checkpoint/owner.h"
#include "runtime/checkpoint/take.h"
#include "runtime/describe/collective.h"

struct loading {
    const struct store_table *store;
    epop_window_t window;
    epop_description_t list;
    struct checkpoint_head head;
    void *file;
};

/* The values come while the block runs. */
static int fill(struct loading *l, const struct checkpoint_data *data, struct error *error)
{
    struct error own = {0};
    bool fine =
        !describe_run(&l->list, DESCRIBE_FILL, data->describe, data->data, l->head.values, l->head.value_bytes, &own);
    if (describe_all_well(&l->window, fine ? NULL : own.text, error))
        return -1;
    if (describe_agree(&l->list, &l->window, NULL) != EPOP_OK)
        return error_set(error, ERROR_FAILED, "the ranks do not describe the same data");
    return 0;
}

/* Is the same described as was saved? It is so on all ranks, or on none. */
static int compare(const struct loading *l, const struct checkpoint_head *here, const char *path, struct error *error)
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
    return 0;
}

static int load_file(struct loading *l, const char *path, const struct checkpoint_data *data,
                     const struct checkpoint_head *here, struct error *error)
{
    if (l->store->open(path, l->window.all, &l->head, &l->file, error))
        return -1;
    int result = fill(l, data, error);
    if (!result)
        result = compare(l, here, path, error);
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
