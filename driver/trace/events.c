/*
 * Turns trace records into events of the Chrome trace format: the job's track, the tracks of each process, and arrows
 * for data that moved.
 */
#include "driver/trace/events.h"

#include <stdlib.h>
#include <string.h>

#include "interpose/interpose.h"
#include "runtime/base/json.h"

/* ---- The job ------------------------------------------------------------------------------------ */

struct world_size {
    int64_t time, adaptation;
    int size;
};

static int compare_times(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int size_by_time(const void *left, const void *right)
{
    const struct world_size *a = left, *b = right;
    return compare_times(a->time, b->time);
}

static int size_by_adaptation(const void *left, const void *right)
{
    const struct world_size *a = left, *b = right;
    return a->adaptation != b->adaptation ? compare_times(a->adaptation, b->adaptation) : size_by_time(a, b);
}

static size_t most_sizes(const struct trace_buffers *all)
{
    size_t most = 1;
    for (int i = 0; i < all->count; i++)
        most += all->buffers[i]->lanes[TRACE_STRUCTURE].used + 1;
    return most;
}

/* Of every rank that was, in which world it was and when that began for it. */
static size_t collect_world_sizes(struct world_size *sizes, const struct trace_buffers *all)
{
    size_t count = 0;
    for (int i = 0; i < all->count; i++) {
        const struct trace_header *p = all->buffers[i];
        const struct trace_record *r = buffer_records(p, TRACE_STRUCTURE);
        const struct trace_open *open = &p->open[OPEN_RANK];
        for (uint32_t k = 0; k < p->lanes[TRACE_STRUCTURE].used; k++)
            if (r[k].kind == TRACE_RANK)
                sizes[count++] = (struct world_size){buffer_common_time(p, r[k].begin), r[k].a, r[k].c};
        if (open->begin)
            sizes[count++] = (struct world_size){buffer_common_time(p, open->begin), open->a, open->c};
    }
    return count;
}

/* A world begins when its first rank is in it. */
static size_t keep_first_of_each_world(struct world_size *sizes, size_t count)
{
    size_t kept = 0;
    qsort(sizes, count, sizeof *sizes, size_by_adaptation);
    for (size_t i = 0; i < count; i++)
        if (!i || sizes[i].adaptation != sizes[i - 1].adaptation)
            sizes[kept++] = sizes[i];
    qsort(sizes, kept, sizeof *sizes, size_by_time);
    return kept;
}

static void write_job_name(struct trace_out *out, const char *kind, const char *more)
{
    out_event(out, &(struct trace_event){'M', TRACE_JOB_PID, TRACE_JOB_PID, -1, -1, kind, NULL, more});
}

void events_of_job(struct trace_out *out, const struct trace_buffers *all)
{
    struct world_size *sizes = malloc(most_sizes(all) * sizeof *sizes);
    size_t count = sizes ? keep_first_of_each_world(sizes, collect_world_sizes(sizes, all)) : 0;
    write_job_name(out, "process_name", "\"args\":{\"name\":\"job\"}");
    write_job_name(out, "process_sort_index", "\"args\":{\"sort_index\":0}");
    write_job_name(out, "thread_name", "\"args\":{\"name\":\"requests\"}");
    for (size_t i = 0; i < count; i++) {
        char more[80];
        snprintf(more, sizeof more, "\"args\":{\"ranks\":%d}", sizes[i].size);
        out_event(
            out, &(struct trace_event){'C', TRACE_JOB_PID, TRACE_JOB_PID, sizes[i].time, -1, "world size", NULL, more});
    }
    free(sizes);
}

void events_of_requests(struct trace_out *out, const cJSON *job)
{
    const cJSON *instant;
    cJSON_ArrayForEach(instant, cJSON_GetObjectItemCaseSensitive(job, "instants"))
    {
        char more[1000];
        const char *name = json_text(instant, "name");
        char *arguments = cJSON_PrintUnformatted(cJSON_GetObjectItemCaseSensitive(instant, "args"));
        int64_t duration = json_int64(instant, "duration", -1); /* a slice has one */
        snprintf(more, sizeof more, "%s\"args\":%s", duration < 0 ? "\"s\":\"p\"," : "", arguments ? arguments : "{}");
        if (name && (!arguments || strlen(arguments) < sizeof more - 20))
            out_event(out, &(struct trace_event){duration < 0 ? 'i' : 'X', TRACE_JOB_PID, TRACE_JOB_PID,
                                                 json_int64(instant, "at", 0), duration, name,
                                                 duration < 0 ? "request" : "checkpoint", more});
        free(arguments);
    }
}

/* ---- A process: its slices, in the order in which viewers nest them ----------------------------- */

#define RANK_TRACK  1
#define LOOPS_TRACK (UINT8_MAX + RANK_TRACK + 1) /* behind those of threads */

enum { NAME = 128, MORE = 2400, PEERS_NAMED = 32, OPEN_MOST = TRACE_OPEN + LOOPS_LAPS };

/* A slice with its times on the common clock. */
struct slice {
    int64_t begin, end;
    const struct trace_record *record;
    bool unfinished;
};

struct slices {
    size_t count;
    struct slice *list;
    const struct trace_names *names; /* of loops */
    int process;                     /* by these */
};

static int track_of(const struct trace_record *r)
{
    if (r->kind == TRACE_STAY)
        return LOOPS_TRACK;
    return r->kind == TRACE_RANK ? RANK_TRACK : r->thread ? r->thread + RANK_TRACK : 0;
}

static int tid_of(const struct trace_header *p, int track)
{
    return p->process + track * TRACE_THREAD_TID;
}

/* Of two that begin together the longer one is around the other. */
static int slice_by_begin(const void *left, const void *right)
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

static void add_slice(struct slices *all, const struct trace_header *p, const struct trace_record *r, bool unfinished)
{
    if (!is_slice(r))
        return;
    all->list[all->count++] = (struct slice){.begin = buffer_common_time(p, r->begin),
                                             .end = buffer_common_time(p, r->begin + r->duration),
                                             .record = r,
                                             .unfinished = unfinished};
}

/* What was not over when the process was ended, up to its last sign of life. */
static void add_open_slices(struct slices *all, const struct trace_header *p, struct trace_record open[TRACE_OPEN])
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
        add_slice(all, p, &open[i], true);
    }
}

