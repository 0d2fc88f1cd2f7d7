/* Arrays of which every rank has a copy. In a file each rank writes a share of it. */
#include <stdlib.h>
#include <string.h>

#include "runtime/describe/collective.h"
#include "runtime/describe/describe.h"
#include "runtime/redist/plan.h"

static int64_t replicated_count(const struct described *entry)
{
    return *(const int64_t *)entry->layout;
}

void epop_describe_replicated(epop_description_t *d, const char *name, void *local, MPI_Datatype type, int64_t count,
                              unsigned flags)
{
    redist_element element;
    if (!describe_add(d, &kind_replicated, name, local, type, flags, &count, sizeof count))
        return;
    if (count < 0)
        describe_refuse(d, name, "its count is negative");
    else if (redist_element_of(type, &element) != 0)
        describe_refuse(d, name, "its datatype has no extent, or data in front of its address");
}

static void replicated_terms(const struct described *entry, redist_terms *terms)
{
    redist_element element;
    redist_term(terms, "the count", replicated_count(entry));
    if (redist_element_of(entry->type, &element) == 0)
        redist_terms_of_element(terms, &element);
}

static int replicated_allocate(struct described *entry, int rank, int size)
{
    (void)rank, (void)size;
    describe_release_part(entry);
    return describe_room(entry->type, replicated_count(entry), entry->local) ? EPOP_OK : EPOP_ERR_MEMORY;
}

static int replicated_move(struct described *entry, const epop_window_t *window)
{
    if (window->status == EPOP_JOINING)
        replicated_allocate(entry, window->new_rank,
                            window->new_size); /* without the memory it is refused with the others */
    int result = epop_redist_replicated(window, *entry->local, replicated_count(entry), entry->type);
    if (window->status == EPOP_LEAVING && result == EPOP_OK)
        describe_release_part(entry);
    return result;
}

static int replicated_save(struct described *entry, const epop_window_t *window, struct slab *slabs, int most,
                           struct error *error)
{
    MPI_Aint low, extent;
    epop_dist_t shares = epop_dist_block(replicated_count(entry));
    int rank = window->old_rank, size = window->old_size;
    if (most < 1)
        return error_set(error, ERROR_FAILED, "described '%s': no room to list it", entry->name);
    MPI_Type_get_extent(entry->type, &low, &extent);
    *slabs = (struct slab){.type = entry->type, .dims = 1, .extent = {replicated_count(entry)}};
    strcpy(slabs->name, entry->name);
    slabs->count = epop_dist_local_count(shares, rank, size);
    slabs->first = slabs->count ? epop_dist_global(shares, rank, size, 0) : 0;
    slabs->data = slabs->count ? (char *)*entry->local + slabs->first * extent : NULL;
    return 1;
}

/* Rank 0 reads it. */
static int replicated_load(struct described *entry, const epop_window_t *window, const struct slab_reader *reader,
                           struct error *error)
{
    struct slab slab = {.type = entry->type};
    strcpy(slab.name, entry->name);
    if (reader->shape(reader->context, &slab, error))
        return -1;
    if (slab.dims != 1 || slab.extent[0] != replicated_count(entry))
        return error_set(error, ERROR_FAILED, "described '%s': saved with %lld elements, described with %lld",
                         entry->name, (long long)slab.extent[0], (long long)replicated_count(entry));
    bool room = replicated_allocate(entry, window->new_rank, window->new_size) == EPOP_OK;
    if (describe_all_well(window, room ? NULL : "out of memory for described data", error))
        return -1;
    slab.count = window->new_rank == 0 ? replicated_count(entry) : 0;
    slab.data = *entry->local;
    if (reader->read(reader->context, &slab, error))
        return -1;
    if (describe_broadcast(window, *entry->local, replicated_count(entry), entry->type) == EPOP_OK)
        return 0;
    return error_set(error, ERROR_FAILED, "described '%s' could not be sent to all ranks", entry->name);
}

static int64_t replicated_index(const void *context, int64_t local)
{
    (void)context;
    return local;
}

/* Once, not once for each copy; that they are alike is the redistribution's to look at. */
static void replicated_sum(const struct described *entry, int rank, int size, int64_t *count, uint64_t *sum)
{
    (void)size;
    if (rank != 0)
        return;
    *count += replicated_count(entry);
    describe_mix_elements(entry->type, *entry->local, replicated_count(entry), replicated_index, NULL, sum);
}

static int64_t replicated_bytes(const struct described *entry, int rank, int size)
{
    (void)size;
    return rank < 0 ? 0 : describe_bytes(entry->type, replicated_count(entry));
}

static bool replicated_goes(const struct described *entry)
{
    return replicated_count(entry) > 0;
}

static int replicated_step(const struct described *entry, const epop_window_t *window, struct describe_route *route,
                           enum route_round round, struct error *error)
{
    (void)window, (void)round, (void)error;
    route->copies = replicated_count(entry);
    route->planned = true;
    return 0;
}

static const struct route_kind replicated_route = {.goes = replicated_goes, .step = replicated_step};

const struct kind kind_replicated = {.word = "replicated",
                                     .terms = replicated_terms,
                                     .move = replicated_move,
                                     .allocate = replicated_allocate,
                                     .save = replicated_save,
                                     .one_slab = true,
                                     .load = replicated_load,
                                     .sum = replicated_sum,
                                     .bytes = replicated_bytes,
                                     .release = describe_release_part,
                                     .route = &replicated_route};
