/*
 * The trace driver: what every process does when, in one file for Perfetto and other viewers of Chrome's trace format.
 * Each process writes records into a buffer of its own (trace/own.h); when the job is over, or killed, a process beside
 * process 0 (trace/collector.h) makes the file of them. See docs/reference/trace.md.
 */
#include <epop/elastic.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/common/builtin.h"
#include "driver/trace/calls.h"
#include "driver/trace/collector.h"
#include "driver/trace/handover.h"
#include "driver/trace/options.h"
#include "driver/trace/out.h"
#include "driver/trace/own.h"
#include "runtime/base/clock.h"
#include "runtime/base/say.h"
#include "runtime/job/job.h"

static struct trace {
    struct trace_options options;
    const epop_program_t *program; /* only valid while it is loaded */
    int process;
    struct error error;
    char directory[400]; /* the job's, on this host */
    int in_use;          /* marks it; -1: not used */
    bool observes;
    struct trace_own own;
    struct collector collector;
    int64_t held, adapting; /* when the hold, and the adapt block began */
    int64_t ready, entered; /* of a joining process: when its INIT was over, and when it came into the program */
    bool adapted;           /* there was an adaptation in this hold */
    uint32_t holds;         /* that had none */
} trace = {.in_use = -1, .collector = {.lifeline = -1}};

/* ---- Begin ------------------------------------------------------------------------------- */

static int open_trace(void **state)
{
    *state = &trace;
    trace_options_init(&trace.options);
    return EPOP_OK;
}

static int set_option(void *state, const char *name, const char *value)
{
    return trace_options_set(&((struct trace *)state)->options, name, value);
}

static int loaded(void *state, const epop_program_t *program, int process)
{
    struct trace *t = state;
    t->process = process;
    if (!t->options.output[0])
        snprintf(t->options.output, sizeof t->options.output, "%.200s.trace.json",
                 program->name && program->name[0] && !strchr(program->name, '/') ? program->name : "epop");
    if (process != 0)
        return EPOP_OK;
    return out_prepare(t->options.output, &t->error) ? EPOP_ERR_SYSTEM : EPOP_OK;
}

static const char *explain(void *state)
{
    const struct trace *t = state;
    return t->error.text[0] ? t->error.text : NULL;
}

/* A trace is no reason to end a job that has begun. */
static void complain(const struct trace *t, const char *what)
{
    say_line("trace: %s: %s", what, t->process == 0 ? "there will be no trace" : "this process is not traced");
}

/* In the directory of process 0's host the collector finds the buffers; from elsewhere they are sent. */
static const char *place(struct trace *t, const struct clock_reading *reading)
{
    if (reading->same_host)
        t->in_use = epop__job_directory("trace", t->directory, sizeof t->directory, &t->error);
    return t->in_use >= 0 ? t->directory : NULL;
}

static int begin_collector(struct trace *t)
{
    if (t->process != 0)
        return 0;
    if (t->in_use >= 0 &&
        collector_start(&t->collector, t->directory, t->in_use, t->options.output, t->options.limit, &t->error) == 0)
        return 0;
    complain(t, t->error.text);
    return -1;
}

/* At the first INIT in this process: the control plane is up by then, and no block has run. */
static void begin(struct trace *t, const epop_program_t *program)
{
    struct clock_reading reading = {0};
    if (epop__job_clock(&reading) != 0)
        reading = (struct clock_reading){0};
    const char *directory = place(t, &reading);
    if (own_begin(&t->own, directory, t->process, (size_t)t->options.buffer, t->options.least_call)) {
        error_set(&t->error, ERROR_FAILED, "no buffer in %s: %s", directory ? directory : "memory", strerror(errno));
        complain(t, t->error.text);
        return;
    }
    own_describe(&t->own, program);
    own_note_clock(&t->own, &reading);
    if (begin_collector(t))
        own_end(&t->own);
    else
        t->observes = calls_observe(&t->own) == 0;
    if (t->own.buffer)
        own_sample(&t->own, t->own.buffer->started, true);
}

/* ---- Ranks --------------------------------------------------------------------------------- */

static void open_rank(struct trace *t, int64_t now, int64_t adaptation, int rank, int size)
{
    own_open(&t->own, OPEN_RANK, &(struct trace_open){.begin = now, .a = adaptation, .b = rank, .c = size});
}

static void close_rank(struct trace *t, int64_t now)
{
    own_close(&t->own, OPEN_RANK, now, (uint32_t)t->own.buffer->open[OPEN_RANK].a);
}

/* The program has ended here, or this process has left it: all slices are closed. */
static void finish(struct trace *t)
{
    int64_t now = monotonic_ns();
    own_close(&t->own, OPEN_ELEMENT, now, 0);
    close_rank(t, now);
    own_sample(&t->own, now, true);
    own_read_clock(&t->own);
    t->own.buffer->finished = true;
}

