/*
 * Partitions, and what is dealt out by them. A partition says who owns each index, as a list that every rank has;
 * the elements that belong to it lie where it says, each rank's in the order of their indices. In a window the
 * partition moves first, and keeps its old list until the description goes, as the elements, which are described
 * after it, move from the old list to the new one.
 */
#include <stdlib.h>
#include <string.h>

#include "epop/unstructured.h"
#include "interpose/interpose.h"
#include "runtime/base/hash.h"
#include "runtime/describe/collective.h"
#include "runtime/describe/costs.h"
#include "runtime/describe/describe.h"
#include "runtime/redist/element.h"
#include "runtime/redist/move.h"
#include "runtime/redist/plan.h"
#include "runtime/world/world.h"

/* By a list, or by blocks of epop_dist_block. */
struct owners {
    const int *list; /* NULL: blocks */
    int64_t count;
    int ranks;
};

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

/* ---- Partitions: lists -------------------------------------------------------------------------- */

static int *new_list(int64_t count)
{
    return malloc(((size_t)count + 1) * sizeof(int));
}

static int broadcast_list(const epop_window_t *window, int root, int *list, int64_t count)
{
    return collective_broadcast(window, list, (size_t)count * sizeof *list, root);
}

static void divide_evenly(int64_t count, int size, int *list)
{
    epop_dist_t blocks = epop_dist_block(count);
    for (int64_t i = 0; i < count; i++)
        list[i] = epop_dist_owner(blocks, size, i, NULL);
}

static int check_owner_list(const char *whose, const int *list, int64_t count, int ranks, struct error *error)
{
    for (int64_t i = 0; i < count; i++)
        if (list[i] < 0 || list[i] >= ranks)
            return error_set(error, ERROR_REFUSED, "%s gives index %lld to rank %d, of %d ranks", whose, (long long)i,
                             list[i], ranks);
    return 0;
}

/* Do they have blocks in their order? starts: all 0; where the blocks begin. */
static bool are_blocks(const struct owners *owners, int64_t *starts)
{
    for (int64_t i = 0; i < owners->count; i++) {
        if (i && owners->list[i - 1] > owners->list[i])
            return false;
        starts[owners->list[i] + 1]++;
    }
    for (int rank = 0; rank < owners->ranks; rank++)
        starts[rank + 1] += starts[rank];
    return true;
}

/* What the indices cost within what their owners had to compute: of blocks that is known from earlier ones. False: out
 * of memory. */
static bool weigh_indices(const char *name, const struct owners *before, const int *loads, int64_t *weights)
{
    int64_t *starts = calloc((size_t)before->ranks + 1, sizeof *starts);
    bool well = starts;
    for (int64_t i = 0; i < before->count; i++)
        weights[i] = 1;
    if (well && are_blocks(before, starts)) {
        struct costs *costs = costs_of(name, before->count);
        well = costs && !costs_learn(costs, starts, loads, before->ranks);
        if (well)
            costs_weigh(costs, 0, before->count, weights);
    }
    free(starts);
    return well;
}

/* In blocks that take as long as each other, if an index takes its part of what its owner had to compute. The list is
 * made once, so that no rounding can differ between ranks. False: out of memory. */
static bool divide_by_loads(const char *name, const struct owners *before, const int *loads, int *list)
{
    long double *each = calloc((size_t)before->ranks, sizeof *each), sum = 0, total = 0;
    int64_t *weights = malloc(((size_t)before->count + 1) * sizeof *weights);
    bool well = each && weights && weigh_indices(name, before, loads, weights);
    for (int64_t i = 0; well && i < before->count; i++)
        each[before->list[i]] += (long double)weights[i];
    for (int rank = 0; well && rank < before->ranks; rank++)
        if (each[rank] > 0) {
            long double load = loads[rank] > 0 ? loads[rank] : 1;
            total += load;
            each[rank] = load / each[rank];
        }
    for (int64_t i = 0; well && i < before->count; i++) {
        long double takes = each[before->list[i]] * (long double)weights[i];
        int owner = (int)((sum + takes / 2) * before->ranks / total);
        list[i] = owner < before->ranks ? owner : before->ranks - 1;
        sum += takes;
    }
    free(each);
    free(weights);
    return well;
}

static int divide_partition(const epop_partition_t *p, int size, int *list, struct error *error)
{
    if (!p->divide) {
        divide_evenly(p->count, size, list);
        return 0;
    }
    int result = p->divide(p->count, size, list, p->context);
    if (result)
        return error_set(error, ERROR_REFUSED, "it could not be divided among %d ranks: divide() returned %d", size,
                         result);
    return check_owner_list("divide()", list, p->count, size, error);
}