/* The same of stays, up to the last turn that was. */
static void add_open_stays(struct slices *all, const struct trace_header *p, struct trace_record open[LOOPS_LAPS])
{
    for (int i = 0; i < LOOPS_LAPS; i++) {
        const struct trace_stay *stay = &p->stays[i];
        if (stay->turns <= 0 || p->finished)
            continue;
        open[i] = (struct trace_record){.kind = TRACE_STAY,
                                        .begin = stay->begin,
                                        .duration = stay->end - stay->begin,
                                        .name = (uint16_t)i,
                                        .a = stay->turns,
                                        .b = stay->pc,
                                        .c = trace_millionths(stay)};
        add_slice(all, p, &open[i], true);
    }
}

/* Stays lie in each other or behind each other, as viewers want it; but for jumps into the midst of a loop. */
static void cut_stays(struct slices *all)
{
    int64_t around[LOOPS_LAPS];
    int depth = 0;
    for (size_t i = 0; i < all->count; i++) {
        struct slice *s = &all->list[i];
        if (s->record->kind != TRACE_STAY)
            continue;
        while (depth && around[depth - 1] <= s->begin)
            depth--;
        if (depth && s->end > around[depth - 1])
            s->end = around[depth - 1];
        if (depth < LOOPS_LAPS)
            around[depth++] = s->end;
    }
}

static void collect_slices(struct slices *all, const struct trace_header *p, struct trace_record open[OPEN_MOST])
{
    size_t most = OPEN_MOST;
    for (int lane = 0; lane < TRACE_LANES; lane++)
        most += p->lanes[lane].used;
    *all = (struct slices){.list = malloc(most * sizeof *all->list)};
    if (!all->list)
        return;
    for (int lane = 0; lane < TRACE_LANES; lane++)
        for (uint32_t i = 0; i < p->lanes[lane].used; i++)
            add_slice(all, p, &buffer_records(p, (enum trace_lane_name)lane)[i], false);
    add_open_slices(all, p, open);
    add_open_stays(all, p, open + TRACE_OPEN);
    qsort(all->list, all->count, sizeof *all->list, slice_by_begin);
    cut_stays(all);
}

/* ---- A process: what slices are called ---------------------------------------------------------- */

static const char *element_text(const struct trace_header *p, int pc)
{
    return pc < p->elements ? p->names[pc] : "element";
}

