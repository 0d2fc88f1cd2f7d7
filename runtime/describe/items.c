/*
 * Items that belong where a function of the program says. Each rank asks it for every item it has, tells the others
 * how many come, and sends them straight there.
 */
#include <stdlib.h>
#include <string.h>

#include "epop/unstructured.h"
#include "interpose/interpose.h"
#include "runtime/describe/collective.h"
#include "runtime/describe/describe.h"
#include "runtime/redist/element.h"
#include "runtime/redist/move.h"
#include "runtime/redist/plan.h"

/* The layout of an entry. */
struct rule {
    int64_t *count;
    epop_owner_t owner;
    const void *context;
};

/* Items on their way. */
struct shipment {
    const epop_window_t *window;
    const char *function; /* who asks, for messages */
    void **items;
    MPI_Datatype type;
    struct rule rule;
};

static int64_t items_here(const struct shipment *s)
{
    return s->window->old_rank < 0 ? 0 : *s->rule.count;
}

/* ---- Who gets what ------------------------------------------------------------------------------ */

static int check_items(const struct shipment *s, redist_element *element, struct error *error)
{
    if (redist_element_of(s->type, element))
        return error_set(error, ERROR_REFUSED, "the datatype has no extent, or data in front of its address");
    if (items_here(s) < 0)
        return error_set(error, ERROR_REFUSED, "the number of items is negative");
    return items_here(s) > 0 && !*s->items
               ? error_set(error, ERROR_REFUSED, "there are items, but the pointer to them is NULL")
               : 0;
}

/* The rank in window->all of the owner of each item. */
static int find_owners(const struct shipment *s, const redist_element *element, const int *new_ranks, int *peers,
                       struct error *error)
{
    int size = s->window->new_size;
    const char *item = *s->items;
    for (int64_t i = 0; i < items_here(s); i++, item += element->extent) {
        int owner = s->rule.owner(item, size, s->rule.context);
        if (owner < 0 || owner >= size)
            return error_set(error, ERROR_REFUSED, "the owner of item %lld is rank %d, of %d ranks", (long long)i,
                             owner, size);
        peers[i] = new_ranks[owner];
    }
    return 0;
}

static void sort_by_owner(const struct shipment *s, redist_lists *lists, struct error *error)
{
    redist_element element;
    if (check_items(s, &element, error))
        return;
    int *new_ranks = describe_new_ranks(s->window);
    int *peers = malloc(((size_t)items_here(s) + 1) * sizeof *peers);
    if (!new_ranks || !peers)
        error_memory(error);
    else if (!find_owners(s, &element, new_ranks, peers, error) &&
             redist_lists_group(lists, REDIST_BEFORE, redist_all_size(s->window), peers, items_here(s)) != REDIST_FINE)
        error_memory(error);
    free(new_ranks);
    free(peers);
}

/* A rank without items may have room for some: one that leaves has not. */
static void items_arrived(const struct shipment *s, int64_t count)
{
    *s->rule.count = count;
    if (s->window->new_rank >= 0)
        return;
    free(*s->items);
    *s->items = NULL;
}

/* Collective over the window. EPOP_OK, or the error of all: in `error` where it is not on stderr already. */
static int ship_items(const struct shipment *s, struct error *error)
{
    redist_lists lists = {.starts = {NULL, NULL}};
    sort_by_owner(s, &lists, error);
    int result = describe_settle(s->window, error);
    if (result == EPOP_OK)
        result =
            redist_by_lists(s->window, &lists, s->type, s->items, s->function, redist_lists_hear(&lists, s->window));
    if (result == EPOP_OK)
        items_arrived(s, lists.starts[REDIST_AFTER][redist_all_size(s->window)]);
    redist_lists_free(&lists);
    return result;
}

static int ship_items_and_say(const struct shipment *s)
{
    struct error error = {.code = ERROR_NONE};
    int result = ship_items(s, &error);
    if (error.code != ERROR_NONE)
        describe_say(s->window, &error);
    return result;
}

/* ---- In the loop -------------------------------------------------------------------------------- */

/* Messages of the runtime do not meet those of the program: a communicator of their own, which goes with the world. */
static int drop_twin(MPI_Comm world, int key, void *twin, void *state)
{
    (void)world, (void)key, (void)state;
    return MPI_Comm_free((MPI_Comm *)twin) != MPI_SUCCESS ? MPI_ERR_OTHER : (free(twin), MPI_SUCCESS);
}