/* A list for the new ranks, made on the first of them; in a balance from the one that the entry had. entry NULL: it is
 * none. Collective over window->all; errors as of describe_settle. */
static int make_list(const epop_window_t *window, const epop_partition_t *p, const struct described *entry, int **made,
                     struct error *error)
{
    const struct division *division = entry ? entry->layout : NULL;
    const int *loads = entry && !p->divide ? world_loads(window) : NULL;
    int *list = new_list(p->count);
    int *new_ranks = describe_new_ranks(window);
    if (!list || !new_ranks)
        error_memory(error);
    else if (window->new_rank == 0 && loads && !divide_by_loads(entry->name, &division->before, loads, list))
        error_memory(error);
    else if (window->new_rank == 0 && !loads)
        divide_partition(p, window->new_size, list, error);
    int result = describe_settle(window, error);
    if (result == EPOP_OK && broadcast_list(window, new_ranks[0], list, p->count))
        result = EPOP_ERR_MPI;
    free(new_ranks);
    if (result != EPOP_OK)
        free(list);
    else
        *made = list;
    return result;
}

/* ---- Partitions: what programs call ------------------------------------------------------------- */

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
    int result = make_list(&still, partition, NULL, &list, &error);
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

/* ---- Partitions: described, and in a window ----------------------------------------------------- */

static struct owners owners_of(const epop_partition_t *p)
{
    return (struct owners){.list = p->owner, .count = p->count, .ranks = p->ranks};
}

static void partition_fill(epop_description_t *d, const char *name, epop_partition_t *partition)
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
        partition_fill(d, name, partition);
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

static void partition_terms(const struct described *entry, redist_terms *terms)
{
    const struct division *division = entry->layout;
    redist_term(terms, "the number of indices", division->told.count);
    redist_term(terms, "the number of ranks", division->told.ranks);
}

/* The list that the old ranks have: is it for them, and one that can be? */
static void check_owners(const struct division *division, const epop_window_t *window, struct error *error)
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
        check_owner_list("the list of owners", o->list, o->count, o->ranks, error);
}

/* Do the old ranks have the same list? */
static int agree_on_owners(const struct division *division, const epop_window_t *window)
{
    redist_terms terms = {.function = DESCRIBE_FUNCTION, .no_say = window->old_rank < 0};
    size_t bytes = terms.no_say ? 0 : (size_t)division->before.count * sizeof(int);
    uint64_t sum = hash_bytes(HASH_BEGIN, division->before.list, bytes);
    redist_term(&terms, "the checksum of the owners", (int64_t)(sum >> 1));
    return redist_agree(window, &terms, REDIST_FINE);
}

/* Joining ranks learn who owned what. */
static int tell_owners(struct division *division, const epop_window_t *window)
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
    return broadcast_list(window, 0, all, division->before.count) ? EPOP_ERR_MPI : EPOP_OK;
}

/* From here on the new list is the program's; on a leaving rank, of which items and what is owned may still look at it,
 * until the description goes. */
static void partition_replace(struct division *division, const epop_window_t *window, int *list)
{
    epop_partition_t *p = division->of;
    division->after = (struct owners){.list = list, .count = p->count, .ranks = window->new_size};
    if (window->old_rank >= 0)
        division->spare[0] = p->owner;
    p->owner = list;
    p->ranks = window->new_size;
    if (window->new_rank < 0)
        division->spare[1] = list;
}

static int partition_move(struct described *entry, const epop_window_t *window)
{
    struct division *division = entry->layout;
    struct error error = {.code = ERROR_NONE};
    int *list = NULL;
    check_owners(division, window, &error);
    int result = describe_settle_and_say(window, &error);
    if (result == EPOP_OK)
        result = agree_on_owners(division, window);
    if (result == EPOP_OK && window->joining)
        result = tell_owners(division, window);
    if (result != EPOP_OK)
        return result;
    result = make_list(window, division->of, entry, &list, &error);
    if (error.code != ERROR_NONE)
        describe_say(window, &error);
    if (result == EPOP_OK)
        partition_replace(division, window, list);
    return result;
}

static void partition_forget(struct described *entry)
{
    struct division *division = entry->layout;
    if (division->spare[1])
        division->of->owner = NULL;
    free(division->spare[0]);
    free(division->spare[1]);
}

/* ---- Partitions: checkpoints -------------------------------------------------------------------- */

static struct slab partition_slab(const struct described *entry)
{
    const struct division *division = entry->layout;
    struct slab slab = {.type = MPI_INT, .dims = 1, .extent = {division->told.count}};
    strcpy(slab.name, entry->name);
    return slab;
}