/* ---- The walk -------------------------------------------------------------------------------- */

static void element_enter(void *state, const epop_position_t *p)
{
    struct trace *t = state;
    bool init = p->program->elements[p->pc].type == EPOP_INIT;
    if (init && !t->own.buffer)
        begin(t, p->program);
    if (!t->own.buffer)
        return;
    struct trace_header *b = t->own.buffer;
    b->finished = false;
    b->visits++;
    if (!lane_keeps(&b->lanes[TRACE_ELEMENTS], (uint32_t)p->visit, 0))
        return;
    int64_t now = monotonic_ns();
    own_open(&t->own, OPEN_ELEMENT,
             &(struct trace_open){.begin = now, .a = p->visit, .b = p->rank, .c = p->size, .name = (uint16_t)p->pc});
    if (init && epop_status() != EPOP_JOINING)
        open_rank(t, now, 0, p->rank, p->size);
}

static void element_leave(void *state, const epop_position_t *p)
{
    struct trace *t = state;
    if (!t->own.buffer || !t->own.buffer->open[OPEN_ELEMENT].begin)
        return;
    int64_t now = monotonic_ns();
    own_close(&t->own, OPEN_ELEMENT, now, (uint32_t)p->visit);
    own_sample(&t->own, now, false);
    t->ready = now;
}

/* Ranks keep the same iterations: they agree on visit and iteration, whenever they came in. */
static uint32_t number_of(const epop_position_t *p)
{
    return (uint32_t)(p->visit + p->iteration);
}

static void iteration_begin(void *state, const epop_position_t *p)
{
    struct trace *t = state;
    if (!t->own.buffer)
        return;
    struct trace_header *b = t->own.buffer;
    b->iterations++;
    if (!lane_keeps(&b->lanes[TRACE_ITERATIONS], number_of(p), 0))
        return;
    own_open(&t->own, OPEN_ITERATION,
             &(struct trace_open){
                 .begin = monotonic_ns(), .a = p->iteration, .b = (int32_t)p->visit, .name = (uint16_t)p->pc});
}

static void iteration_end(void *state, const epop_position_t *p)
{
    struct trace *t = state;
    if (!t->own.buffer || !t->own.buffer->open[OPEN_ITERATION].begin)
        return;
    int64_t now = monotonic_ns();
    own_close(&t->own, OPEN_ITERATION, now, number_of(p));
    own_sample(&t->own, now, false);
}

/* ---- Holds and adaptations ---------------------------------------------------------------------- */

static void add_step(struct trace *t, enum trace_step step, int64_t begin, int64_t end, const epop_adapted_t *adapted)
{
    if (begin <= 0 || end < begin)
        return;
    struct trace_record record = {.kind = TRACE_STEP, .begin = begin, .duration = end - begin, .name = (uint16_t)step};
    if (adapted) {
        record.a = adapted->adaptation;
        record.b = adapted->old_size;
        record.c = adapted->new_size;
        record.number = (uint32_t)adapted->adaptation;
    } else {
        record.number = t->holds++;
    }
    own_add(&t->own, TRACE_STRUCTURE, &record);
}

static void hold_begin(void *state, const epop_position_t *p)
{
    struct trace *t = state;
    (void)p;
    if (!t->own.buffer)
        return;
    t->held = monotonic_ns();
    if (t->own.buffer->open[OPEN_ELEMENT].begin)
        t->entered = t->own.buffer->open[OPEN_ELEMENT].begin;
    else
        t->entered = t->held;
    t->adapted = false;
    own_open(&t->own, OPEN_STEP, &(struct trace_open){.begin = t->held, .name = STEP_HOLD});
}

static void hold_end(void *state, const epop_position_t *p)
{
    struct trace *t = state;
    (void)p;
    if (!t->own.buffer)
        return;
    if (!t->adapted)
        add_step(t, STEP_HOLD, t->held, monotonic_ns(), NULL);
    t->own.buffer->open[OPEN_STEP].begin = 0;
}

static void adaptation_begin(void *state, const epop_position_t *p)
{
    struct trace *t = state;
    (void)p;
    if (!t->own.buffer)
        return;
    t->adapting = monotonic_ns();
    own_open(&t->own, OPEN_STEP, &(struct trace_open){.begin = t->adapting, .name = STEP_ADAPT});
}

/* Calls of EPOP's own are slices, too: a step that begins or ends in the midst of one has all of it, so that each slice
 * lies within another or beside it. */
