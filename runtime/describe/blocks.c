/*
 * Blocks of N dimensions with ghosts. In a file they have N dimensions, with the boundary where a dimension is not
 * periodic, and without the ghosts of neighbours.
 */
#include "runtime/redist/blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/describe/collective.h"
#include "runtime/describe/describe.h"
#include "runtime/redist/layout.h"
#include "runtime/redist/plan.h"

static const epop_blocks_t *blocks_of(const struct described *entry)
{
    return entry->layout;
}

/* On `size` ranks. Whether they have such a grid is told by what moves. */
static redist_fault blocks_layout(const struct described *entry, int size, struct redist_layout *layout)
{
    return redist_layout_of_blocks(layout, blocks_of(entry), size);
}

static int64_t blocks_elements(const struct described *entry, int rank, int size)
{
    int64_t elements = epop_blocks_elements(blocks_of(entry), rank, size);
    return elements > 0 ? elements : 0;
}

void epop_describe_blocks(epop_description_t *d, const char *name, void *local, MPI_Datatype type,
                          const epop_blocks_t *blocks, unsigned flags)
{
    const epop_blocks_t none = {.dims = 0};
    redist_element element;
    if (!describe_add(d, &kind_blocks, name, local, type, flags, blocks ? blocks : &none, sizeof *blocks))
        return;
    if (redist_blocks_valid(blocks) != REDIST_FINE)
        describe_refuse(d, name, "its blocks are NULL, or without 1 to 6 dimensions, or something of them is negative");
    else if (redist_element_of(type, &element))
        describe_refuse(d, name, "its datatype has no extent, or data in front of its address");
}

static void blocks_terms(const struct described *entry, redist_terms *terms)
{
    redist_element element;
    redist_terms_of_blocks(terms, blocks_of(entry));
    if (!redist_element_of(entry->type, &element))
        redist_terms_of_element(terms, &element);
}

/* What messages call it. */
struct title {
    char words[300];
};

static struct title title_of(const struct described *entry)
{
    struct title title;
    snprintf(title.words, sizeof title.words, "described '%.200s'", entry->name);
    return title;
}

static int blocks_move(struct described *entry, const epop_window_t *window)
{
    const epop_blocks_t *blocks = blocks_of(entry);
    return redist_blocks(window, blocks, blocks, entry->type, entry->local, title_of(entry).words);
}

static int blocks_allocate(struct described *entry, int rank, int size)
{
    describe_release_part(entry);
    return describe_room(entry->type, blocks_elements(entry, rank, size), entry->local) ? EPOP_OK : EPOP_ERR_MEMORY;
}

/* ---- Files -------------------------------------------------------------------------------------- */

/* The slab of this rank, without its data, and both layouts: blocks, and plain. */
static redist_fault blocks_slab(const struct described *entry, const epop_window_t *window,
                                struct redist_layout layouts[2], struct slab *slab)
{
    redist_fault fault = blocks_layout(entry, window->new_size, &layouts[0]);
    *slab = (struct slab){.type = entry->type, .dims = blocks_of(entry)->dims};
    strcpy(slab->name, entry->name);
    if (fault != REDIST_FINE)
        return fault;
    redist_layout_plain(&layouts[1], &layouts[0], window->new_size);
    memcpy(slab->extent, layouts[0].extent, (size_t)slab->dims * sizeof *slab->extent);
    struct redist_part part = redist_layout_part(&layouts[1], window->new_rank);
    slab->first = part.from;
    slab->count = part.elements;
    return REDIST_FINE;
}

/* Blocks that are cut along the first dimension alone are in the file's order as they lie. */
static void borrow_part(const struct described *entry, const struct redist_layout *layout, int rank,
                        const redist_element *element, struct slab *slab)
{
    struct redist_boxes cells = redist_layout_numbered(layout, rank);
    slab->count = cells.left;
    slab->first = cells.left > 0 ? cells.at[REDIST_AFTER] : 0;
    slab->data = cells.left > 0 ? (char *)*entry->local + cells.at[REDIST_BEFORE] * element->extent : NULL;
}

static int blocks_save(struct described *entry, const epop_window_t *window, struct slab *slabs, int most,
                       struct error *error)
{
    struct redist_layout layouts[2];
    redist_element element;
    if (most < 1)
        return error_set(error, ERROR_FAILED, "described '%s': no room to list it", entry->name);
    redist_fault fault = blocks_slab(entry, window, layouts, slabs);
    redist_element_of(entry->type, &element);
    if (fault == REDIST_FINE && redist_layout_consecutive(&layouts[0])) {
        borrow_part(entry, &layouts[0], window->new_rank, &element, slabs);
        return 1;
    }
    if (fault == REDIST_FINE && !describe_room(entry->type, slabs->count, &slabs->data))
        fault = REDIST_NO_MEMORY;
    if (redist_layout_move(window, layouts, &element, *entry->local, slabs->data, fault, title_of(entry).words) ==
        EPOP_OK) {
        slabs->owned = true;
        return 1;
    }
    free(slabs->data);
    return error_set(error, ERROR_FAILED, "described '%s' could not be put into the order of files", entry->name);
}