/* All have it: each rank gives a block. */
static int partition_save(struct described *entry, const epop_window_t *window, struct slab *slabs, int most,
                          struct error *error)
{
    const struct division *division = entry->layout;
    epop_dist_t blocks = epop_dist_block(division->told.count);
    (void)most, (void)error;
    *slabs = partition_slab(entry);
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
    struct slab slab = partition_slab(entry);
    slab.count = window->new_rank == 0 ? count : 0;
    if (describe_read(window, reader, &slab, count, error))
        return -1;
    *list = window->new_rank == 0 ? slab.data : new_list(count);
    bool room = *list || !count;
    if (describe_all_well(window, room ? NULL : "out of memory for a partition", error) ||
        broadcast_list(window, 0, *list, count)) {
        free(*list);
        return error->code != ERROR_NONE ? -1 : error_set(error, ERROR_FAILED, "an MPI function failed");
    }
    return 0;
}

static int partition_load(struct described *entry, const epop_window_t *window, const struct slab_reader *reader,
                          struct error *error)
{
    struct division *division = entry->layout;
    int *list = NULL;
    if (division->told.ranks == window->new_size) {
        if (load_list(entry, window, reader, &list, error))
            return -1;
    } else if (make_list(window, division->of, NULL, &list, error) != EPOP_OK) {
        return error->code != ERROR_NONE ? -1 : error_set(error, ERROR_FAILED, "an MPI function failed");
    }
    partition_replace(division, window, list);
    return 0;
}

/* ---- Partitions: sums and bytes ----------------------------------------------------------------- */

/* It is not the same for another number of ranks, but it is for each of one. */
static void partition_sum(const struct described *entry, int rank, int size, int64_t *count, uint64_t *sum)
{
    const struct division *division = entry->layout;
    (void)size;
    describe_sum_indices(division->of->count, rank, count, sum);
}

static int64_t partition_bytes(const struct described *entry, int rank, int size)
{
    const struct division *division = entry->layout;
    (void)rank, (void)size;
    return division->of->owner ? division->of->count * (int64_t)sizeof(int) : 0;
}

static void partition_release(struct described *entry)
{
    const struct division *division = entry->layout;
    free(division->of->owner);
    division->of->owner = NULL;
}

/* ---- Partitions: ahead of the window ------------------------------------------------------------ */

/*
 * Rank 0 asks divide() when the ranks list, on the program's thread. Joining ranks learn who owned what, then all who
 * will own it; the window takes the list as it was made then.
 */

enum { OLD, NEW };

static bool is_owned_by(const struct described *entry, const epop_partition_t *partition);

/* Is there something to be moved by it? */
static bool partition_goes(const struct described *entry)
{
    const struct division *division = entry->layout;
    for (int i = 0; i < entry->list->count; i++) {
        const struct described *e = &entry->list->entries[i];
        if (describe_is_constant(e) && is_owned_by(e, division->of))
            return division->told.count > 0;
    }
    return false;
}

static int partition_list(const struct described *entry, int size, bool here, struct describe_route *route,
                          struct error *error)
{
    struct division *division = entry->layout;
    const struct owners *o = &division->before;
    route->number = division->of->divide ? 1 : 0; /* the same on all */
    if (!route_keep(route, OLD, o->count, &route_int, error) || !route_keep(route, NEW, o->count, &route_int, error))
        return -1;
    if (!here)
        return 0;
    if (!o->list || check_owner_list("the list of owners", o->list, o->count, o->ranks, error))
        return error_set(error, ERROR_FAILED, "there is no right list of owners");
    memcpy(route->kept[OLD], o->list, (size_t)o->count * sizeof *o->list);
    route->checksum = hash_bytes(HASH_BEGIN, o->list, (size_t)o->count * sizeof *o->list);
    if (world.rank || !division->of->divide)
        return 0;
    INTERPOSE_ASIDE;
    return divide_partition(division->of, size, route->kept[NEW], error);
}

