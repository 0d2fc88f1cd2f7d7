/*
 * Partitions: who owns each index, as a list that every rank has. The list before a window is kept until the
 * description goes: what is owned by it stands behind it, and moves from the one to the other.
 */
#include <stdlib.h>
#include <string.h>

#include "interpose/interpose.h"
#include "runtime/base/hash.h"
#include "runtime/describe/collective.h"
#include "runtime/describe/unstructured.h"
#include "runtime/redist/plan.h"

/* What joining ranks and checkpoints are told of it. */
struct told {
    int64_t count, ranks;
};

/* The layout of an entry. */
struct division {
    epop_partition_t *of;
    struct told told;
    struct owners before, after;
    int *spare[2]; /* lists that go with the description */
};

/* ---- Lists ------------------------------------------------------------------------------ */

static int *new_list(int64_t count)
{
    return malloc(((size_t)count + 1) * sizeof(int));
}

static int tell_all(const epop_window_t *window, int root, int *list, int64_t count)
{
    return collective_broadcast(window, list, (size_t)count * sizeof *list, root);
}

static void divide_evenly(int64_t count, int size, int *list)
{
    epop_dist_t blocks = epop_dist_block(count);
    for (int64_t i = 0; i < count; i++)
        list[i] = epop_dist_owner(blocks, size, i, NULL);
}

static int check_list(const char *whose, const int *list, int64_t count, int ranks, struct error *error)
{
    for (int64_t i = 0; i < count; i++)
        if (list[i] < 0 || list[i] >= ranks)
            return error_set(error, ERROR_REFUSED, "%s gives index %lld to rank %d, of %d ranks", whose, (long long)i,
                             list[i], ranks);
    return 0;
}

static int divide(const epop_partition_t *p, int size, int *list, struct error *error)
{
    if (!p->divide) {
        divide_evenly(p->count, size, list);
        return 0;
    }
    int result = p->divide(p->count, size, list, p->context);
    if (result)
        return error_set(error, ERROR_REFUSED, "it could not be divided among %d ranks: divide() returned %d", size,
                         result);
    return check_list("divide()", list, p->count, size, error);
}

/* A list for the new ranks, made on the first of them. Collective over window->all; errors as of describe_settle. */
static int make_list(const epop_window_t *window, const epop_partition_t *p, int **made, struct error *error)
{
    int *list = new_list(p->count);
    int *new_ranks = describe_new_ranks(window);
    if (!list || !new_ranks)
        error_memory(error);
    else if (window->new_rank == 0)
        divide(p, window->new_size, list, error);
    int result = describe_settle(window, error);
    if (result == EPOP_OK && tell_all(window, new_ranks[0], list, p->count))
        result = EPOP_ERR_MPI;
    free(new_ranks);
    if (result != EPOP_OK)
        free(list);
    else
        *made = list;
    return result;
}

/* ---- For the program ---------------------------------------------------------------------- */

int epop_partition_divide(epop_partition_t *partition)
{
    INTERPOSE_CALL(epop_partition_divide);
    epop_window_t still;
    struct error error = {.code = ERROR_NONE};
    int *list = NULL;
    if (!partition || partition->count < 0)
        return EPOP_ERR_ARGUMENT;
    if (describe_still(epop_world(), &still) != EPOP_OK)
        return EPOP_ERR_MEMORY;
    int result = make_list(&still, partition, &list, &error);
    if (error.code != ERROR_NONE)
        describe_say(&still, &error);
    if (result == EPOP_OK) {
        free(partition->owner);
        partition->owner = list;
        partition->ranks = still.new_size;
    }
    describe_still_free(&still);
    return result;
}

int64_t epop_partition_local(const epop_partition_t *partition, int rank, int64_t *indices)
{
    int64_t count = 0;
    for (int64_t i = 0; i < partition->count; i++) {
        if (partition->owner[i] != rank)
            continue;
        if (indices)
            indices[count] = i;
        count++;
    }
    return count;
}

/* ---- For what is owned ---------------------------------------------------------------------- */

