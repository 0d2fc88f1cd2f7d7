/* Elements that belong where a partition says, each rank's in the order of their indices. Every rank has the lists
 * before and after, so that it knows who has what it gets, and in which order that comes. */
#include <stdlib.h>
#include <string.h>

#include "runtime/describe/unstructured.h"
#include "runtime/redist/element.h"
#include "runtime/redist/move.h"
#include "runtime/redist/plan.h"

/* The layout of an entry. */
struct owned {
    const epop_partition_t *partition;
};

/* ---- Owners ------------------------------------------------------------------------------ */

static int owner_of(const struct owners *owners, int64_t index)
{
    return owners->list ? owners->list[index]
                        : epop_dist_owner(epop_dist_block(owners->count), owners->ranks, index, NULL);
}

/* The next index of `rank` from `index` on; the number of indices: no more. */
static int64_t next_owned(const struct owners *owners, int rank, int64_t index)
{
    while (index < owners->count && owner_of(owners, index) != rank)
        index++;
    return index;
}

static int64_t count_owned(const struct owners *owners, int rank)
{
    int64_t count = 0;
    if (rank < 0)
        return 0;
    for (int64_t i = 0; i < owners->count; i++)
        count += owner_of(owners, i) == rank;
    return count;
}

static void sides(const struct described *entry, struct owners *before, struct owners *after)
{
    const struct owned *owned = entry->layout;
    describe_partition_of(entry->list, owned->partition, before, after);
}

/* ---- Moving ---------------------------------------------------------------------------------- */

/* One side of the lists: what this rank owns by `mine`, and which rank of window->all has it on the other side. */
static redist_fault list_side(redist_lists *lists, redist_side side, const epop_window_t *window, int rank,
                              const struct owners *mine, const struct owners *others, const int *all_of)
{
    int64_t count = count_owned(mine, rank), at = 0;
    int *peers = malloc(((size_t)count + 1) * sizeof *peers);
    if (!peers)
        return REDIST_NO_MEMORY;
    for (int64_t i = 0; at < count; i++)
        if (owner_of(mine, i) == rank)
            peers[at++] = all_of ? all_of[owner_of(others, i)] : owner_of(others, i);
    redist_fault fault = redist_lists_group(lists, side, redist_all_size(window), peers, count);
    free(peers);
    return fault;
}

static int move_between(const epop_window_t *window, const struct owners *before, const struct owners *after,
                        MPI_Datatype type, void **local)
{
    redist_lists lists = {.starts = {NULL, NULL}};
    int *new_ranks = describe_new_ranks(window);
    redist_fault fault = new_ranks ? REDIST_FINE : REDIST_NO_MEMORY;
    if (fault == REDIST_FINE)
        fault = list_side(&lists, REDIST_BEFORE, window, window->old_rank, before, after, new_ranks);
    if (fault == REDIST_FINE)
        fault = list_side(&lists, REDIST_AFTER, window, window->new_rank, after, before, NULL);
    int result = redist_by_lists(window, &lists, type, local, DESCRIBE_FUNCTION, fault);
    redist_lists_free(&lists);
    free(new_ranks);
    return result;
}

static int move(struct described *entry, const epop_window_t *window)
{
    struct owners before, after;
    sides(entry, &before, &after);
    return move_between(window, &before, &after, entry->type, entry->local);
}

/* ---- Checkpoints ------------------------------------------------------------------------------- */

static struct slab slab_of(const struct described *entry, const struct owners *owners, const epop_window_t *window)
{
    epop_dist_t blocks = epop_dist_block(owners->count);
    struct slab slab = {.type = entry->type, .dims = 1, .extent = {owners->count}};
    slab.first = epop_dist_global(blocks, window->new_rank, window->new_size, 0);
    slab.count = epop_dist_local_count(blocks, window->new_rank, window->new_size);
    strcpy(slab.name, entry->name);
    return slab;
}