static MPI_Comm twin_of(MPI_Comm world)
{
    static int key = MPI_KEYVAL_INVALID;
    MPI_Comm *twin = NULL;
    int there = 0;
    if (key == MPI_KEYVAL_INVALID && MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop_twin, &key, NULL))
        return MPI_COMM_NULL;
    if (MPI_Comm_get_attr(world, key, &twin, &there) == MPI_SUCCESS && there)
        return *twin;
    if (!(twin = malloc(sizeof *twin)))
        return MPI_COMM_NULL;
    if (MPI_Comm_dup(world, twin) != MPI_SUCCESS || MPI_Comm_set_attr(world, key, twin) != MPI_SUCCESS) {
        free(twin);
        return MPI_COMM_NULL;
    }
    return *twin;
}

static bool arguments_missing(const void *items, const int64_t *count, epop_owner_t owner)
{
    return !items || !count || !owner;
}

int epop_items_exchange(void *items, int64_t *count, MPI_Datatype type, epop_owner_t owner, const void *context)
{
    INTERPOSE_CALL(epop_items_exchange);
    epop_window_t still;
    if (arguments_missing(items, count, owner))
        return EPOP_ERR_ARGUMENT;
    MPI_Comm comm = twin_of(epop_world());
    if (comm == MPI_COMM_NULL)
        return EPOP_ERR_MPI;
    if (describe_still(comm, &still) != EPOP_OK)
        return EPOP_ERR_MEMORY;
    struct shipment s = {.window = &still,
                         .function = "epop_items_exchange",
                         .items = items,
                         .type = type,
                         .rule = {.count = count, .owner = owner, .context = context}};
    int result = ship_items_and_say(&s);
    describe_still_free(&still);
    return result;
}

/* ---- The kind ----------------------------------------------------------------------------------- */

void epop_describe_items(epop_description_t *d, const char *name, void *items, int64_t *count, MPI_Datatype type,
                         epop_owner_t owner, const void *context, unsigned flags)
{
    const struct rule rule = {.count = count, .owner = owner, .context = context};
    if (arguments_missing(items, count, owner)) {
        describe_refuse(d, name,
                        "the address of the items, of their number, or the function that says whose they are is NULL");
        return;
    }
    describe_add(d, &kind_items, name, items, type, flags, &rule, sizeof rule);
}

static void items_terms(const struct described *entry, redist_terms *terms)
{
    redist_element element = {.size = 0};
    redist_element_of(entry->type, &element);
    redist_term(terms, "the size of the datatype", element.size);
    redist_term(terms, "the extent of the datatype", element.extent);
}

static struct shipment shipment_of(const struct described *entry, const epop_window_t *window)
{
    return (struct shipment){.window = window,
                             .function = DESCRIBE_FUNCTION,
                             .items = entry->local,
                             .type = entry->type,
                             .rule = *(const struct rule *)entry->layout};
}

static int items_move(struct described *entry, const epop_window_t *window)
{
    struct shipment s = shipment_of(entry, window);
    return ship_items_and_say(&s);
}

/* Rank after rank. */
static int items_save(struct described *entry, const epop_window_t *window, struct slab *slabs, int most,
                      struct error *error)
{
    const struct rule *rule = entry->layout;
    struct slab *slab = slabs;
    (void)most;
    *slab = (struct slab){.type = entry->type, .dims = 1, .count = *rule->count, .data = *entry->local};
    strcpy(slab->name, entry->name);
    return describe_place(window, slab->count, &slab->first, &slab->extent[0], error) ? -1 : 1;
}

/* As many as the other ranks, one block after the other, and from there to their owners: the items of a rank are in the
 * order that they had in the checkpoint. */
static int items_load(struct described *entry, const epop_window_t *window, const struct slab_reader *reader,
                      struct error *error)
{
    const struct rule *rule = entry->layout;
    struct shipment s = shipment_of(entry, window);
    struct slab slab = {.type = entry->type};
    strcpy(slab.name, entry->name);
    if (reader->shape(reader->context, &slab, error))
        return -1;
    epop_dist_t blocks = epop_dist_block(slab.extent[0]);
    slab.first = epop_dist_global(blocks, window->new_rank, window->new_size, 0);
    slab.count = epop_dist_local_count(blocks, window->new_rank, window->new_size);
    if (describe_read(window, reader, &slab, slab.extent[0], error))
        return -1;
    describe_release_part(entry);
    *entry->local = slab.data;
    *rule->count = slab.count;
    if (ship_items(&s, error) == EPOP_OK)
        return 0;
    return error->code != ERROR_NONE
               ? -1
               : error_set(error, ERROR_FAILED, "described '%s': the items did not come to their owners", entry->name);
}

static int64_t no_index(const void *context, int64_t local)
{
    (void)context, (void)local;
    return 0;
}

/* Where an item is does not tell who it is: its content alone counts. */
static void items_sum(const struct described *entry, int rank, int size, int64_t *count, uint64_t *sum)
{
    const struct rule *rule = entry->layout;
    (void)rank, (void)size;
    *count += *rule->count;
    describe_mix_elements(entry->type, *entry->local, *rule->count, no_index, NULL, sum);
}