static int partition_step(const struct described *entry, const epop_window_t *window, struct describe_route *route,
                          enum route_round round, struct error *error)
{
    struct division *division = entry->layout;
    int64_t count = division->told.count;
    int which = round == ROUTE_FIRST ? OLD : NEW;
    if (division->told.ranks != window->old_size)
        return error_set(error, ERROR_FAILED, "the partition is for %d ranks", (int)division->told.ranks);
    if (round == ROUTE_SHARES && !route->number)
        divide_evenly(count, window->new_size, route->kept[NEW]);
    if (round == ROUTE_FIRST || (round == ROUTE_SHARES && route->number))
        route->head = (struct route_stream){.element = route_int,
                                            .copies = count,
                                            .which = which == OLD ? COPIES_TO_JOINING : COPIES_TO_ALL,
                                            .before = route->kept[which],
                                            .after = route->kept[which]};
    division->before = (struct owners){.list = route->kept[OLD], .count = count, .ranks = window->old_size};
    division->after = (struct owners){.list = route->kept[NEW], .count = count, .ranks = window->new_size};
    return 0;
}

static bool partition_same(const struct describe_route *route, const struct described *now)
{
    const struct owners *o = &((const struct division *)now->layout)->before;
    return o->list && !memcmp(route->kept[OLD], o->list, (size_t)o->count * sizeof *o->list);
}

static void *take_kept(struct describe_route *route, int place)
{
    void *kept = route->kept[place];
    route->kept[place] = NULL;
    return kept;
}

static void partition_take(const struct described *now, const epop_window_t *window, struct describe_route *route)
{
    struct division *division = now->layout;
    if (window->old_rank < 0)
        division->before.list = division->spare[0] = take_kept(route, OLD);
    partition_replace(division, window, take_kept(route, NEW));
}

static const struct route_kind partition_route = {.leads = true,
                                                  .goes = partition_goes,
                                                  .list = partition_list,
                                                  .step = partition_step,
                                                  .same = partition_same,
                                                  .take = partition_take};

const struct kind kind_partition = {.word = "partition",
                                    .divides = true,
                                    .terms = partition_terms,
                                    .move = partition_move,
                                    .save = partition_save,
                                    .load = partition_load,
                                    .sum = partition_sum,
                                    .bytes = partition_bytes,
                                    .release = partition_release,
                                    .forget = partition_forget,
                                    .route = &partition_route};

/* ---- Owned elements: who has them --------------------------------------------------------------- */

/* Every rank has the lists before and after, so that it knows who has what it gets, and in which order that comes. */

/* The layout of an entry. */
struct owned {
    const epop_partition_t *partition;
};

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