/* In the order of the indices: a copy goes to plain blocks. */
static int save(struct described *entry, const epop_window_t *window, struct slab *slabs, int most, struct error *error)
{
    struct owners before, after;
    (void)most;
    sides(entry, &before, &after);
    const struct owners blocks = {.count = after.count, .ranks = window->new_size};
    *slabs = slab_of(entry, &after, window);
    bool copied = describe_copy(entry, count_owned(&after, window->old_rank), &slabs->data);
    if (describe_all_well(window, copied ? NULL : "out of memory for a copy", error) ||
        move_between(window, &after, &blocks, entry->type, &slabs->data) != EPOP_OK) {
        free(slabs->data);
        return error->code != ERROR_NONE
                   ? -1
                   : error_set(error, ERROR_FAILED, "described '%s' could not be put in order", entry->name);
    }
    slabs->owned = true;
    return 1;
}

static int load(struct described *entry, const epop_window_t *window, const struct slab_reader *reader,
                struct error *error)
{
    struct owners before, after;
    sides(entry, &before, &after);
    const struct owners blocks = {.count = after.count, .ranks = window->new_size};
    struct slab slab = slab_of(entry, &after, window);
    if (describe_read(window, reader, &slab, after.count, error))
        return -1;
    if (move_between(window, &blocks, &after, entry->type, &slab.data) != EPOP_OK) {
        free(slab.data);
        return error_set(error, ERROR_FAILED, "described '%s' could not be given to its owners", entry->name);
    }
    describe_release_part(entry);
    *entry->local = slab.data;
    return 0;
}

/* ---- What else ----------------------------------------------------------------------------------- */

void epop_describe_owned(epop_description_t *d, const char *name, void *local, MPI_Datatype type,
                         const epop_partition_t *partition, unsigned flags)
{
    const struct owned layout = {.partition = partition};
    struct owners before, after;
    if (!describe_partition_of(d, partition, &before, &after)) {
        describe_refuse(d, name, "no entry before it describes its partition (epop_describe_partition)");
        return;
    }
    describe_add(d, &kind_owned, name, local, type, flags, &layout, sizeof layout);
}

static void terms(const struct described *entry, redist_terms *terms)
{
    const struct owned *owned = entry->layout;
    redist_element element = {.size = 0};
    redist_element_of(entry->type, &element);
    redist_term(terms, "the size of the datatype", element.size);
    redist_term(terms, "the extent of the datatype", element.extent);
    redist_term(terms, "the number of indices", owned->partition->count);
}

static int allocate(struct described *entry, int rank, int size)
{
    struct owners before, after;
    (void)size;
    sides(entry, &before, &after);
    describe_release_part(entry);
    return describe_room(entry->type, count_owned(&after, rank), entry->local) ? EPOP_OK : EPOP_ERR_MEMORY;
}

/* For the checksum: which index comes next. */
struct walk {
    struct owners owners;
    int rank;
    int64_t *index;
};

static int64_t next_index(const void *context, int64_t local)
{
    const struct walk *walk = context;
    *walk->index = next_owned(&walk->owners, walk->rank, local ? *walk->index + 1 : 0);
    return *walk->index;
}

static void sum(const struct described *entry, int rank, int size, int64_t *count, uint64_t *sum)
{
    struct owners before;
    int64_t index = 0;
    struct walk walk = {.rank = rank, .index = &index};
    (void)size;
    sides(entry, &before, &walk.owners);
    int64_t owned = count_owned(&walk.owners, rank);
    *count += owned;
    describe_mix_elements(entry->type, *entry->local, owned, next_index, &walk, sum);
}

static int64_t bytes(const struct described *entry, int rank, int size)
{
    struct owners before, after;
    (void)size;
    sides(entry, &before, &after);
    return describe_bytes(entry->type, count_owned(&after, rank));
}

const struct kind kind_owned = {.word = "owned",
                                .terms = terms,
                                .move = move,
                                .allocate = allocate,
                                .save = save,
                                .load = load,
                                .sum = sum,
                                .bytes = bytes,
                                .release = describe_release_part};