static void add_step_with_calls(struct trace *t, enum trace_step step, int64_t begin, int64_t end,
                                const epop_adapted_t *adapted)
{
    const struct trace_header *b = t->own.buffer;
    const struct trace_record *calls = lane_records(b, TRACE_CALLS);
    int64_t first = begin, last = end;
    for (uint32_t i = 0; i < b->lanes[TRACE_CALLS].used; i++) {
        int64_t over = calls[i].begin + calls[i].duration;
        if (calls[i].thread || calls[i].begin < t->adapting || (calls[i].begin <= begin && over >= end))
            continue;
        if (calls[i].begin < begin && over > begin && calls[i].begin < first)
            first = calls[i].begin;
        if (calls[i].begin < end && over > end && over > last)
            last = over;
    }
    add_step(t, step, first, last, adapted);
}

/* An arrow begins where the data began to move, and ends where all of it had come. */
static void add_traffic(struct trace *t, const epop_adapted_t *adapted)
{
    for (int i = 0; i < adapted->traffic_count; i++) {
        const epop_traffic_t *with = &adapted->traffic[i];
        struct trace_record record = {
            .b = with->process, .c = adapted->adaptation, .number = (uint32_t)adapted->adaptation};
        record.kind = TRACE_SENT;
        record.begin = adapted->move_begin;
        record.a = with->sent;
        if (with->sent)
            own_add(&t->own, TRACE_STRUCTURE, &record);
        record.kind = TRACE_RECEIVED;
        record.begin = adapted->move_end > adapted->move_begin ? adapted->move_end - 1 : adapted->move_end;
        record.a = with->received;
        if (with->received)
            own_add(&t->own, TRACE_STRUCTURE, &record);
    }
}

static void adapted(void *state, const epop_position_t *p, const epop_adapted_t *adapted)
{
    struct trace *t = state;
    (void)p;
    if (!t->own.buffer)
        return;
    int64_t now = monotonic_ns();
    t->adapted = true;
    if (adapted->old_rank < 0)
        add_step(t, STEP_AWAIT, t->ready, t->entered, adapted);
    else
        add_step(t, STEP_HOLD, t->held, adapted->decided, adapted);
    add_step(t, STEP_ALL, t->held, now, adapted);
    add_step(t, STEP_CONNECT, adapted->decided, t->adapting, adapted);
    add_step(t, STEP_ADAPT, t->adapting, now, adapted);
    add_step_with_calls(t, STEP_MOVE, adapted->move_begin, adapted->move_end, adapted);
    add_step_with_calls(t, STEP_COMMIT, adapted->commit_begin, adapted->commit_end, adapted);
    add_traffic(t, adapted);
    close_rank(t, now);
    if (adapted->new_rank >= 0)
        open_rank(t, now, adapted->adaptation, adapted->new_rank, adapted->new_size);
    else
        finish(t);
}

/* ---- End -------------------------------------------------------------------------------------------- */

static void finished(void *state, const epop_position_t *p)
{
    struct trace *t = state;
    (void)p;
    if (t->own.buffer)
        finish(t);
}

static void failed(void *state, const epop_position_t *p, int error)
{
    struct trace *t = state;
    (void)p;
    if (!t->own.buffer)
        return;
    t->own.buffer->last = monotonic_ns();
    t->own.buffer->failure = error;
}

static char *record(void *state, int last)
{
    struct trace *t = state;
    if (!t->own.buffer || t->own.shared)
        return NULL;
    char *text = handover_pack(t->own.buffer);
    for (int lane = 0; last && lane < TRACE_LANES; lane++)
        t->own.buffer->lanes[lane].used = 0;
    return text;
}

static int write_trace(void *state, const epop_job_t *job)
{
    struct trace *t = state;
    if (!t->own.buffer)
        return EPOP_ERR_SYSTEM;
    handover_unpack(t->directory, job);
    handover_job(t->directory, job);
    return collector_finish(&t->collector) ? EPOP_ERR_SYSTEM : EPOP_OK;
}

static void close_trace(void *state)
{
    struct trace *t = state;
    if (t->observes)
        calls_unobserve();
    collector_finish(&t->collector);
    own_end(&t->own);
    if (t->in_use >= 0)
        close(t->in_use);
    t->in_use = -1;
}

const epop_driver_t driver_trace = {
    .abi_version = EPOP_DRIVER_ABI_VERSION,
    .struct_size = sizeof(epop_driver_t),
    .name = "trace",
    .summary = "writes a trace of all processes, to look at in Perfetto",
    .options = trace_option_list,
    .open = open_trace,
    .option = set_option,
    .loaded = loaded,
    .element_enter = element_enter,
    .element_leave = element_leave,
    .iteration_begin = iteration_begin,
    .iteration_end = iteration_end,
    .adaptation_begin = adaptation_begin,
    .finished = finished,
    .failed = failed,
    .close = close_trace,
    .hold_begin = hold_begin,
    .hold_end = hold_end,
    .adapted = adapted,
    .explain = explain,
    .record = record,
    .write = write_trace,
};
