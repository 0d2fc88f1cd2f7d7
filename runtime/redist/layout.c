/* The arithmetic of blocks. */
#include "runtime/redist/layout.h"

/* ---- The grid ------------------------------------------------------------------- */

/*
 * Splits `size` into `count` factors, falling, none above `most`, the largest as small as can be, then the next. 0, or
 * -1: there are none.
 */
static int split(int size, int count, int most, int *factors)
{
    int root = 1;
    factors[0] = size;
    if (count == 1)
        return size <= most ? 0 : -1;
    while (root + 1 <= size / (root + 1))
        root++;
    for (int i = 1; i <= 2 * root; i++) { /* divisors rise up to the root, and then with those that fall */
        int divisor = i <= root ? i : 2 * root + 1 - i;
        factors[0] = i <= root ? divisor : size / divisor;
        if (size % divisor == 0 && factors[0] <= most && !split(size / factors[0], count - 1, factors[0], factors + 1))
            return 0;
    }
    return -1;
}

int epop_blocks_grid(const epop_blocks_t *blocks, int size, int *grid)
{
    int factors[EPOP_BLOCKS_DIMS], free_dims = 0, left = size;
    if (!blocks || blocks->dims < 1 || blocks->dims > EPOP_BLOCKS_DIMS || size < 1)
        return EPOP_ERR_ARGUMENT;
    for (int i = 0; i < blocks->dims; i++) {
        if (blocks->grid[i] < 0 || (blocks->grid[i] > 0 && left < blocks->grid[i]))
            return EPOP_ERR_ARGUMENT;
        free_dims += !blocks->grid[i];
        left = blocks->grid[i] ? left / blocks->grid[i] : left;
    }
    if (free_dims)
        split(left, free_dims, left, factors);
    for (int i = 0, next = 0; i < blocks->dims; i++)
        grid[i] = blocks->grid[i] ? blocks->grid[i] : factors[next++];
    return EPOP_OK;
}

bool redist_layout_place(const struct redist_layout *layout, int rank, int place[EPOP_BLOCKS_DIMS])
{
    int left = rank;
    for (int i = layout->blocks.dims - 1; i >= 0; i--) {
        place[i] = rank < 0 ? -1 : left % layout->grid[i];
        left /= layout->grid[i];
    }
    return rank >= 0 && !left;
}

int redist_layout_holders(const struct redist_layout *layout, int i)
{
    return layout->blocks.count[i] < layout->grid[i] ? (int)layout->blocks.count[i] : layout->grid[i];
}

/* ---- Checks ----------------------------------------------------------------------- */

/* Layers of the boundary on one side. */
static int64_t margin(const epop_blocks_t *blocks, int i)
{
    return blocks->periodic[i] ? 0 : blocks->ghosts[i];
}

redist_fault redist_blocks_valid(const epop_blocks_t *blocks)
{
    if (!blocks || blocks->dims < 1 || blocks->dims > EPOP_BLOCKS_DIMS)
        return REDIST_BAD_BLOCKS;
    for (int i = 0; i < blocks->dims; i++)
        if (blocks->count[i] < 0 || blocks->ghosts[i] < 0 || blocks->grid[i] < 0)
            return REDIST_BAD_BLOCKS;
    return REDIST_FINE;
}

/* The cells; and the largest of local arrays, were it all of one rank, is a number. */
static redist_fault count_cells(struct redist_layout *layout)
{
    const epop_blocks_t *blocks = &layout->blocks;
    int64_t local = 1;
    bool none = false;
    layout->total = 1;
    for (int i = 0; i < blocks->dims; i++) {
        int64_t width;
        if (__builtin_add_overflow(blocks->count[i], 2 * (int64_t)blocks->ghosts[i], &width) ||
            __builtin_mul_overflow(local, width > 0 ? width : 1, &local))
            return REDIST_TOO_LARGE;
        layout->extent[i] = blocks->count[i] > 0 ? blocks->count[i] + 2 * margin(blocks, i) : 0;
        none = none || !blocks->count[i];
        layout->total *= layout->extent[i];
    }
    return REDIST_FINE;
}

redist_fault redist_layout_of_blocks(struct redist_layout *layout, const epop_blocks_t *blocks, int size)
{
    *layout = (struct redist_layout){.size = size};
    redist_fault fault = redist_blocks_valid(blocks);
    if (fault != REDIST_FINE)
        return fault;
    layout->blocks = *blocks;
    if (epop_blocks_grid(blocks, size, layout->grid) != EPOP_OK)
        return REDIST_BAD_GRID;
    return count_cells(layout);
}

void redist_layout_plain(struct redist_layout *layout, const struct redist_layout *of, int size)
{
    *layout = *of;
    layout->plain = true;
    layout->size = size;
}

redist_fault redist_layout_ghosts(const struct redist_layout *layout)
{
    const epop_blocks_t *blocks = &layout->blocks;
    for (int i = 0; i < blocks->dims; i++) {
        int64_t least = blocks->count[i] / layout->grid[i];
        bool neighbours = redist_layout_holders(layout, i) > 1 || blocks->periodic[i];
        if (layout->total > 0 && neighbours && blocks->ghosts[i] > (least > 0 ? least : 1))
            return REDIST_THICK_GHOSTS;
    }
    return REDIST_FINE;
}

static redist_fault compare(const epop_blocks_t *old, const epop_blocks_t *new)
{
    if (old->dims != new->dims)
        return REDIST_BLOCKS_DIFFER;
    for (int i = 0; i < old->dims; i++)
        if (old->count[i] != new->count[i] || margin(old, i) != margin(new, i))
            return REDIST_BLOCKS_DIFFER;
    return REDIST_FINE;
}

