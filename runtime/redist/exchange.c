/*
 * Two lanes, one for sending and one for receiving, each walk over the other ranks in rotated order: in step s
 * rank r sends to r + s and receives from r - s. A lane cuts the stream of its present peer into chunks and keeps
 * a few of them under way. Elements that lie together are sent or received where they are, others through a slot of
 * staging memory; sender and receiver decide that on their own, as only the chunks have to be the same on both.
 *
 * No deadlock: of all chunks under way take the one of the lowest step, and of these the first. Everything before it
 * in its sender's and in its receiver's lane is done, so that both have a free slot and post it.
 */
#include "runtime/redist/exchange.h"

#include <limits.h>

#include "runtime/redist/wait.h"

enum { SLOTS = 4, REQUESTS = 2 * SLOTS };

int64_t redist_staged_bytes = 256 << 10;
int64_t redist_direct_bytes = 1 << 30;

/* The last buffer is for local copies of elements that reach into each other. */
static int64_t copy_bytes(const redist_element *element)
{
    if (element->compact)
        return 0;
    return element->size > redist_staged_bytes ? element->size : redist_staged_bytes;
}

int64_t redist_staging_bytes(const redist_element *element)
{
    return REQUESTS * redist_staged_bytes + copy_bytes(element);
}

typedef struct lane {
    redist_side side; /* REDIST_BEFORE sends */
    int step, peer;
    redist_stream stream;
} lane;

typedef struct slot {
    redist_stream stream; /* of a chunk that is still to be unpacked */
    int64_t count;        /* its elements; 0: nothing to unpack */
} slot;

typedef struct state {
    const redist_exchange *exchange;
    lane lanes[2];
    slot slots[REQUESTS]; /* first those of the sending lane */
    MPI_Request requests[REQUESTS];
    int error; /* the first one */
} state;

static void note(state *s, int error)
{
    if (s->error == MPI_SUCCESS)
        s->error = error;
}

static char *buffer_of(const redist_exchange *exchange, int slot_index)
{
    return exchange->staging + slot_index * redist_staged_bytes;
}

/* Elements per message. An element that is too large for a slot travels alone, from where it is. */
static int64_t chunk_of(const redist_exchange *exchange, const redist_stream *stream)
{
    int64_t bytes = stream->one_run ? redist_direct_bytes : redist_staged_bytes;
    int64_t count = bytes / exchange->element.size;
    if (count < 1)
        count = 1;
    return count < stream->left ? count : stream->left;
}

/* Makes sure that the lane has something to do. 0: it is at its end. */
static int lane_open(const redist_exchange *exchange, lane *l)
{
    const redist_plan *plan = exchange->plan;
    while (l->stream.left == 0) {
        if (++l->step >= plan->size)
            return 0;
        int forward = l->side == REDIST_BEFORE;
        l->peer = (plan->me + (forward ? l->step : plan->size - l->step)) % plan->size;
        l->stream =
            redist_stream_start(plan, exchange->rows, forward ? plan->me : l->peer, forward ? l->peer : plan->me);
    }
    return 1;
}

/* Packs the next `count` elements of a stream. */
static int pack(const redist_exchange *exchange, redist_stream *stream, int64_t count, char *buffer, int64_t room)
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

