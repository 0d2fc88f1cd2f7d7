/* The slices of one process, in the order that viewers nest them in: see events.h. */
#include <stdlib.h>
#include <string.h>

#include "driver/trace/clock.h"
#include "driver/trace/events.h"
#include "driver/trace/lanes.h"
#include "interpose/interpose.h"

#define RANK_TRACK 1

enum { NAME = 128, MORE = 2400, PEERS_NAMED = 32 };

/* A slice with its times on the common clock. */
struct slice {
    int64_t begin, end;
    const struct trace_record *record;
    bool unfinished;
};

struct slices {
    size_t count;
    struct slice *list;
};

static int track_of(const struct trace_record *r)
{
    return r->kind == TRACE_RANK ? RANK_TRACK : r->thread ? r->thread + RANK_TRACK : 0;
}

static int tid_of(const struct trace_header *p, int track)
{
    return p->process + track * TRACE_THREAD_TID;
}

/* Of two that begin together the longer one is around the other. */
static int by_begin(const void *left, const void *right)
{
    const struct slice *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return memcmp(a->record, b->record, sizeof *a->record);
}

/* Records that were thinned while they were read may be torn. */
static bool is_slice(const struct trace_record *r)
{
    return r->begin > 0 && r->duration >= 0 && r->kind != TRACE_SENT && r->kind != TRACE_RECEIVED &&
           r->kind != TRACE_SAMPLE;
}

static void add(struct slices *all, const struct trace_header *p, const struct trace_record *r, bool unfinished)
{
    if (!is_slice(r))
        return;
    all->list[all->count++] = (struct slice){.begin = clock_common(p, r->begin),
                                             .end = clock_common(p, r->begin + r->duration),
                                             .record = r,
                                             .unfinished = unfinished};
}

/* What was not over when the process was ended, up to its last sign of life. */
static void add_open(struct slices *all, const struct trace_header *p, struct trace_record open[TRACE_OPEN])
{
    static const uint8_t kinds[TRACE_OPEN] = {[OPEN_RANK] = TRACE_RANK,
                                              [OPEN_ELEMENT] = TRACE_ELEMENT,
                                              [OPEN_ITERATION] = TRACE_ITERATION,
                                              [OPEN_STEP] = TRACE_STEP,
                                              [OPEN_CALL] = TRACE_CALL};
    for (int i = 0; i < TRACE_OPEN; i++) {
        const struct trace_open *o = &p->open[i];
        if (!o->begin || p->finished)
            continue;
        open[i] = (struct trace_record){
            .kind = kinds[i], .begin = o->begin, .a = o->a, .b = o->b, .c = o->c, .name = o->name};
        open[i].duration = p->last > o->begin ? p->last - o->begin : 0;
        add(all, p, &open[i], true);
    }
}

static void collect(struct slices *all, const struct trace_header *p, struct trace_record open[TRACE_OPEN])
{
    size_t most = TRACE_OPEN;
    for (int lane = 0; lane < TRACE_LANES; lane++)
        most += p->lanes[lane].used;
    *all = (struct slices){.list = malloc(most * sizeof *all->list)};
    if (!all->list)
        return;
    for (int lane = 0; lane < TRACE_LANES; lane++)
        for (uint32_t i = 0; i < p->lanes[lane].used; i++)
            add(all, p, &lane_records(p, (enum trace_lane_name)lane)[i], false);
    add_open(all, p, open);
    qsort(all->list, all->count, sizeof *all->list, by_begin);
}

/* ---- Texts --------------------------------------------------------------------------------- */

static const char *element_text(const struct trace_header *p, int pc)
{
    return pc < p->elements ? p->names[pc] : "element";
}

/* ,"sent":{"process 1":200000,...} in that adaptation; of more than a few the rest is added up. */
static size_t describe_traffic(const struct trace_header *p, int64_t adaptation, enum trace_kind kind, char *text,
                               size_t size)
{
    const struct trace_record *r = lane_records(p, TRACE_STRUCTURE), *end = r + p->lanes[TRACE_STRUCTURE].used;
    size_t length = (size_t)snprintf(text, size, ",\"%s\":{", kind == TRACE_SENT ? "sent" : "received");
    int64_t others = 0;
    int named = 0;
    for (; r < end; r++) {
        if (r->kind != kind || r->c != adaptation)
            continue;
        if (named++ < PEERS_NAMED)
            length += (size_t)snprintf(text + length, size - length, "%s\"process %d\":%lld", named > 1 ? "," : "",
                                       r->b, (long long)r->a);
        else
            others += r->a;
    }
    if (others)
        length += (size_t)snprintf(text + length, size - length, ",\"others\":%lld", (long long)others);
    return length + (size_t)snprintf(text + length, size - length, "}");
}

static void describe_step(const struct trace_header *p, const struct trace_record *r, char name[NAME], char more[MORE])
{
    static const char *const names[STEP_COUNT] = {[STEP_HOLD] = "hold",       [STEP_AWAIT] = "wait for the window",
                                                  [STEP_CONNECT] = "connect", [STEP_ADAPT] = "adapt",
                                                  [STEP_MOVE] = "move",       [STEP_COMMIT] = "commit",
                                                  [STEP_ALL] = "adaptation"};
    size_t length = (size_t)snprintf(more, MORE, "\"args\":{\"adaptation\":");
    snprintf(name, NAME, "%s", r->name < STEP_COUNT ? names[r->name] : "?");
    if (r->a > 0)
        length +=
            (size_t)snprintf(more + length, MORE - length, "%lld,\"from\":%d,\"to\":%d", (long long)r->a, r->b, r->c);
    else
        snprintf(more + length, MORE - length, "null");
    if (r->name == STEP_MOVE) {
        length += describe_traffic(p, r->a, TRACE_SENT, more + length, MORE - length);
        describe_traffic(p, r->a, TRACE_RECEIVED, more + length, MORE - length);
    }
}