redist_fault redist_layouts_of(struct redist_layout layouts[2], const epop_window_t *window,
                               const epop_blocks_t *before, const epop_blocks_t *after)
{
    redist_fault fault = redist_layout_of_blocks(&layouts[0], before, window->old_size);
    if (fault == REDIST_FINE)
        fault = redist_layout_of_blocks(&layouts[1], after, window->new_size);
    if (fault == REDIST_FINE)
        fault = compare(before, after);
    return fault == REDIST_FINE ? redist_layout_ghosts(&layouts[1]) : fault;
}

void redist_terms_of_blocks(redist_terms *terms, const epop_blocks_t *blocks)
{
    int dims = blocks && blocks->dims >= 0 && blocks->dims <= EPOP_BLOCKS_DIMS ? blocks->dims : 0;
    redist_term(terms, "the number of dimensions", blocks ? blocks->dims : -1);
    for (int i = 0; i < EPOP_BLOCKS_DIMS; i++) { /* as many on every rank, whatever it says */
        redist_term(terms, "the count of a dimension", i < dims ? blocks->count[i] : 0);
        redist_term(terms, "the number of ghost layers of a dimension", i < dims ? blocks->ghosts[i] : 0);
        redist_term(terms, "the periodicity of a dimension", i < dims && blocks->periodic[i]);
        redist_term(terms, "the grid of a dimension", i < dims ? blocks->grid[i] : 0);
    }
}

/* ---- Parts ---------------------------------------------------------------------------- */

static struct redist_part part_of_plain(const struct redist_layout *layout, int rank)
{
    struct redist_part part = {.from = 0};
    epop_dist_t dist = epop_dist_block(layout->total);
    int64_t stride = 1;
    if (rank < 0)
        return part;
    for (int i = layout->blocks.dims - 1; i >= 0; i--) {
        part.count[i] = layout->extent[i];
        part.stride[i] = stride;
        stride *= layout->extent[i];
    }
    part.elements = epop_dist_local_count(dist, rank, layout->size);
    part.from = part.elements > 0 ? epop_dist_global(dist, rank, layout->size, 0) : 0;
    part.to = part.from + part.elements;
    part.at = -part.from;
    return part;
}

/* One dimension of a part, at `place`. False: without an index. */
static bool side_of_part(struct redist_part *part, const struct redist_layout *layout, int i, int place)
{
    const epop_blocks_t *blocks = &layout->blocks;
    epop_dist_t dist = epop_dist_block(blocks->count[i]);
    int64_t owned = epop_dist_local_count(dist, place, layout->grid[i]), edge = margin(blocks, i);
    if (!owned)
        return false;
    int64_t first = epop_dist_global(dist, place, layout->grid[i], 0);
    bool begins = first == 0, ends = first + owned == blocks->count[i];
    part->first[i] = begins ? 0 : first + edge;
    part->count[i] = owned + (begins ? edge : 0) + (ends ? edge : 0);
    part->stride[i] = part->elements;
    part->at -= (first + edge - blocks->ghosts[i]) * part->elements;
    part->elements *= owned + 2 * blocks->ghosts[i];
    return true;
}

struct redist_part redist_layout_part(const struct redist_layout *layout, int rank)
{
    struct redist_part part = {.to = layout->total, .elements = 1};
    int place[EPOP_BLOCKS_DIMS];
    if (layout->plain)
        return part_of_plain(layout, rank);
    if (!redist_layout_place(layout, rank, place))
        return (struct redist_part){.to = 0};
    for (int i = layout->blocks.dims - 1; i >= 0; i--)
        if (!side_of_part(&part, layout, i, place[i]))
            return (struct redist_part){.to = 0};
    return part;
}

int64_t redist_layout_cells(const struct redist_layout *layout, int rank)
{
    struct redist_part part = redist_layout_part(layout, rank);
    int64_t cells = part.elements > 0;
    if (layout->plain)
        return part.elements;
    for (int i = 0; i < layout->blocks.dims; i++)
        cells *= part.count[i];
    return cells;
}

bool redist_layout_consecutive(const struct redist_layout *layout)
{
    for (int i = 1; i < layout->blocks.dims; i++)
        if (redist_layout_holders(layout, i) > 1 || margin(&layout->blocks, i) != layout->blocks.ghosts[i])
            return false;
    return true;
}

/* ---- For programs ------------------------------------------------------------------------ */

int epop_blocks_local(const epop_blocks_t *blocks, int rank, int size, int64_t *first, int64_t *count)
{
    struct redist_layout layout;
    int place[EPOP_BLOCKS_DIMS];
    redist_fault fault = redist_layout_of_blocks(&layout, blocks, size);
    int dims = blocks && blocks->dims <= EPOP_BLOCKS_DIMS ? blocks->dims : 0;
    bool owns = fault == REDIST_FINE && layout.total > 0 && redist_layout_place(&layout, rank, place);
    for (int i = 0; owns && i < dims; i++)
        owns = place[i] < redist_layout_holders(&layout, i);
    for (int i = 0; i < dims; i++) {
        epop_dist_t dist = epop_dist_block(blocks->count[i]);
        first[i] = owns ? epop_dist_global(dist, place[i], layout.grid[i], 0) : 0;
        count[i] = owns ? epop_dist_local_count(dist, place[i], layout.grid[i]) : 0;
    }
    return fault == REDIST_FINE ? EPOP_OK : EPOP_ERR_ARGUMENT;
}

int64_t epop_blocks_elements(const epop_blocks_t *blocks, int rank, int size)
{
    struct redist_layout layout;
    if (redist_layout_of_blocks(&layout, blocks, size) != REDIST_FINE)
        return -1;
    return redist_layout_part(&layout, rank).elements;
}
