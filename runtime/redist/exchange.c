/*
 * Two lanes, one for sending and one for receiving. Step s of the sending lane of rank r goes to r + s, of its
 * receiving lane comes from r - s. The steps are taken in waves of a few; within a wave a lane cuts the stream of each
 * step into chunks and handles the first chunk of every step, then the second, and so on, a few of them under way at a
 * time. All streams of a wave, and the copy of what stays, thus walk over the blocks side by side, while they are in
 * the cache. Elements that lie together are sent or received where they are, others through a slot of staging memory;
 * sender and receiver decide that on their own, as only the chunks have to be the same on both.
 *
 * No deadlock: of all chunks that are not done take one that is lowest by (wave, number in its stream, step). Both its
 * sender and its receiver handle their chunks in that order, so that everything before it is done on both: both
 * have a free slot, and post it.
 *
 * Nor where a rank sleeps for one chunk alone while others are done and their slots stay as they are. It is the lowest
 * that it has under way, and all slots are in use by then. If it is not done, its other rank has not posted it, and
 * sleeps for one that is lower still: one of those that fill the slots of that lane. That ends at the lowest of all.
 */
#include "runtime/redist/exchange.h"

#include <limits.h>

#include "runtime/backends/device.h"
#include "runtime/redist/traffic.h"
#include "runtime/redist/wait.h"

/* ---- Streams: of rows --------------------------------------------------------------------------- */

static int64_t row_start(const redist_rows *rows, redist_side side, int64_t row)
{
    return row < rows->count[side] ? rows->starts[side][row] : rows->total[side];
}