/* Of a saved array, or one that is described, as "10 x 20". */
static struct title extents_text(const struct slab *slab)
{
    struct title text = {""};
    size_t length = 0;
    for (int i = 0; i < slab->dims && i < SLAB_DIMS && length < sizeof text.words; i++)
        length += (size_t)snprintf(text.words + length, sizeof text.words - length, "%s%lld", i ? " x " : "",
                                   (long long)slab->extent[i]);
    return text;
}

/* Into the plain part, and from there into the blocks. */
static int read_blocks(struct described *entry, const epop_window_t *window, const struct slab_reader *reader,
                       const struct redist_layout layouts[2], struct slab *slab, struct error *error)
{
    const struct redist_layout from_file[2] = {layouts[1], layouts[0]};
    redist_element element;
    redist_fault fault = redist_layout_ghosts(&layouts[0]);
    if (describe_read_part(window, reader, slab, error))
        return -1;
    if (fault == REDIST_FINE && blocks_allocate(entry, window->new_rank, window->new_size) != EPOP_OK)
        fault = REDIST_NO_MEMORY;
    redist_element_of(entry->type, &element);
    if (redist_layout_move(window, from_file, &element, slab->data, *entry->local, fault, title_of(entry).words) ==
        EPOP_OK)
        return 0;
    return error_set(error, ERROR_FAILED, "described '%s' could not be dealt out", entry->name);
}

static int blocks_load(struct described *entry, const epop_window_t *window, const struct slab_reader *reader,
                       struct error *error)
{
    struct redist_layout layouts[2];
    struct slab slab, found;
    redist_fault fault = blocks_slab(entry, window, layouts, &slab);
    found = slab;
    if (fault != REDIST_FINE)
        return error_set(error, ERROR_FAILED, "described '%s': its grid has more places than the %d ranks", entry->name,
                         window->new_size);
    if (reader->shape(reader->context, &found, error))
        return -1;
    if (found.dims != slab.dims || memcmp(found.extent, slab.extent, (size_t)slab.dims * sizeof *slab.extent) != 0)
        return error_set(error, ERROR_FAILED, "described '%s': saved with %s elements, described with %s", entry->name,
                         extents_text(&found).words, extents_text(&slab).words);
    int result = read_blocks(entry, window, reader, layouts, &slab, error);
    free(slab.data);
    return result;
}

/* ---- Sums --------------------------------------------------------------------------------------- */

static int64_t consecutive_index(const void *first, int64_t local)
{
    return *(const int64_t *)first + local;
}

static void blocks_sum(const struct described *entry, int rank, int size, int64_t *count, uint64_t *sum)
{
    struct redist_layout layout;
    redist_element element;
    redist_piece piece;
    if (blocks_layout(entry, size, &layout) != REDIST_FINE || redist_element_of(entry->type, &element))
        return;
    struct redist_boxes cells = redist_layout_numbered(&layout, rank);
    *count += cells.left;
    while (redist_boxes_take(&cells, cells.left, &piece)) {
        bool together = piece.on[REDIST_BEFORE].unit == 1 && piece.on[REDIST_AFTER].unit == 1;
        for (int64_t i = 0; i < (together ? piece.times : piece.times * piece.length); i++) {
            int64_t time = together ? i : i / piece.length, at = together ? 0 : i % piece.length;
            int64_t number = redist_place_of(&piece, REDIST_AFTER, time, at);
            const char *first =
                (const char *)*entry->local + redist_place_of(&piece, REDIST_BEFORE, time, at) * element.extent;
            describe_mix_elements(entry->type, first, together ? piece.length : 1, consecutive_index, &number, sum);
        }
    }
}

static int64_t blocks_bytes(const struct described *entry, int rank, int size)
{
    return describe_bytes(entry->type, blocks_elements(entry, rank, size));
}

const struct kind kind_blocks = {.word = "blocks",
                                 .terms = blocks_terms,
                                 .move = blocks_move,
                                 .allocate = blocks_allocate,
                                 .save = blocks_save,
                                 .one_slab = true,
                                 .load = blocks_load,
                                 .sum = blocks_sum,
                                 .bytes = blocks_bytes,
                                 .release = describe_release_part};