/* Its name, and the arguments without the closing brace; what category it is of. */
static const char *describe(const struct trace_header *p, const struct trace_record *r, char name[NAME],
                            char more[MORE])
{
    switch (r->kind) {
    case TRACE_RANK:
        snprintf(name, NAME, "rank %d of %d", r->b, r->c);
        snprintf(more, MORE, "\"args\":{\"rank\":%d,\"size\":%d,\"adaptation\":%lld", r->b, r->c, (long long)r->a);
        return "rank";
    case TRACE_STEP:
        describe_step(p, r, name, more);
        return "adaptation";
    case TRACE_ELEMENT:
        snprintf(name, NAME, "%s", element_text(p, r->name));
        snprintf(more, MORE, "\"args\":{\"pc\":%d,\"visit\":%lld,\"rank\":%d,\"size\":%d", r->name, (long long)r->a,
                 r->b, r->c);
        return "element";
    case TRACE_ITERATION:
        snprintf(name, NAME, "iteration");
        snprintf(more, MORE, "\"args\":{\"pc\":%d,\"visit\":%d,\"iteration\":%lld,\"one_in\":%u", r->name, r->b,
                 (long long)r->a, p->lanes[TRACE_ITERATIONS].stride);
        return "iteration";
    default:
        snprintf(name, NAME, "%s", r->name < INTERPOSE_FUNCTIONS ? epop__interpose_name(r->name) : "MPI");
        snprintf(more, MORE, "\"args\":{");
        return "mpi";
    }
}

static void write_slice(struct trace_out *out, const struct trace_header *p, const struct slice *s)
{
    char name[NAME], more[MORE + 40];
    const char *category = describe(p, s->record, name, more);
    size_t length = strlen(more);
    if (s->unfinished)
        length += (size_t)snprintf(more + length, sizeof more - length, "%s\"unfinished\":true",
                                   more[length - 1] == '{' ? "" : ",");
    snprintf(more + length, sizeof more - length, "}");
    out_event(out, &(struct trace_event){'X', p->process, tid_of(p, track_of(s->record)), s->begin, s->end - s->begin,
                                         name, category, strcmp(more, "\"args\":{}") ? more : NULL});
}

/* ---- Tracks ----------------------------------------------------------------------------------- */

static void name_track(struct trace_out *out, const struct trace_header *p, int track, const char *kind,
                       const char *format, int number)
{
    char text[64], more[128];
    snprintf(text, sizeof text, format, number);
    snprintf(more, sizeof more, "\"args\":{\"name\":\"%s\"}", text);
    out_event(out, &(struct trace_event){'M', p->process, tid_of(p, track), -1, -1, kind, NULL, more});
}

static void name_tracks(struct trace_out *out, const struct trace_header *p, const struct slices *all)
{
    char host[200], more[400];
    bool threads[UINT8_MAX + 2] = {false};
    out_escape(p->host, host, sizeof host);
    snprintf(more, sizeof more, "\"args\":{\"name\":\"process %d (host %s, pid %d)\"}", p->process, host, p->pid);
    out_event(out, &(struct trace_event){'M', p->process, p->process, -1, -1, "process_name", NULL, more});
    snprintf(more, sizeof more, "\"args\":{\"sort_index\":%d}", p->process + 1);
    out_event(out, &(struct trace_event){'M', p->process, p->process, -1, -1, "process_sort_index", NULL, more});
    name_track(out, p, 0, "thread_name", "program", 0);
    name_track(out, p, RANK_TRACK, "thread_name", "rank", 0);
    for (size_t i = 0; i < all->count; i++)
        threads[track_of(all->list[i].record)] = true;
    for (int track = RANK_TRACK + 1; track < UINT8_MAX + 2; track++)
        if (threads[track])
            name_track(out, p, track, "thread_name", "thread %d", track - RANK_TRACK);
}

/* The MPI share, from one sample to the next. Perfetto shows the name and the key: "MPI share". */
static void write_mpi_share(struct trace_out *out, const struct trace_header *p)
{
    const struct trace_record *samples = lane_records(p, TRACE_SAMPLES);
    for (uint32_t i = 0; i < p->lanes[TRACE_SAMPLES].used; i++) {
        char more[80];
        bool last = i + 1 == p->lanes[TRACE_SAMPLES].used;
        int64_t time = last ? 0 : samples[i + 1].begin - samples[i].begin;
        double share = time > 0 ? (double)(samples[i + 1].a - samples[i].a) / (double)time : 0;
        snprintf(more, sizeof more, "\"args\":{\"share\":%.4f}", share < 1 ? share : 1);
        out_event(out, &(struct trace_event){'C', p->process, p->process, clock_common(p, samples[i].begin), -1, "MPI",
                                             NULL, more});
    }
}

void events_of_process(struct trace_out *out, const struct trace_header *process)
{
    struct trace_record open[TRACE_OPEN];
    struct slices all;
    collect(&all, process, open);
    if (!all.list)
        return;
    name_tracks(out, process, &all);
    for (size_t i = 0; i < all.count; i++) {
        bool twice = i && !memcmp(all.list[i].record, all.list[i - 1].record, sizeof *all.list[i].record);
        if (!twice)
            write_slice(out, process, &all.list[i]);
    }
    write_mpi_share(out, process);
    free(all.list);
}
