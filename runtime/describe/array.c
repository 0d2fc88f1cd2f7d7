/* One-dimensional arrays. In a file an array has one dimension, dealt out in blocks. */
#include <stdlib.h>
#include <string.h>

#include "runtime/describe/collective.h"
#include "runtime/describe/describe.h"
#include "runtime/redist/plan.h"

static const epop_dist_t *array_dist(const struct described *entry)
{
    return entry->layout;
}

/* The distributions of the old and of the new ranks. */
static bool array_dists(const struct described *entry, epop_dist_t *before, epop_dist_t *after)
{
    *before = *after = *array_dist(entry);
    return before->kind != EPOP_DIST_CUTS || describe_cuts_of(entry, *before, before, after);
}

bool describe_array_is_by(const struct described *entry, const int64_t *starts)
{
    return array_dist(entry)->kind == EPOP_DIST_CUTS && array_dist(entry)->starts == starts;
}

void epop_describe_array(epop_description_t *d, const char *name, void *local, MPI_Datatype type, epop_dist_t dist,
                         unsigned flags)
{
    struct described *entry = describe_add(d, &kind_array, name, local, type, flags, &dist, sizeof dist);
    epop_dist_t before, after;
    redist_element element;
    if (!entry)
        return;
    if (dist.count < 0 || (dist.kind == EPOP_DIST_BLOCK_CYCLIC && dist.block < 1))
        describe_refuse(d, name, "its distribution has a negative count or a block below 1");
    else if (!array_dists(entry, &before, &after))
        describe_refuse(d, name, "its cuts are not described before it; epop_describe_cuts does that");
    else if (redist_element_of(type, &element) != 0)
        describe_refuse(d, name, "its datatype has no extent, or data in front of its address");
}

static void array_terms(const struct described *entry, redist_terms *terms)
{
    redist_element element;
    const epop_dist_t *dist = array_dist(entry);
    redist_term(terms, "the kind of distribution", (int64_t)dist->kind);
    redist_term(terms, "the count", dist->count);
    if (dist->kind == EPOP_DIST_BLOCK_CYCLIC)
        redist_term(terms, "the block", dist->block);
    if (redist_element_of(entry->type, &element) == 0)
        redist_terms_of_element(terms, &element);
}

static int array_move(struct described *entry, const epop_window_t *window)
{
    epop_dist_t before, after;
    return array_dists(entry, &before, &after) ? epop_redist_between(window, before, after, entry->type, entry->local)
                                               : EPOP_ERR_ARGUMENT;
}

static int64_t array_count(const struct described *entry, int rank, int size)
{
    epop_dist_t before, after;
    return array_dists(entry, &before, &after) ? epop_dist_local_count(after, rank, size) : 0;
}

static int array_allocate(struct described *entry, int rank, int size)
{
    describe_release_part(entry);
    return describe_room(entry->type, array_count(entry, rank, size), entry->local) ? EPOP_OK : EPOP_ERR_MEMORY;
}

static int array_save(struct described *entry, const epop_window_t *window, struct slab *slabs, int most,
                      struct error *error)
{
    const epop_dist_t *dist = array_dist(entry);
    int rank = window->old_rank, size = window->old_size;
    epop_dist_t blocks = epop_dist_block(dist->count), before, after;
    struct slab *slab = slabs;
    if (most < 1 || !array_dists(entry, &before, &after))
        return error_set(error, ERROR_FAILED, "described '%s': no room to list it", entry->name);
    *slab = (struct slab){.type = entry->type, .dims = 1, .extent = {dist->count}, .data = *entry->local};
    strcpy(slab->name, entry->name);
    if (dist->kind == EPOP_DIST_CYCLIC || dist->kind == EPOP_DIST_BLOCK_CYCLIC) {
        bool copied = describe_copy(entry, epop_dist_local_count(*dist, rank, size), &slab->data);
        int result = describe_all_well(window, copied ? NULL : "out of memory for a copy", error);
        if (!result && epop_redist_between(window, before, blocks, entry->type, &slab->data) != EPOP_OK)
            result = error_set(error, ERROR_FAILED, "described '%s' could not be dealt out in blocks", entry->name);
        if (result) {
            free(slab->data);
            return -1;
        }
        slab->owned = true;
        before = blocks;
    }
    slab->count = epop_dist_local_count(before, rank, size);
    slab->first = slab->count ? epop_dist_global(before, rank, size, 0) : 0;
    return 1;
}

static int array_load(struct described *entry, const epop_window_t *window, const struct slab_reader *reader,
                      struct error *error)
{
    const epop_dist_t *dist = array_dist(entry);
    int rank = window->new_rank, size = window->new_size;
    epop_dist_t blocks = epop_dist_block(dist->count), before, after;
    struct slab slab = {.type = entry->type};
    strcpy(slab.name, entry->name);
    if (reader->shape(reader->context, &slab, error))
        return -1;
    if (slab.dims != 1 || slab.extent[0] != dist->count || !array_dists(entry, &before, &after))
        return error_set(error, ERROR_FAILED, "described '%s': saved with %lld elements, described with %lld",
                         entry->name, (long long)slab.extent[0], (long long)dist->count);
    slab.count = epop_dist_local_count(blocks, rank, size);
    slab.first = slab.count ? epop_dist_global(blocks, rank, size, 0) : 0;
    describe_release_part(entry);
    if (describe_read_part(window, reader, &slab, error))
        return -1;
    *entry->local = slab.data;
    if (dist->kind == EPOP_DIST_BLOCK)
        return 0;
    if (epop_redist_between(window, blocks, after, entry->type, entry->local) == EPOP_OK)
        return 0;
    return error_set(error, ERROR_FAILED, "described '%s' could not be dealt out", entry->name);
}

struct place {
    epop_dist_t dist;
    int rank, size;
};

static int64_t array_index(const void *context, int64_t local)
{
    const struct place *place = context;
    return epop_dist_global(place->dist, place->rank, place->size, local);
}

static void array_sum(const struct described *entry, int rank, int size, int64_t *count, uint64_t *sum)
{
    struct place place = {*array_dist(entry), rank, size};
    epop_dist_t before;
    array_dists(entry, &before, &place.dist);
    int64_t here = rank < 0 ? 0 : array_count(entry, rank, size);
    *count += here;
    describe_mix_elements(entry->type, *entry->local, here, array_index, &place, sum);
}

static int64_t array_bytes(const struct described *entry, int rank, int size)
{
    return describe_bytes(entry->type, array_count(entry, rank, size));
}

/* ---- Ahead of the window ------------------------------------------------------------------------ */

static bool array_goes(const struct described *entry)
{
    return describe_dist_goes(entry, *array_dist(entry));
}

static int array_step(const struct described *entry, const epop_window_t *window, struct describe_route *route,
                      enum route_round round, struct error *error)
{
    epop_dist_t before, after;
    (void)round, (void)error;
    if (!route->planned && describe_dists_ahead(entry, *array_dist(entry), &before, &after))
        route_plan_dists(route, window, before, after);
    return 0;
}

static const struct route_kind array_route = {.goes = array_goes, .step = array_step};

const struct kind kind_array = {.word = "array",
                                .terms = array_terms,
                                .move = array_move,
                                .allocate = array_allocate,
                                .save = array_save,
                                .one_slab = true,
                                .load = array_load,
                                .sum = array_sum,
                                .bytes = array_bytes,
                                .release = describe_release_part,
                                .route = &array_route};