/* Values in the present rows, seen from a side that is known. */
static int64_t row_values(const redist_stream *stream)
{
    redist_side side = stream->known[REDIST_BEFORE] ? REDIST_BEFORE : REDIST_AFTER;
    int64_t first = stream->row.on[side].at + stream->row_time * stream->row.on[side].step;
    return row_start(stream->rows, side, first + stream->row.length) - row_start(stream->rows, side, first);
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

/* ---- Streams: of blocks ------------------------------------------------------------------------- */

static redist_stream start_boxes(const redist_plan *plan, int from, int to)
{
    redist_stream stream = {.boxes = redist_plan_boxes(plan, from, to)};
    stream.left = stream.boxes.left;
    stream.one_run = stream.left > 0 && redist_boxes_is_one_run(&stream.boxes);
    return stream;
}

/* ---- Streams: of lists -------------------------------------------------------------------------- */

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

/* ---- Streams: all of them ----------------------------------------------------------------------- */

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
            piece->on[side].at = row_start(stream->rows, side, row) + stream->at;
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

/* ---- The exchange: lanes and slots -------------------------------------------------------------- */

enum { SLOTS = 4, REQUESTS = 2 * SLOTS, WAVE = 8 };

int64_t redist_staged_bytes = 512 << 10;
int64_t redist_direct_bytes = 1 << 30;
int redist_wave_steps = WAVE;

/*
 * MPI sends a message of at most 128 KiB, its head included, without asking the receiver first. Where ranks sleep, and
 * MPI goes on in its calls alone, asking takes until the receiver is awake and the sender has packed all that it can.
 * Such messages are sent so that they are not done before they are received: where one is late, no more of a sender's
 * are in MPI's memory than that has slots.
 */
enum { UNASKED_BYTES = 120 << 10 };

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t message_bytes(int one_run)
{
    int64_t bytes = one_run ? redist_direct_bytes : redist_staged_bytes;
    return device_sleeps() ? smaller(bytes, UNASKED_BYTES) : bytes;
}

static int64_t slot_bytes(void)
{
    return message_bytes(0);
}

/* The last buffer is for local copies of elements that reach into each other. */
static int64_t copy_bytes(const redist_element *element)
{
    if (element->compact)
        return 0;
    return element->size > slot_bytes() ? element->size : slot_bytes();
}

int64_t redist_staging_bytes(const redist_element *element)
{
    return REQUESTS * slot_bytes() + copy_bytes(element);
}

typedef struct lane {
    redist_side side; /* REDIST_BEFORE sends */
    int next_step;    /* the first step of the next wave */
    int peers[WAVE], turn;
    int64_t number; /* of the chunk that is next in the stream of this turn */
    redist_stream streams[WAVE];
} lane;

typedef struct slot {
    redist_stream stream; /* of a chunk that is still to be unpacked */
    int64_t order;        /* of the chunk, among all */
    int64_t count;        /* its elements; 0: nothing to unpack */
    int64_t at;           /* of a chunk that is sent from where it lies in the old block; -1: it is packed */
} slot;

typedef struct state {
    const redist_exchange *exchange;
    lane lanes[2];
    slot slots[REQUESTS]; /* first those of the sending lane */
    MPI_Request requests[REQUESTS];
    redist_stream own;     /* what stays on this rank, */
    int64_t own_total;     /* and how many elements that is */
    int64_t wave, handled; /* elements in the first wave of both lanes, and those that have come past */
    int error;             /* the first one */
} state;

static void note_error(state *s, int error)
{
    if (s->error == MPI_SUCCESS)
        s->error = error;
}

static char *buffer_of(const redist_exchange *exchange, int slot_index)
{
    return exchange->staging + slot_index * slot_bytes();
}

/* Elements per message. An element that is too large for a slot travels alone, from where it is. */
static int64_t chunk_of(const redist_exchange *exchange, const redist_stream *stream)
{
    int64_t count = message_bytes(stream->one_run) / exchange->element.size;
    if (count < 1)
        count = 1;
    return count < stream->left ? count : stream->left;
}

/* Opens the streams of the next wave. 0: there is none. */
static int next_wave(const redist_exchange *exchange, lane *l)
{
    const redist_plan *plan = exchange->plan;
    if (l->next_step >= plan->size)
        return 0;
    for (int i = 0; i < WAVE; i++) {
        l->streams[i] = (redist_stream){.left = 0};
        if (i >= redist_wave_steps || l->next_step >= plan->size)
            continue;
        int sends = l->side == REDIST_BEFORE;
        int peer = (plan->me + (sends ? l->next_step : plan->size - l->next_step)) % plan->size;
        l->peers[i] = peer;
        l->streams[i] = redist_stream_start(plan, exchange->rows, sends ? plan->me : peer, sends ? peer : plan->me);
        l->next_step++;
    }
    l->turn = WAVE - 1;
    l->number = -1;
    return 1;
}

static int64_t left_in_wave(const lane *l)
{
    int64_t left = 0;
    for (int i = 0; i < WAVE; i++)
        left += l->streams[i].left;
    return left;
}

/* Turns to the next stream that has elements. 0: the lane is at its end. */
static int next_turn(const redist_exchange *exchange, lane *l)
{
    do {
        for (int i = 0; i < WAVE; i++) {
            l->turn = (l->turn + 1) % WAVE;
            l->number += l->turn == 0;
            if (l->streams[l->turn].left > 0)
                return 1;
        }
    } while (next_wave(exchange, l));
    return 0;
}

/* By wave, number and step: the same for sender and receiver. */
static int64_t order_of(const lane *l)
{
    return ((int64_t)l->next_step << 40) + l->number * WAVE + l->turn;
}

/* Packs the next `count` elements of a stream. */
static int pack_chunk(const redist_exchange *exchange, redist_stream *stream, int64_t count, char *buffer, int64_t room)
{
    int64_t position = 0;
    int error = MPI_SUCCESS;
    redist_piece piece;
    while (count > 0 && redist_stream_take(stream, count, &piece)) {
        count -= piece.length * piece.times;
        if (error == MPI_SUCCESS)
            error = redist_pack(&exchange->element, &piece, exchange->before, buffer, room, &position);
    }
    return error;
}

static int unpack_chunk(const redist_exchange *exchange, redist_stream *stream, int64_t count, const char *buffer,
                        int64_t room)
{
    int64_t position = 0;
    int error = MPI_SUCCESS;
    redist_piece piece;
    while (count > 0 && redist_stream_take(stream, count, &piece)) {
        count -= piece.length * piece.times;
        if (error == MPI_SUCCESS)
            error = redist_unpack(&exchange->element, &piece, buffer, room, &position, exchange->after);
    }
    return error;
}

/* As bytes where the elements have no gaps; sender and receiver decide alike. */
static MPI_Datatype wire_type(const redist_element *element, int64_t count, int packed, int *wire_count)
{
    int64_t bytes = count * element->size;
    if (element->dense && bytes <= INT_MAX) {
        *wire_count = (int)bytes;
        return MPI_BYTE;
    }
    *wire_count = (int)(packed ? bytes : count);
    return packed ? MPI_PACKED : element->type;
}

static void send_chunk(state *s, lane *l, int index)
{
    const redist_exchange *exchange = s->exchange;
    redist_stream *stream = &l->streams[l->turn];
    int64_t count = chunk_of(exchange, stream);
    redist_stream rest = *stream;
    int64_t at = redist_stream_skip(&rest, count, REDIST_BEFORE);
    const char *buffer = buffer_of(exchange, index);
    s->slots[index].at = at;
    if (at >= 0) {
        *stream = rest;
        buffer = (const char *)exchange->before + at * exchange->element.extent;
    } else {
        note_error(s, pack_chunk(exchange, stream, count, buffer_of(exchange, index), slot_bytes()));
    }
    int wire_count;
    MPI_Datatype type = wire_type(&exchange->element, count, at < 0, &wire_count);
    int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) =
        device_sleeps() ? MPI_Issend : MPI_Isend;
    note_error(s, send(buffer, wire_count, type, l->peers[l->turn], REDIST_TAG, exchange->plan->window->all,
                       &s->requests[index]));
    redist_traffic_sent(l->peers[l->turn], count * exchange->element.size);
    s->handled += count;
}

