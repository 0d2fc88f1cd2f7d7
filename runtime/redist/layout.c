/* Blocks of cells on a grid of ranks, and walks over the cells that two ranks have in common. */
#include "runtime/redist/layout.h"

/* ---- The grid ------------------------------------------------------------------- */

/*
 * Splits `size` into `count` factors, falling, none above `most`, the largest as small as can be, then the next. 0, or
 * -1: there are none.
 */
static int split_grid(int size, int count, int most, int *factors)
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
        if (size % divisor == 0 && factors[0] <= most &&
            !split_grid(size / factors[0], count - 1, factors[0], factors + 1))
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
        split_grid(left, free_dims, left, factors);
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
static int64_t boundary_layers(const epop_blocks_t *blocks, int i)
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
        layout->extent[i] = blocks->count[i] > 0 ? blocks->count[i] + 2 * boundary_layers(blocks, i) : 0;
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

static redist_fault compare_blocks(const epop_blocks_t *old, const epop_blocks_t *new)
{
    if (old->dims != new->dims)
        return REDIST_BLOCKS_DIFFER;
    for (int i = 0; i < old->dims; i++)
        if (old->count[i] != new->count[i] || boundary_layers(old, i) != boundary_layers(new, i))
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
        fault = compare_blocks(before, after);
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
    int64_t owned = epop_dist_local_count(dist, place, layout->grid[i]), edge = boundary_layers(blocks, i);
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
        if (redist_layout_holders(layout, i) > 1 || boundary_layers(&layout->blocks, i) != layout->blocks.ghosts[i])
            return false;
    return true;
}

/* ---- What programs ask -------------------------------------------------------------------------- */

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

/* ---- Walks: the cells of both ranks ------------------------------------------------------------- */