bool describe_partition_of(const epop_description_t *d, const epop_partition_t *partition, struct owners *before,
                           struct owners *after)
{
    for (int i = 0; i < d->count; i++) {
        const struct division *division = d->entries[i].layout;
        if (d->entries[i].kind != &kind_partition || division->of != partition)
            continue;
        *before = division->before;
        *after = division->after;
        return true;
    }
    return false;
}

/* ---- The kind --------------------------------------------------------------------------------- */

static struct owners owners_of(const epop_partition_t *p)
{
    return (struct owners){.list = p->owner, .count = p->count, .ranks = p->ranks};
}

static void fill(epop_description_t *d, const char *name, epop_partition_t *partition)
{
    struct told told;
    if (!describe_fill(d, name, &told, sizeof told))
        return;
    partition->count = told.count;
    partition->ranks = (int)told.ranks;
    partition->owner = NULL;
}

void epop_describe_partition(epop_description_t *d, const char *name, epop_partition_t *partition)
{
    if (!partition) {
        describe_refuse(d, name, "the address of the partition is NULL");
        return;
    }
    if (d->mode == DESCRIBE_FILL)
        fill(d, name, partition);
    const struct division layout = {.of = partition,
                                    .told = {partition->count, partition->ranks},
                                    .before = owners_of(partition),
                                    .after = owners_of(partition)};
    struct described *entry =
        describe_add(d, &kind_partition, name, &partition->owner, MPI_INT, 0, &layout, sizeof layout);
    if (!entry)
        return;
    entry->values = &((struct division *)entry->layout)->told;
    entry->value_bytes = sizeof layout.told;
}

static void terms(const struct described *entry, redist_terms *terms)
{
    const struct division *division = entry->layout;
    redist_term(terms, "the number of indices", division->told.count);
    redist_term(terms, "the number of ranks", division->told.ranks);
}

/* The list that the old ranks have: is it for them, and one that can be? */
static void check(const struct division *division, const epop_window_t *window, struct error *error)
{
    const struct owners *o = &division->before;
    if (window->old_rank < 0)
        return;
    if (o->count < 0 || o->ranks != window->old_size)
        error_set(error, ERROR_REFUSED, "the partition is of %lld indices for %d ranks, and there are %d",
                  (long long)o->count, o->ranks, window->old_size);
    else if (o->count > 0 && !o->list)
        error_set(error, ERROR_REFUSED, "the list of owners is NULL");
    else
        check_list("the list of owners", o->list, o->count, o->ranks, error);
}

/* Do the old ranks have the same list? */
static int agree(const struct division *division, const epop_window_t *window)
{
    redist_terms terms = {.function = DESCRIBE_FUNCTION, .no_say = window->old_rank < 0};
    size_t bytes = terms.no_say ? 0 : (size_t)division->before.count * sizeof(int);
    uint64_t sum = hash_bytes(HASH_BEGIN, division->before.list, bytes);
    redist_term(&terms, "the checksum of the owners", (int64_t)(sum >> 1));
    return redist_agree(window, &terms, REDIST_FINE);
}

/* Joining ranks learn who owned what. */
static int tell(struct division *division, const epop_window_t *window)
{
    struct error error = {.code = ERROR_NONE};
    int *list = NULL;
    if (window->old_rank < 0 && !(list = new_list(division->before.count)))
        error_memory(&error);
    int result = describe_settle_and_say(window, &error);
    if (result != EPOP_OK)
        return result;
    if (window->old_rank < 0)
        division->before.list = division->spare[0] = list;
    int *all = window->old_rank < 0 ? list : division->of->owner;
    return tell_all(window, 0, all, division->before.count) ? EPOP_ERR_MPI : EPOP_OK;
}

/* From here on the new list is the program's; on a leaving rank only what is owned still looks at it. */
static void replace(struct division *division, const epop_window_t *window, int *list)
{
    epop_partition_t *p = division->of;
    division->after = (struct owners){.list = list, .count = p->count, .ranks = window->new_size};
    if (window->old_rank >= 0)
        division->spare[0] = p->owner;
    bool leaves = window->new_rank < 0;
    p->owner = leaves ? NULL : list;
    p->ranks = window->new_size;
    if (leaves)
        division->spare[1] = list;
}