static void receive_chunk(state *s, lane *l, int index)
{
    const redist_exchange *exchange = s->exchange;
    redist_stream *stream = &l->streams[l->turn];
    slot *slot = &s->slots[index];
    int64_t count = chunk_of(exchange, stream);
    slot->stream = *stream;
    int64_t at = redist_stream_skip(stream, count, REDIST_AFTER);
    slot->count = at < 0 ? count : 0;
    char *buffer = at < 0 ? buffer_of(exchange, index) : (char *)exchange->after + at * exchange->element.extent;
    int wire_count;
    MPI_Datatype type = wire_type(&exchange->element, count, at < 0, &wire_count);
    note_error(s, MPI_Irecv(buffer, wire_count, type, l->peers[l->turn], REDIST_TAG, exchange->plan->window->all,
                            &s->requests[index]));
    redist_traffic_received(l->peers[l->turn], count * exchange->element.size);
    s->handled += count - slot->count;
}

static void finish_slot(state *s, int index)
{
    slot *slot = &s->slots[index];
    if (slot->count > 0)
        note_error(s,
                   unpack_chunk(s->exchange, &slot->stream, slot->count, buffer_of(s->exchange, index), slot_bytes()));
    s->handled += slot->count;
    slot->count = 0;
}

static void copy_by_packing(state *s, int64_t count)
{
    const redist_exchange *exchange = s->exchange;
    int64_t room = copy_bytes(&exchange->element), most = room / exchange->element.size;
    char *buffer = buffer_of(exchange, REQUESTS);
    while (count > 0) {
        redist_stream from = s->own;
        int64_t part = most < count ? most : count;
        note_error(s, pack_chunk(exchange, &from, part, buffer, room));
        note_error(s, unpack_chunk(exchange, &s->own, part, buffer, room));
        count -= part;
    }
}

static void keep_piece(const redist_exchange *exchange, const redist_piece *piece)
{
    if (exchange->closes_up)
        redist_move_down(&exchange->element, piece, exchange->after);
    else
        redist_copy(&exchange->element, piece, exchange->before, exchange->after);
}

static void copy_what_stays(state *s, int64_t count)
{
    const redist_exchange *exchange = s->exchange;
    redist_piece piece;
    if (!exchange->element.compact) {
        copy_by_packing(s, count);
        return;
    }
    while (count > 0 && redist_stream_take(&s->own, count, &piece)) {
        keep_piece(exchange, &piece);
        count -= piece.length * piece.times;
    }
}

/* The place of the next element in the old block. */
static int64_t next_place(redist_stream stream)
{
    redist_piece piece;
    return redist_stream_take(&stream, 1, &piece) ? piece.on[REDIST_BEFORE].at : INT64_MAX;
}