static int64_t items_bytes(const struct described *entry, int rank, int size)
{
    const struct rule *rule = entry->layout;
    (void)rank, (void)size;
    return describe_bytes(entry->type, *rule->count);
}

static void items_release(struct described *entry)
{
    const struct rule *rule = entry->layout;
    describe_release_part(entry);
    *rule->count = 0;
}

/* ---- Ahead of the window ------------------------------------------------------------------------ */

/* The function is asked when the ranks list, on the program's thread; each rank then tells each other how many come. */

enum { PEERS, COUNTS, HEARD };

/* The function may look at cuts and partitions that have moved before in a window. */
static bool items_goes(const struct described *entry)
{
    for (const struct described *e = entry->list->entries; e < entry; e++)
        if (e->kind->divides)
            return false;
    return true;
}

static int ask_owners(const struct rule *rule, const void *items, int64_t extent, int size, int *owners,
                      struct error *error)
{
    INTERPOSE_ASIDE;
    const char *item = items;
    for (int64_t i = 0; i < *rule->count; i++, item += extent) {
        owners[i] = rule->owner(item, size, rule->context);
        if (owners[i] < 0 || owners[i] >= size)
            return error_set(error, ERROR_FAILED, "an item belongs to rank %d, of %d ranks", owners[i], size);
    }
    return 0;
}

static int items_list(const struct described *entry, int size, bool here, struct describe_route *route,
                      struct error *error)
{
    const struct rule *rule = entry->layout;
    const void *items = describe_part_of(entry);
    redist_element element;
    if (!here)
        return 0;
    if (*rule->count < 0 || (*rule->count && !items) || redist_element_of(entry->type, &element))
        return error_set(error, ERROR_FAILED, "there are no items");
    route->number = *rule->count;
    if (!route_keep(route, PEERS, *rule->count, &route_int, error))
        return -1;
    return ask_owners(rule, items, element.extent, size, route->kept[PEERS], error);
}

/* From the new ranks of the owners to their ranks in the window. */
static int group_items(const epop_window_t *window, struct describe_route *route, struct error *error)
{
    int *peers = route->kept[PEERS], none;
    int *new_ranks = describe_new_ranks(window);
    for (int64_t i = 0; new_ranks && i < route->number; i++)
        peers[i] = new_ranks[peers[i]];
    bool grouped = new_ranks && redist_lists_group(&route->lists, REDIST_BEFORE, redist_all_size(window),
                                                   peers ? peers : &none, route->number) == REDIST_FINE;
    free(new_ranks);
    return grouped ? 0 : error_memory(error);
}

static int tell_counts(const epop_window_t *window, struct describe_route *route, struct error *error)
{
    int ranks = redist_all_size(window);
    if (!route_keep(route, COUNTS, ranks, &route_number, error) ||
        !route_keep(route, HEARD, ranks, &route_number, error) || group_items(window, route, error))
        return -1;
    int64_t *counts = route->kept[COUNTS];
    for (int rank = 0; rank < ranks; rank++)
        counts[rank] = route->lists.starts[REDIST_BEFORE][rank + 1] - route->lists.starts[REDIST_BEFORE][rank];
    route->head = (struct route_stream){
        .element = route_number, .copies = 1, .which = COPIES_APART, .before = counts, .after = route->kept[HEARD]};
    return 0;
}

static int items_step(const struct described *entry, const epop_window_t *window, struct describe_route *route,
                      enum route_round round, struct error *error)
{
    (void)entry;
    route->anywhere = true;
    if (round == ROUTE_COUNTS)
        return tell_counts(window, route, error);
    if (round != ROUTE_DATA)
        return 0;
    const int64_t *heard = route->kept[HEARD];
    int64_t *starts = route->lists.starts[REDIST_AFTER];
    for (int rank = 0; rank < redist_all_size(window); rank++)
        starts[rank + 1] = starts[rank] + heard[rank];
    route_plan_lists(route, window);
    return 0;
}

static void items_take(const struct described *now, const epop_window_t *window, struct describe_route *route)
{
    const struct rule *rule = now->layout;
    (void)window;
    *rule->count = redist_plan_local(&route->plan, REDIST_AFTER);
}

static const struct route_kind items_route = {
    .goes = items_goes, .list = items_list, .step = items_step, .take = items_take};

const struct kind kind_items = {.word = "items",
                                .terms = items_terms,
                                .move = items_move,
                                .save = items_save,
                                .one_slab = true,
                                .load = items_load,
                                .sum = items_sum,
                                .bytes = items_bytes,
                                .release = items_release,
                                .route = &items_route};