/* The partition that an entry of this list describes, before and after it moved. False: none. */
static bool owners_by(const epop_description_t *d, const epop_partition_t *partition, struct owners *before,
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

static void owners_on_both_sides(const struct described *entry, struct owners *before, struct owners *after)
{
    const struct owned *owned = entry->layout;
    owners_by(entry->list, owned->partition, before, after);
}

/* ---- Owned elements: in a window ---------------------------------------------------------------- */

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

static redist_fault list_both_sides(redist_lists *lists, const epop_window_t *window, const struct owners *before,
                                    const struct owners *after)
{
    int *new_ranks = describe_new_ranks(window);
    redist_fault fault = new_ranks ? REDIST_FINE : REDIST_NO_MEMORY;
    if (fault == REDIST_FINE)
        fault = list_side(lists, REDIST_BEFORE, window, window->old_rank, before, after, new_ranks);
    if (fault == REDIST_FINE)
        fault = list_side(lists, REDIST_AFTER, window, window->new_rank, after, before, NULL);
    free(new_ranks);
    return fault;
}

static int move_between_owners(const epop_window_t *window, const struct owners *before, const struct owners *after,
                               MPI_Datatype type, void **local)
{
    redist_lists lists = {.starts = {NULL, NULL}};
    redist_fault fault = list_both_sides(&lists, window, before, after);
    int result = redist_by_lists(window, &lists, type, local, DESCRIBE_FUNCTION, fault);
    redist_lists_free(&lists);
    return result;
}

static int owned_move(struct described *entry, const epop_window_t *window)
{
    struct owners before, after;
    owners_on_both_sides(entry, &before, &after);
    return move_between_owners(window, &before, &after, entry->type, entry->local);
}

/* ---- Owned elements: checkpoints ---------------------------------------------------------------- */

static struct slab owned_slab(const struct described *entry, const struct owners *owners, const epop_window_t *window)
{
    epop_dist_t blocks = epop_dist_block(owners->count);
    struct slab slab = {.type = entry->type, .dims = 1, .extent = {owners->count}};
    slab.first = epop_dist_global(blocks, window->new_rank, window->new_size, 0);
    slab.count = epop_dist_local_count(blocks, window->new_rank, window->new_size);
    strcpy(slab.name, entry->name);
    return slab;
}

/* In the order of the indices: a copy goes to plain blocks. */
static int owned_save(struct described *entry, const epop_window_t *window, struct slab *slabs, int most,
                      struct error *error)
{
    struct owners before, after;
    (void)most;
    owners_on_both_sides(entry, &before, &after);
    const struct owners blocks = {.count = after.count, .ranks = window->new_size};
    *slabs = owned_slab(entry, &after, window);
    bool copied = describe_copy(entry, count_owned(&after, window->old_rank), &slabs->data);
    if (describe_all_well(window, copied ? NULL : "out of memory for a copy", error) ||
        move_between_owners(window, &after, &blocks, entry->type, &slabs->data) != EPOP_OK) {
        free(slabs->data);
        return error->code != ERROR_NONE
                   ? -1
                   : error_set(error, ERROR_FAILED, "described '%s' could not be put in order", entry->name);
    }
    slabs->owned = true;
    return 1;
}

static int owned_load(struct described *entry, const epop_window_t *window, const struct slab_reader *reader,
                      struct error *error)
{
    struct owners before, after;
    owners_on_both_sides(entry, &before, &after);
    const struct owners blocks = {.count = after.count, .ranks = window->new_size};
    struct slab slab = owned_slab(entry, &after, window);
    if (describe_read(window, reader, &slab, after.count, error))
        return -1;
    if (move_between_owners(window, &blocks, &after, entry->type, &slab.data) != EPOP_OK) {
        free(slab.data);
        return error_set(error, ERROR_FAILED, "described '%s' could not be given to its owners", entry->name);
    }
    describe_release_part(entry);
    *entry->local = slab.data;
    return 0;
}

/* ---- Owned elements: described, sums and bytes -------------------------------------------------- */

void epop_describe_owned(epop_description_t *d, const char *name, void *local, MPI_Datatype type,
                         const epop_partition_t *partition, unsigned flags)
{
    const struct owned layout = {.partition = partition};
    struct owners before, after;
    if (!owners_by(d, partition, &before, &after)) {
        describe_refuse(d, name, "no entry before it describes its partition (epop_describe_partition)");
        return;
    }
    describe_add(d, &kind_owned, name, local, type, flags, &layout, sizeof layout);
}

static bool is_owned_by(const struct described *entry, const epop_partition_t *partition)
{
    const struct owned *owned = entry->layout;
    return entry->kind == &kind_owned && owned->partition == partition;
}

static void owned_terms(const struct described *entry, redist_terms *terms)
{
    const struct owned *owned = entry->layout;
    redist_element element = {.size = 0};
    redist_element_of(entry->type, &element);
    redist_term(terms, "the size of the datatype", element.size);
    redist_term(terms, "the extent of the datatype", element.extent);
    redist_term(terms, "the number of indices", owned->partition->count);
}

static int owned_allocate(struct described *entry, int rank, int size)
{
    struct owners before, after;
    (void)size;
    owners_on_both_sides(entry, &before, &after);
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

static void owned_sum(const struct described *entry, int rank, int size, int64_t *count, uint64_t *sum)
{
    struct owners before;
    int64_t index = 0;
    struct walk walk = {.rank = rank, .index = &index};
    (void)size;
    owners_on_both_sides(entry, &before, &walk.owners);
    int64_t owned = count_owned(&walk.owners, rank);
    *count += owned;
    describe_mix_elements(entry->type, *entry->local, owned, next_index, &walk, sum);
}

static int64_t owned_bytes(const struct described *entry, int rank, int size)
{
    struct owners before, after;
    (void)size;
    owners_on_both_sides(entry, &before, &after);
    return describe_bytes(entry->type, count_owned(&after, rank));
}

/* ---- Owned elements: ahead of the window -------------------------------------------------------- */

static bool owned_goes(const struct described *entry)
{
    const struct owned *owned = entry->layout;
    return owned->partition->count > 0;
}

static int owned_step(const struct described *entry, const epop_window_t *window, struct describe_route *route,
                      enum route_round round, struct error *error)
{
    struct owners before, after;
    route->anywhere = true;
    if (round != ROUTE_COUNTS)
        return 0;
    owners_on_both_sides(entry, &before, &after);
    if (list_both_sides(&route->lists, window, &before, &after) != REDIST_FINE)
        return error_memory(error);
    route_plan_lists(route, window);
    return 0;
}

static const struct route_kind owned_route = {.goes = owned_goes, .step = owned_step};

const struct kind kind_owned = {.word = "owned",
                                .terms = owned_terms,
                                .move = owned_move,
                                .allocate = owned_allocate,
                                .save = owned_save,
                                .one_slab = true,
                                .load = owned_load,
                                .sum = owned_sum,
                                .bytes = owned_bytes,
                                .release = describe_release_part,
                                .route = &owned_route};