static int64_t largest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smallest(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* How many cells of a box have a row-major number below `limit`. */
static int64_t cells_below(int dims, const int64_t *extent, const int64_t *first, const int64_t *count, int64_t limit)
{
    int64_t cells = 1, below = 0, weight = 1;
    for (int i = 0; i < dims; i++) {
        cells *= count[i];
        weight *= extent[i];
    }
    if (limit <= 0 || limit >= weight)
        return limit <= 0 ? 0 : cells;
    for (int i = 0; i < dims; i++) {
        weight /= extent[i];
        cells /= count[i];
        int64_t at = limit / weight - first[i];
        limit %= weight;
        below += largest(0, smallest(at, count[i])) * cells;
        if (at < 0 || at >= count[i])
            return below;
    }
    return below;
}

/* Leaves out dimensions of one cell, and joins those that lie one after the other on both sides. */
static void join_dimensions(struct redist_boxes *boxes)
{
    int joined = 0;
    for (int i = boxes->dims - 1; i >= 0; i--) {
        int64_t length = boxes->length[i], before = boxes->stride[REDIST_BEFORE][i];
        int64_t after = boxes->stride[REDIST_AFTER][i];
        int last = EPOP_BLOCKS_DIMS - joined; /* the slowest of those that are done */
        if (length == 1)
            continue;
        if (joined && before == boxes->length[last] * boxes->stride[REDIST_BEFORE][last] &&
            after == boxes->length[last] * boxes->stride[REDIST_AFTER][last]) {
            boxes->length[last] *= length;
            continue;
        }
        joined++;
        boxes->length[--last] = length;
        boxes->stride[REDIST_BEFORE][last] = before;
        boxes->stride[REDIST_AFTER][last] = after;
    }
    if (!joined) {
        joined = 1;
        boxes->length[EPOP_BLOCKS_DIMS - 1] = 1;
        boxes->stride[REDIST_BEFORE][EPOP_BLOCKS_DIMS - 1] = boxes->stride[REDIST_AFTER][EPOP_BLOCKS_DIMS - 1] = 1;
    }
    boxes->dims = joined;
    for (int i = 0; i < joined; i++) {
        int from = EPOP_BLOCKS_DIMS - joined + i;
        boxes->length[i] = boxes->length[from];
        boxes->stride[REDIST_BEFORE][i] = boxes->stride[REDIST_BEFORE][from];
        boxes->stride[REDIST_AFTER][i] = boxes->stride[REDIST_AFTER][from];
    }
}

static void boxes_go_to(struct redist_boxes *boxes, int64_t cell)
{
    for (int i = boxes->dims - 1; i >= 0; i--) {
        boxes->index[i] = i > 0 ? cell % boxes->length[i] : cell;
        cell /= boxes->length[i];
    }
}

struct redist_boxes redist_boxes_start(int dims, const int64_t *extent, const struct redist_part *before,
                                       const struct redist_part *after)
{
    const struct redist_part *parts[] = {before, after};
    struct redist_boxes boxes = {.dims = dims};
    int64_t first[EPOP_BLOCKS_DIMS];
    if (before->elements == 0 || after->elements == 0)
        return boxes;
    for (redist_side side = REDIST_BEFORE; side <= REDIST_AFTER; side++)
        boxes.at[side] = parts[side]->at;
    for (int i = 0; i < dims; i++) {
        int64_t end = smallest(before->first[i] + before->count[i], after->first[i] + after->count[i]);
        first[i] = largest(before->first[i], after->first[i]);
        boxes.length[i] = end - first[i];
        if (boxes.length[i] <= 0)
            return boxes;
        for (redist_side side = REDIST_BEFORE; side <= REDIST_AFTER; side++) {
            boxes.stride[side][i] = parts[side]->stride[i];
            boxes.at[side] += first[i] * parts[side]->stride[i];
        }
    }
    int64_t skipped = cells_below(dims, extent, first, boxes.length, largest(before->from, after->from));
    int64_t end = cells_below(dims, extent, first, boxes.length, smallest(before->to, after->to));
    boxes.left = largest(0, end - skipped);
    join_dimensions(&boxes);
    boxes_go_to(&boxes, skipped);
    return boxes;
}

struct redist_boxes redist_layout_numbered(const struct redist_layout *layout, int rank)
{
    struct redist_layout plain;
    redist_layout_plain(&plain, layout, 1);
    struct redist_part mine = redist_layout_part(layout, rank), all = redist_layout_part(&plain, 0);
    return redist_boxes_start(layout->blocks.dims, layout->extent, &mine, &all);
}

struct redist_boxes redist_boxes_of_array(int dims, int64_t at, const int64_t *stride, const int64_t *count)
{
    struct redist_boxes boxes = {.dims = dims, .left = 1, .at = {at, at}};
    for (int i = 0; i < dims; i++) {
        boxes.left *= count[i];
        boxes.length[i] = count[i];
        boxes.stride[REDIST_BEFORE][i] = boxes.stride[REDIST_AFTER][i] = stride[i];
    }
    if (boxes.left > 0)
        join_dimensions(&boxes);
    return boxes;
}

/* ---- Walks: from piece to piece ----------------------------------------------------------------- */

static redist_place boxes_place(const struct redist_boxes *boxes, redist_side side)
{
    int last = boxes->dims - 1;
    const int64_t *stride = boxes->stride[side];
    redist_place place = {.at = boxes->at[side], .unit = stride[last], .step = last > 0 ? stride[last - 1] : 0};
    for (int i = 0; i <= last; i++)
        place.at += boxes->index[i] * stride[i];
    return place;
}

/* Goes on by `count` in a dimension, not beyond its end. */
static void boxes_go_on(struct redist_boxes *boxes, int i, int64_t count)
{
    boxes->index[i] += count;
    for (; i > 0 && boxes->index[i] == boxes->length[i]; i--) {
        boxes->index[i] = 0;
        boxes->index[i - 1]++;
    }
}

int redist_boxes_take(struct redist_boxes *boxes, int64_t most, redist_piece *piece)
{
    int last = boxes->dims - 1;
    if (boxes->left == 0)
        return 0;
    most = smallest(most, boxes->left);
    piece->on[REDIST_BEFORE] = boxes_place(boxes, REDIST_BEFORE);
    piece->on[REDIST_AFTER] = boxes_place(boxes, REDIST_AFTER);
    int64_t length = boxes->length[last];
    if (last > 0 && boxes->index[last] == 0 && most >= length) {
        piece->length = length;
        piece->times = smallest(most / length, boxes->length[last - 1] - boxes->index[last - 1]);
        boxes_go_on(boxes, last - 1, piece->times);
    } else {
        piece->length = smallest(most, length - boxes->index[last]);
        piece->times = 1;
        boxes_go_on(boxes, last, piece->length);
    }
    boxes->left -= piece->length * piece->times;
    return 1;
}

int redist_boxes_is_one_run(const struct redist_boxes *boxes)
{
    return boxes->dims == 1 && boxes->stride[REDIST_BEFORE][0] == 1 && boxes->stride[REDIST_AFTER][0] == 1;
}