/* The first place in the old block whose element leaves and has not yet; streams go up in it. */
static int64_t first_to_leave(const state *s)
{
    const lane *l = &s->lanes[REDIST_BEFORE];
    int64_t first = l->next_step < s->exchange->plan->size ? 0 : INT64_MAX;
    for (int i = 0; i < WAVE; i++)
        first = smaller(first, next_place(l->streams[i]));
    for (int i = 0; i < SLOTS; i++)
        if (s->requests[i] != MPI_REQUEST_NULL && s->slots[i].at >= 0)
            first = smaller(first, s->slots[i].at);
    return first;
}

/* Copies as large a part of what stays as has come past of the first wave: the same stretch of the blocks. Closing up
 * fills the places from the first one on, one by one. */
static void keep_up(state *s)
{
    double part = s->handled < s->wave ? (double)s->handled / (double)s->wave : 1;
    int64_t due = part < 1 ? (int64_t)(part * (double)s->own_total) : s->own_total;
    if (s->exchange->closes_up)
        due = smaller(due, first_to_leave(s));
    copy_what_stays(s, due - (s->own_total - s->own.left));
}

/* Fills the free slots of a lane. */
static void fill_slots(state *s, redist_side side)
{
    lane *l = &s->lanes[side];
    int first = side == REDIST_BEFORE ? 0 : SLOTS;
    for (int i = first; i < first + SLOTS; i++) {
        if (s->requests[i] != MPI_REQUEST_NULL)
            continue;
        if (!next_turn(s->exchange, l))
            return;
        s->slots[i].order = order_of(l);
        if (side == REDIST_AFTER) {
            receive_chunk(s, l, i);
            continue;
        }
        send_chunk(s, l, i);
        keep_up(s);
    }
}

/* What this rank gets, less what it had: from the distributions alone, not from what the lanes do. */
static int64_t needed_bytes(const redist_exchange *exchange)
{
    const redist_plan *plan = exchange->plan;
    const redist_rows *rows = exchange->rows;
    int64_t total = rows ? rows->total[REDIST_AFTER] : redist_plan_local(plan, REDIST_AFTER);
    return (total - redist_stream_start(plan, rows, plan->me, plan->me).left) * exchange->element.size;
}

static void start_exchange(state *s, const redist_exchange *exchange)
{
    const redist_plan *plan = exchange->plan;
    *s = (state){.exchange = exchange, .error = MPI_SUCCESS};
    for (redist_side side = REDIST_BEFORE; side <= REDIST_AFTER; side++) {
        s->lanes[side].side = side;
        s->lanes[side].next_step = 1;
        if (next_wave(exchange, &s->lanes[side]))
            s->wave += left_in_wave(&s->lanes[side]);
    }
    if (exchange->before != exchange->after || exchange->closes_up)
        s->own = redist_stream_start(plan, exchange->rows, plan->me, plan->me);
    s->own_total = s->own.left;
    for (int i = 0; i < REQUESTS; i++)
        s->requests[i] = MPI_REQUEST_NULL;
}

/* The slot whose chunk is the lowest of those under way. */
static int lowest_slot(const state *s)
{
    int lowest = MPI_UNDEFINED;
    for (int i = 0; i < REQUESTS; i++)
        if (s->requests[i] != MPI_REQUEST_NULL &&
            (lowest == MPI_UNDEFINED || s->slots[i].order < s->slots[lowest].order))
            lowest = i;
    return lowest;
}

static int run_exchange(state *s)
{
    for (;;) {
        fill_slots(s, REDIST_AFTER);
        fill_slots(s, REDIST_BEFORE);
        keep_up(s);
        int index = MPI_UNDEFINED;
        note_error(s, redist_wait_any(REQUESTS, s->requests, lowest_slot(s), &index));
        if (index == MPI_UNDEFINED)
            return s->error;
        finish_slot(s, index);
    }
}

int redist_exchange_run(const redist_exchange *exchange)
{
    state s;
    if (exchange->element.size == 0)
        return MPI_SUCCESS;
    redist_traffic_moves();
    start_exchange(&s, exchange);
    redist_traffic_needed(needed_bytes(exchange));
    int error = run_exchange(&s);
    redist_traffic_moved();
    return error;
}