/* ,"sent":{"process 1":200000,...} in that adaptation; of more than a few the rest is added up. */
static size_t describe_traffic(const struct trace_header *p, int64_t adaptation, enum trace_kind kind, char *text,
                               size_t size)
{
    const struct trace_record *r = buffer_records(p, TRACE_STRUCTURE), *end = r + p->lanes[TRACE_STRUCTURE].used;
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

static const char *function_text(int function)
{
    return function < INTERPOSE_FUNCTIONS ? epop__interpose_name((enum interpose_function)function) : "MPI";
}

static void describe_stay(const struct trace_header *p, const struct slices *all, const struct trace_record *r,
                          char name[NAME], char more[MORE])
{
    double share = r->c / 1e6;
    snprintf(name, NAME, "%s", names_of(all->names, all->process, r->name));
    size_t length =
        (size_t)snprintf(more, MORE, "\"args\":{\"pc\":%d,\"iterations\":%lld,\"call\":\"%s\"", r->b, (long long)r->a,
                         function_text(r->name < LOOPS_LAPS ? p->loops[r->name].head.what : INTERPOSE_FUNCTIONS));
    if (share < 1)
        snprintf(more + length, MORE - length, ",\"mtct\":%.6f", share / (1 - share));
}

/* Its name, and the arguments without the closing brace; what category it is of. */
static const char *describe_slice(const struct trace_header *p, const struct slices *all, const struct trace_record *r,
                                  char name[NAME], char more[MORE])
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
    case TRACE_STAY:
        describe_stay(p, all, r, name, more);
        return "loop";
    default:
        snprintf(name, NAME, "%s", function_text(r->name));
        snprintf(more, MORE, "\"args\":{");
        return "mpi";
    }
}

static void write_slice(struct trace_out *out, const struct trace_header *p, const struct slices *all,
                        const struct slice *s)
{
    char name[NAME], more[MORE + 40];
    const char *category = describe_slice(p, all, s->record, name, more);
    size_t length = strlen(more);
    if (s->unfinished)
        length += (size_t)snprintf(more + length, sizeof more - length, "%s\"unfinished\":true",
                                   more[length - 1] == '{' ? "" : ",");
    snprintf(more + length, sizeof more - length, "}");
    out_event(out, &(struct trace_event){'X', p->process, tid_of(p, track_of(s->record)), s->begin, s->end - s->begin,
                                         name, category, strcmp(more, "\"args\":{}") ? more : NULL});
}

/* ---- A process: its tracks ---------------------------------------------------------------------- */

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
    bool used[LOOPS_TRACK + 1] = {false};
    out_escape(p->host, host, sizeof host);
    snprintf(more, sizeof more, "\"args\":{\"name\":\"process %d (host %s, pid %d)\"}", p->process, host, p->pid);
    out_event(out, &(struct trace_event){'M', p->process, p->process, -1, -1, "process_name", NULL, more});
    snprintf(more, sizeof more, "\"args\":{\"sort_index\":%d}", p->process + 1);
    out_event(out, &(struct trace_event){'M', p->process, p->process, -1, -1, "process_sort_index", NULL, more});
    name_track(out, p, 0, "thread_name", "program", 0);
    name_track(out, p, RANK_TRACK, "thread_name", "rank", 0);
    for (size_t i = 0; i < all->count; i++)
        used[track_of(all->list[i].record)] = true;
    if (used[LOOPS_TRACK])
        name_track(out, p, LOOPS_TRACK, "thread_name", "loops", 0);
    for (int track = RANK_TRACK + 1; track < LOOPS_TRACK; track++)
        if (used[track])
            name_track(out, p, track, "thread_name", "thread %d", track - RANK_TRACK);
}

/* The MPI share, from one sample to the next. Perfetto shows the name and the key: "MPI share". */
static void write_mpi_share(struct trace_out *out, const struct trace_header *p)
{
    const struct trace_record *samples = buffer_records(p, TRACE_SAMPLES);
    for (uint32_t i = 0; i < p->lanes[TRACE_SAMPLES].used; i++) {
        char more[80];
        bool last = i + 1 == p->lanes[TRACE_SAMPLES].used;
        int64_t time = last ? 0 : samples[i + 1].begin - samples[i].begin;
        double share = time > 0 ? (double)(samples[i + 1].a - samples[i].a) / (double)time : 0;
        snprintf(more, sizeof more, "\"args\":{\"share\":%.4f}", share < 1 ? share : 1);
        out_event(out, &(struct trace_event){'C', p->process, p->process, buffer_common_time(p, samples[i].begin), -1,
                                             "MPI", NULL, more});
    }
}

