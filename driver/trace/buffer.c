/*
 * A process's trace buffer: dividing it into lanes, adding records, thinning full lanes, and converting its times to
 * the clock of process 0.
 */
#include "driver/trace/buffer.h"

/* Where most happens most is kept. The rest of 16 parts. */
static const int shares[TRACE_LANES] = {[TRACE_STRUCTURE] = 2, [TRACE_ELEMENTS] = 2, [TRACE_ITERATIONS] = 4,
                                        [TRACE_CALLS] = 6,     [TRACE_SAMPLES] = 1,  [TRACE_STAYS] = 1};

void buffer_init(struct trace_header *buffer, size_t size, int64_t least_call)
{
    uint64_t at = (sizeof *buffer + 63) / 64 * 64, part = (size - at) / 16;
    buffer->magic = TRACE_MAGIC;
    buffer->size = size;
    buffer->least_call = least_call;
    for (int i = 0; i < TRACE_LANES; i++) {
        struct trace_lane *lane = &buffer->lanes[i];
        *lane = (struct trace_lane){.offset = at, .stride = 1, .longest = INT64_MAX};
        lane->capacity = (uint32_t)(part * (uint64_t)shares[i] / sizeof(struct trace_record));
        at += lane->capacity * sizeof(struct trace_record);
    }
    buffer->lanes[TRACE_CALLS].longest = least_call ? least_call : 1;
    buffer->lanes[TRACE_STAYS].longest = 1;
}

bool buffer_is_valid(const struct trace_header *buffer, size_t size)
{
    if (size < sizeof *buffer || buffer->magic != TRACE_MAGIC || buffer->size != size)
        return false;
    if (buffer->elements < 0 || buffer->elements > TRACE_NAMES_MAX || buffer->clocks < 0 || buffer->clocks > 2)
        return false;
    for (int i = 0; i < TRACE_LANES; i++) {
        const struct trace_lane *lane = &buffer->lanes[i];
        uint64_t bytes = (uint64_t)lane->capacity * sizeof(struct trace_record);
        if (lane->offset > size || bytes > size - lane->offset || lane->used > lane->capacity || !lane->stride)
            return false;
    }
    return true;
}

struct trace_record *buffer_records(const struct trace_header *buffer, enum trace_lane_name name)
{
    return (struct trace_record *)((char *)buffer + buffer->lanes[name].offset);
}

/* A process that is ended meanwhile leaves some records twice, and loses none: `used` is lowered last. */
void buffer_thin(struct trace_header *buffer, enum trace_lane_name name)
{
    struct trace_lane *lane = &buffer->lanes[name];
    struct trace_record *records = buffer_records(buffer, name);
    uint32_t kept = 0;
    lane->stride *= 2;
    if (lane->longest < INT64_MAX / 2)
        lane->longest *= 2;
    for (uint32_t i = 0; i < lane->used; i++)
        if (buffer_keeps(lane, records[i].number, records[i].duration))
            records[kept++] = records[i];
    atomic_store_explicit(&lane->used, kept, memory_order_release);
}

void buffer_add(struct trace_header *buffer, enum trace_lane_name name, const struct trace_record *record)
{
    struct trace_lane *lane = &buffer->lanes[name];
    lane->seen++;
    while (lane->used == lane->capacity && lane->stride < UINT32_MAX / 2)
        buffer_thin(buffer, name);
    if (lane->used == lane->capacity || !buffer_keeps(lane, record->number, record->duration))
        return;
    uint32_t used = atomic_load_explicit(&lane->used, memory_order_relaxed);
    buffer_records(buffer, name)[used] = *record;
    atomic_store_explicit(&lane->used, used + 1, memory_order_release);
}

/* ---- One clock for all processes ---------------------------------------------------------------- */

/* Two readings give how fast the clocks drift apart, if they are far enough apart to tell it from their uncertainty. */
static double drift(const struct trace_header *process)
{
    const struct trace_clock *first = &process->clock[0], *last = &process->clock[1];
    int64_t apart = last->at - first->at, change = last->offset - first->offset;
    int64_t noise = first->uncertainty + last->uncertainty;
    if (process->clocks < 2 || apart <= 0 || (change <= noise && change >= -noise))
        return 0;
    double slope = (double)change / (double)apart;
    return slope > 0.01 || slope < -0.01 ? 0 : slope; /* no clock is that bad */
}

/* Without a drift the more certain reading counts. */
int64_t buffer_common_time(const struct trace_header *process, int64_t time)
{
    const struct trace_clock *clock = process->clock;
    if (process->same_clock || !process->clocks)
        return time;
    double slope = drift(process);
    if (slope == 0 && process->clocks == 2 && clock[1].uncertainty < clock[0].uncertainty)
        clock++;
    return time + clock->offset + (int64_t)(slope * (double)(time - clock->at));
}