static int move(struct described *entry, const epop_window_t *window)
{
    struct division *division = entry->layout;
    struct error error = {.code = ERROR_NONE};
    int *list = NULL;
    check(division, window, &error);
    int result = describe_settle_and_say(window, &error);
    if (result == EPOP_OK)
        result = agree(division, window);
    if (result == EPOP_OK && window->joining)
        result = tell(division, window);
    if (result != EPOP_OK)
        return result;
    result = make_list(window, division->of, &list, &error);
    if (error.code != ERROR_NONE)
        describe_say(window, &error);
    if (result == EPOP_OK)
        replace(division, window, list);
    return result;
}

static void forget(struct described *entry)
{
    struct division *division = entry->layout;
    free(division->spare[0]);
    free(division->spare[1]);
}

/* ---- Checkpoints -------------------------------------------------------------------------------- */

static struct slab slab_of(const struct described *entry)
{
    const struct division *division = entry->layout;
    struct slab slab = {.type = MPI_INT, .dims = 1, .extent = {division->told.count}};
    strcpy(slab.name, entry->name);
    return slab;
}

/* All have it: each rank gives a block. */
static int save(struct described *entry, const epop_window_t *window, struct slab *slabs, int most, struct error *error)
{
    const struct division *division = entry->layout;
    epop_dist_t blocks = epop_dist_block(division->told.count);
    (void)most, (void)error;
    *slabs = slab_of(entry);
    slabs->first = epop_dist_global(blocks, window->new_rank, window->new_size, 0);
    slabs->count = epop_dist_local_count(blocks, window->new_rank, window->new_size);
    slabs->data = division->of->owner + slabs->first;
    return 1;
}

/* For the number of ranks that wrote it the list stays what it was: rank 0 reads it. */
static int load_list(const struct described *entry, const epop_window_t *window, const struct slab_reader *reader,
                     int **list, struct error *error)
{
    const struct division *division = entry->layout;
    int64_t count = division->told.count;
    struct slab slab = slab_of(entry);
    slab.count = window->new_rank == 0 ? count : 0;
    if (describe_read(window, reader, &slab, count, error))
        return -1;
    *list = window->new_rank == 0 ? slab.data : new_list(count);
    bool room = *list || !count;
    if (describe_all_well(window, room ? NULL : "out of memory for a partition", error) ||
        tell_all(window, 0, *list, count)) {
        free(*list);
        return error->code != ERROR_NONE ? -1 : error_set(error, ERROR_FAILED, "an MPI function failed");
    }
    return 0;
}

static int load(struct described *entry, const epop_window_t *window, const struct slab_reader *reader,
                struct error *error)
{
    struct division *division = entry->layout;
    int *list = NULL;
    if (division->told.ranks == window->new_size) {
        if (load_list(entry, window, reader, &list, error))
            return -1;
    } else if (make_list(window, division->of, &list, error) != EPOP_OK) {
        return error->code != ERROR_NONE ? -1 : error_set(error, ERROR_FAILED, "an MPI function failed");
    }
    replace(division, window, list);
    return 0;
}

/* ---- What else ------------------------------------------------------------------------------------ */

/* It is not the same for another number of ranks, but it is for each of one. */
static void sum(const struct described *entry, int rank, int size, int64_t *count, uint64_t *sum)
{
    const struct division *division = entry->layout;
    (void)size;
    describe_sum_indices(division->of->count, rank, count, sum);
}

static int64_t bytes(const struct described *entry, int rank, int size)
{
    const struct division *division = entry->layout;
    (void)rank, (void)size;
    return division->of->owner ? division->of->count * (int64_t)sizeof(int) : 0;
}

static void release(struct described *entry)
{
    const struct division *division = entry->layout;
    free(division->of->owner);
    division->of->owner = NULL;
}

const struct kind kind_partition = {.word = "partition",
                                    .terms = terms,
                                    .move = move,
                                    .save = save,
                                    .load = load,
                                    .sum = sum,
                                    .bytes = bytes,
                                    .release = release,
                                    .forget = forget};
