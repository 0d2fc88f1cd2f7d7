/* The walk over a box, line by line, or many equal lines at once. */
#include "runtime/redist/boxes.h"

static int64_t largest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smallest(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- The cells of both ---------------------------------------------------------- */

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

/* Leaves out dimensions of one cell, and joins those that lie behind each other on both sides. */
static void join(struct redist_boxes *boxes)
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

static void go_to(struct redist_boxes *boxes, int64_t cell)
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
    join(&boxes);
    go_to(&boxes, skipped);
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
        join(&boxes);
    return boxes;
}

/* ---- The walk ---------------------------------------------------------------------- */

static redist_place place(const struct redist_boxes *boxes, redist_side side)
{
    int last = boxes->dims - 1;
    const int64_t *stride = boxes->stride[side];
    redist_place place = {.at = boxes->at[side], .unit = stride[last], .step = last > 0 ? stride[last - 1] : 0};
    for (int i = 0; i <= last; i++)
        place.at += boxes->index[i] * stride[i];
    return place;
}

/* Goes on by `count` in a dimension, not beyond its end. */
static void go_on(struct redist_boxes *boxes, int i, int64_t count)
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
    piece->on[REDIST_BEFORE] = place(boxes, REDIST_BEFORE);
    piece->on[REDIST_AFTER] = place(boxes, REDIST_AFTER);
    int64_t length = boxes->length[last];
    if (last > 0 && boxes->index[last] == 0 && most >= length) {
        piece->length = length;
        piece->times = smallest(most / length, boxes->length[last - 1] - boxes->index[last - 1]);
        go_on(boxes, last - 1, piece->times);
    } else {
        piece->length = smallest(most, length - boxes->index[last]);
        piece->times = 1;
        go_on(boxes, last, piece->length);
    }
    boxes->left -= piece->length * piece->times;
    return 1;
}

int redist_boxes_is_one_run(const struct redist_boxes *boxes)
{
    return boxes->dims == 1 && boxes->stride[REDIST_BEFORE][0] == 1 && boxes->stride[REDIST_AFTER][0] == 1;
}
