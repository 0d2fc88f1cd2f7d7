/* A lap extends the stay in its loop, or ends it as a record and begins another one. */
#include "driver/trace/stays.h"

#include <stdio.h>
#include <string.h>

#include "driver/trace/recorder.h"

/* ---- Where it is -------------------------------------------------------------------------------- */

/* The number of the file in the header; TRACE_FILES: there is no room for another one. Of a long name the end counts.
 */
static uint8_t number_of_file(struct trace_header *b, const char *path)
{
    size_t length = strlen(path);
    const char *name = length < TRACE_FILE_MAX ? path : path + length - TRACE_FILE_MAX + 1;
    int i = 0;
    for (; i < TRACE_FILES && b->files[i][0]; i++)
        if (!strcmp(b->files[i], name))
            return (uint8_t)i;
    if (i < TRACE_FILES)
        snprintf(b->files[i], TRACE_FILE_MAX, "%s", name);
    return (uint8_t)i;
}

static struct trace_place place_of(struct trace_header *b, uintptr_t address)
{
    struct trace_place place = {.file = TRACE_FILES};
    uintptr_t offset;
    if (!address)
        return place;
    place.file = number_of_file(b, follower_file(address, &offset));
    place.offset = offset;
    return place;
}

static struct trace_site site_of(struct trace_header *b, struct loops_site site)
{
    return (struct trace_site){place_of(b, site.call), place_of(b, site.caller), (uint16_t)site.what};
}

static void note_loop(struct trace_header *b, const struct loops *loops, int lap)
{
    b->loops[lap] = (struct trace_loop){.head = site_of(b, loops->nodes[loops->laps[lap].head].site),
                                        .tail = site_of(b, loops->nodes[loops->laps[lap].tail].site),
                                        .known = true};
}

/* ---- Stays -------------------------------------------------------------------------------------- */

static void add_stay(struct recorder *recorder, int lap)
{
    struct trace_header *b = recorder->buffer;
    struct trace_stay *stay = &b->stays[lap];
    recorder_add(recorder, TRACE_STAYS,
                 &(struct trace_record){.kind = TRACE_STAY,
                                        .begin = stay->begin,
                                        .duration = stay->end - stay->begin,
                                        .name = (uint16_t)lap,
                                        .a = stay->turns,
                                        .b = stay->pc,
                                        .c = trace_millionths(stay),
                                        .number = (uint32_t)b->lanes[TRACE_STAYS].seen});
    stay->turns = 0;
}

static void turn(struct recorder *recorder, const struct loops_ended *lap, int64_t now)
{
    struct stays *s = &recorder->stays;
    struct trace_stay *stay = &recorder->buffer->stays[lap->lap];
    int64_t begin = now - lap->loop;
    if (stay->turns && stay->end != begin)
        add_stay(recorder, lap->lap);
    else if (!stay->turns)
        s->open[s->open_count++] = lap->lap;
    if (!stay->turns)
        *stay = (struct trace_stay){.begin = begin, .pc = s->pc};
    stay->mpi += lap->mpi;
    stay->end = now;
    stay->turns++;
}

void stays_begin(struct recorder *recorder, int pc)
{
    recorder->stays.on = true;
    recorder->stays.pc = pc;
    follower_begin_anew(&recorder->stays.follower);
}

void stays_called(struct recorder *recorder, enum interpose_function function, int64_t now)
{
    struct trace_header *b = recorder->buffer;
    struct follower *f = &recorder->stays.follower;
    if (!recorder->stays.on)
        return;
    struct loops_ended lap = follower_called(f, function, now, b->call_total, INT64_MAX);
    if (lap.lap == LOOPS_NONE || !f->loops->edges[f->loops->laps[lap.lap].edge].closes)
        return;
    if (!b->loops[lap.lap].known)
        note_loop(b, f->loops, lap.lap);
    turn(recorder, &lap, now);
}

void stays_end(struct recorder *recorder)
{
    struct stays *s = &recorder->stays;
    for (int i = 0; i < s->open_count; i++)
        add_stay(recorder, s->open[i]);
    s->open_count = 0;
    s->on = false;
}