static int unpack(const redist_exchange *exchange, redist_stream *stream, int64_t count, const char *buffer,
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

static void post_send(state *s, lane *l, int index)
{
    const redist_exchange *exchange = s->exchange;
    int64_t count = chunk_of(exchange, &l->stream);
    redist_stream behind = l->stream;
    int64_t at = redist_stream_skip(&behind, count, REDIST_BEFORE);
    const char *buffer = (const char *)exchange->before + at * exchange->element.extent;
    if (at >= 0) {
        l->stream = behind;
    } else {
        note(s, pack(exchange, &l->stream, count, buffer_of(exchange, index), redist_staged_bytes));
        buffer = buffer_of(exchange, index);
    }
    int wire_count;
    MPI_Datatype type = wire_type(&exchange->element, count, at < 0, &wire_count);
    note(s, MPI_Isend(buffer, wire_count, type, l->peer, REDIST_TAG, exchange->plan->window->all, &s->requests[index]));
}

static void post_receive(state *s, lane *l, int index)
{
    const redist_exchange *exchange = s->exchange;
    slot *slot = &s->slots[index];
    int64_t count = chunk_of(exchange, &l->stream);
    slot->stream = l->stream;
    int64_t at = redist_stream_skip(&l->stream, count, REDIST_AFTER);
    slot->count = at < 0 ? count : 0;
    char *buffer = at < 0 ? buffer_of(exchange, index) : (char *)exchange->after + at * exchange->element.extent;
    int wire_count;
    MPI_Datatype type = wire_type(&exchange->element, count, at < 0, &wire_count);
    note(s, MPI_Irecv(buffer, wire_count, type, l->peer, REDIST_TAG, exchange->plan->window->all, &s->requests[index]));
}

/* Fills the free slots of a lane. */
static void fill(state *s, redist_side side)
{
    lane *l = &s->lanes[side];
    int first = side == REDIST_BEFORE ? 0 : SLOTS;
    for (int i = first; i < first + SLOTS; i++) {
        if (s->requests[i] != MPI_REQUEST_NULL)
            continue;
        if (!lane_open(s->exchange, l))
            return;
        if (side == REDIST_BEFORE)
            post_send(s, l, i);
        else
            post_receive(s, l, i);
    }
}

static void finish(state *s, int index)
{
    slot *slot = &s->slots[index];
    if (slot->count > 0)
        note(s, unpack(s->exchange, &slot->stream, slot->count, buffer_of(s->exchange, index), redist_staged_bytes));
    slot->count = 0;
}

static void copy_by_packing(state *s, redist_stream *stream)
{
    const redist_exchange *exchange = s->exchange;
    int64_t room = copy_bytes(&exchange->element);
    char *buffer = buffer_of(exchange, REQUESTS);
    while (stream->left > 0) {
        redist_stream from = *stream;
        int64_t count = room / exchange->element.size;
        count = count < stream->left ? count : stream->left;
        note(s, pack(exchange, &from, count, buffer, room));
        note(s, unpack(exchange, stream, count, buffer, room));
    }
}

/* What stays on this rank. */
static void copy_own(state *s)
{
    const redist_exchange *exchange = s->exchange;
    const redist_plan *plan = exchange->plan;
    if (exchange->before == exchange->after)
        return;
    redist_stream stream = redist_stream_start(plan, exchange->rows, plan->me, plan->me);
    redist_piece piece;
    if (exchange->element.compact) {
        while (redist_stream_take(&stream, stream.left, &piece))
            redist_copy(&exchange->element, &piece, exchange->before, exchange->after);
        return;
    }
    copy_by_packing(s, &stream);
}

int redist_exchange_run(const redist_exchange *exchange)
{
    state s = {.exchange = exchange, .error = MPI_SUCCESS};
    s.lanes[REDIST_BEFORE].side = REDIST_BEFORE;
    s.lanes[REDIST_AFTER].side = REDIST_AFTER;
    for (int i = 0; i < REQUESTS; i++)
        s.requests[i] = MPI_REQUEST_NULL;
    if (exchange->element.size == 0)
        return MPI_SUCCESS;
    int copied = 0;
    for (;;) {
        fill(&s, REDIST_AFTER);
        fill(&s, REDIST_BEFORE);
        if (!copied) {
            copy_own(&s);
            copied = 1;
        }
        int index = MPI_UNDEFINED;
        note(&s, redist_wait_any(REQUESTS, s.requests, &index));
        if (index == MPI_UNDEFINED)
            return s.error;
        finish(&s, index);
    }
}