void events_of_process(struct trace_out *out, const struct trace_buffers *buffers, int index,
                       const struct trace_names *names)
{
    const struct trace_header *process = buffers->buffers[index];
    struct trace_record open[OPEN_MOST];
    struct slices all;
    collect_slices(&all, process, open);
    if (!all.list)
        return;
    all.names = names;
    all.process = index;
    name_tracks(out, process, &all);
    for (size_t i = 0; i < all.count; i++) {
        bool twice = i && !memcmp(all.list[i].record, all.list[i - 1].record, sizeof *all.list[i].record);
        if (!twice)
            write_slice(out, process, &all, &all.list[i]);
    }
    write_mpi_share(out, process);
    free(all.list);
}

/* ---- Who sent how much to whom ------------------------------------------------------------------ */

struct flow_end {
    const struct trace_header *process;
    const struct trace_record *record;
    int from, to;
};

struct flow_ends {
    size_t count;
    struct flow_end *list;
};

/* Of one move the sender's end comes first. */
static int end_by_move(const void *left, const void *right)
{
    const struct flow_end *a = left, *b = right;
    const int keys[2][5] = {{a->record->c, a->record->name, a->from, a->to, a->record->kind},
                            {b->record->c, b->record->name, b->from, b->to, b->record->kind}};
    for (int i = 0; i < 5; i++)
        if (keys[0][i] != keys[1][i])
            return keys[0][i] < keys[1][i] ? -1 : 1;
    return 0;
}

static bool is_flow_end(const struct trace_record *r)
{
    return r->kind == TRACE_SENT || r->kind == TRACE_RECEIVED;
}

static void collect_flow_ends(struct flow_ends *ends, const struct trace_buffers *all)
{
    size_t most = 1;
    for (int i = 0; i < all->count; i++)
        most += all->buffers[i]->lanes[TRACE_STRUCTURE].used;
    *ends = (struct flow_ends){.list = malloc(most * sizeof *ends->list)};
    for (int i = 0; ends->list && i < all->count; i++) {
        const struct trace_header *p = all->buffers[i];
        const struct trace_record *r = buffer_records(p, TRACE_STRUCTURE), *end = r + p->lanes[TRACE_STRUCTURE].used;
        for (; r < end; r++)
            if (is_flow_end(r) && r->kind == TRACE_SENT)
                ends->list[ends->count++] = (struct flow_end){p, r, p->process, r->b};
            else if (is_flow_end(r))
                ends->list[ends->count++] = (struct flow_end){p, r, r->b, p->process};
    }
    if (ends->list)
        qsort(ends->list, ends->count, sizeof *ends->list, end_by_move);
}

static void write_flow_end(struct trace_out *out, const struct flow_end *end, bool sends, int id)
{
    char more[200];
    snprintf(more, sizeof more, "\"id\":%d,%s\"args\":{\"bytes\":%lld,\"from\":%d,\"to\":%d,\"adaptation\":%d}", id,
             sends ? "" : "\"bp\":\"e\",", (long long)end->record->a, end->from, end->to, end->record->c);
    out_event(out, &(struct trace_event){sends ? 's' : 'f', end->process->process, end->process->process,
                                         buffer_common_time(end->process, end->record->begin), -1, "data",
                                         "redistribution", more});
}

static bool same_move(const struct flow_end *sent, const struct flow_end *received)
{
    return sent->record->kind == TRACE_SENT && received->record->kind == TRACE_RECEIVED &&
           sent->record->c == received->record->c && sent->record->name == received->record->name &&
           sent->from == received->from && sent->to == received->to;
}

void events_of_flows(struct trace_out *out, const struct trace_buffers *all)
{
    struct flow_ends ends;
    int id = 0;
    collect_flow_ends(&ends, all);
    for (size_t i = 0; i + 1 < ends.count; i++) {
        if (!same_move(&ends.list[i], &ends.list[i + 1]))
            continue;
        write_flow_end(out, &ends.list[i], true, ++id);
        write_flow_end(out, &ends.list[++i], false, id);
    }
    free(ends.list);
}
