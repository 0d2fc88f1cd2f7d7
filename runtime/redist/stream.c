/* Streams of elements between two ranks. */
#include "runtime/redist/stream.h"

static int64_t start_of(const redist_rows *rows, redist_side side, int64_t row)
{
    return row < rows->count[side] ? rows->starts[side][row] : rows->total[side];
}

/* Values in the present rows, seen from a side that is known. */
static int64_t row_values(const redist_stream *stream)
{
    redist_side side = stream->known[REDIST_BEFORE] ? REDIST_BEFORE : REDIST_AFTER;
    int64_t first = stream->row.on[side].at + stream->row_time * stream->row.on[side].step;
    return start_of(stream->rows, side, first + stream->row.length) - start_of(stream->rows, side, first);
}

/* Goes on to the next rows that have values. 0: there are none. */
static int next_rows(redist_stream *stream)
{
    do {
        if (++stream->row_time >= stream->row.times) {
            if (!redist_cursor_take(&stream->cursor, stream->cursor.total, &stream->row))
                return 0;
            stream->row_time = 0;
        }
    } while (row_values(stream) == 0);
    stream->at = 0;
    return 1;
}

static int64_t count_values(redist_stream stream)
{
    int64_t count = 0;
    while (next_rows(&stream))
        count += row_values(&stream);
    return count;
}

/* ---- By blocks ----------------------------------------------------------- */

static redist_stream start_boxes(const redist_plan *plan, int from, int to)
{
    redist_stream stream = {.boxes = redist_plan_boxes(plan, from, to)};
    stream.left = stream.boxes.left;
    stream.one_run = stream.left > 0 && redist_boxes_is_one_run(&stream.boxes);
    return stream;
}

/* ---- By lists ------------------------------------------------------------ */

static int64_t listed_at(const redist_lists *lists, redist_side side, int64_t index)
{
    return lists->at[side] ? lists->at[side][index] : index;
}

static redist_stream start_lists(const redist_plan *plan, int from, int to)
{
    const redist_lists *lists = plan->lists;
    redist_stream stream = {.lists = lists, .known = {from == plan->me, to == plan->me}};
    const int others[] = {to, from};
    for (redist_side side = REDIST_BEFORE; side <= REDIST_AFTER; side++) {
        if (!stream.known[side])
            continue;
        const int64_t *starts = lists->starts[side] + others[side];
        stream.listed[side] = starts[0];
        stream.left = starts[1] - starts[0];
    }
    return stream;
}

/* How many of the next `most` elements lie one after the other on one side. */
static int64_t run_listed(const redist_stream *stream, redist_side side, int64_t most)
{
    const int64_t *at = stream->lists->at[side];
    int64_t length = 1;
    if (!at)
        return most;
    at += stream->listed[side];
    while (length < most && at[length] == at[0] + length)
        length++;
    return length;
}

static void take_listed(redist_stream *stream, int64_t most, redist_piece *piece)
{
    int64_t length = most < stream->left ? most : stream->left;
    *piece = (redist_piece){.times = 1};
    for (redist_side side = REDIST_BEFORE; side <= REDIST_AFTER; side++) {
        piece->on[side].unit = 1;
        if (!stream->known[side])
            continue;
        piece->on[side].at = listed_at(stream->lists, side, stream->listed[side]);
        length = run_listed(stream, side, length);
    }
    piece->length = length;
    stream->listed[REDIST_BEFORE] += length;
    stream->listed[REDIST_AFTER] += length;
}

/* ---- All of them ----------------------------------------------------------- */

redist_stream redist_stream_start(const redist_plan *plan, const redist_rows *rows, int from, int to)
{
    if (plan->lists)
        return start_lists(plan, from, to);
    if (plan->layouts)
        return start_boxes(plan, from, to);
    redist_stream stream = {.cursor = redist_plan_cursor(plan, from, to), .rows = rows};
    stream.left = stream.cursor.left;
    if (stream.left == 0)
        return stream;
    stream.one_run = redist_cursor_is_one_run(&stream.cursor);
    if (rows) {
        stream.known[REDIST_BEFORE] = from == plan->me;
        stream.known[REDIST_AFTER] = to == plan->me;
        stream.left = count_values(stream);
        next_rows(&stream);
    }
    return stream;
}

/* Part of the present rows, which lie one after the other. */
static void take_values(redist_stream *stream, int64_t most, redist_piece *piece)
{
    int64_t left = row_values(stream) - stream->at;
    piece->length = left < most ? left : most;
    piece->times = 1;
    for (redist_side side = REDIST_BEFORE; side <= REDIST_AFTER; side++) {
        int64_t row = stream->row.on[side].at + stream->row_time * stream->row.on[side].step;
        piece->on[side] = (redist_place){.unit = 1};
        if (stream->known[side])
            piece->on[side].at = start_of(stream->rows, side, row) + stream->at;
    }
    stream->at += piece->length;
    if (piece->length == left)
        next_rows(stream);
}

int redist_stream_take(redist_stream *stream, int64_t most, redist_piece *piece)
{
    if (stream->left == 0)
        return 0;
    if (stream->lists)
        take_listed(stream, most, piece);
    else if (stream->rows)
        take_values(stream, most, piece);
    else if (stream->boxes.dims > 0)
        redist_boxes_take(&stream->boxes, most, piece);
    else
        redist_cursor_take(&stream->cursor, most, piece);
    stream->left -= piece->length * piece->times;
    return 1;
}

int64_t redist_stream_skip(redist_stream *stream, int64_t count, redist_side side)
{
    int64_t first = -1, next = -1;
    int contiguous = 1;
    redist_piece piece;
    while (count > 0 && redist_stream_take(stream, count, &piece)) {
        redist_place place = piece.on[side];
        if (first < 0)
            first = next = place.at;
        contiguous = contiguous && place.at == next && (place.unit == 1 || piece.length == 1) &&
                     (piece.times == 1 || place.step == piece.length);
        next = place.at + piece.length * piece.times;
        count -= piece.length * piece.times;
    }
    return contiguous ? first : -1;
}
