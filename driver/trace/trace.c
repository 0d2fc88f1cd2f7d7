/*
 * The trace driver: what every process does when, in one file for Perfetto and other viewers of Chrome's trace format.
 * Each process writes records into a buffer of its own; when the job is over, or killed, a process beside process 0,
 * the collector, makes the file of them. docs/reference/trace.md describes the file.
 */
#include <epop/elastic.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "driver/common/builtin.h"
#include "driver/trace/buffer.h"
#include "driver/trace/collector.h"
#include "driver/trace/handover.h"
#include "driver/trace/out.h"
#include "driver/trace/recorder.h"
#include "runtime/base/clock.h"
#include "runtime/base/say.h"
#include "runtime/job/job.h"

/* ---- Options ------------------------------------------------------------------------------------ */

struct trace_options {
    char output[4096]; /* "": PROGRAM.trace.json */
    int64_t least_call, limit, buffer;
};

struct unit {
    const char *name;
    double factor;
};

static const struct unit times[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"", 1e9}, {NULL, 0}};
static const struct unit sizes[] = {{"", 1}, {"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {NULL, 0}};

static const epop_driver_option_t trace_option_list[] = {
    {"trace-output", "FILE", "where the trace goes (PROGRAM.trace.json)"},
    {"trace-mpi", "TIME", "show calls of MPI that take this long, as 500ns, 10us, 1ms (10us)"},
    {"trace-limit", "SIZE", "most bytes of the file, as 500K, 64M, 1G; from 64K on (64M)"},
    {"trace-buffer", "SIZE", "most memory of each process; from 64K to 1G (4M)"},
    {NULL, NULL, NULL}};

static void trace_options_init(struct trace_options *options)
{
    *options = (struct trace_options){.least_call = 10000, .limit = 64 << 20, .buffer = 4 << 20};
}

/* A number from 0 on with one of the units, or -1. */
static int64_t parse_quantity(const char *text, const struct unit *units)
{
    char *end;
    double number = decimal_read(text, &end);
    if (end == text || !isfinite(number) || number < 0)
        return -1;
    for (const struct unit *unit = units; unit->name; unit++)
        if (!strcmp(end, unit->name))
            return number * unit->factor < 1e18 ? (int64_t)(number * unit->factor) : -1;
    return -1;
}

static int set_in_range(int64_t *option, int64_t value, int64_t least, int64_t most)
{
    if (value < least || value > most)
        return EPOP_ERR_ARGUMENT;
    *option = value;
    return EPOP_OK;
}

static int set_output_path(struct trace_options *options, const char *value)
{
    if (!value[0] || strlen(value) >= sizeof options->output)
        return EPOP_ERR_ARGUMENT;
    snprintf(options->output, sizeof options->output, "%s", value);
    return EPOP_OK;
}

/* EPOP_OK, or EPOP_ERR_ARGUMENT: the value is none for that option. */
static int trace_options_set(struct trace_options *options, const char *name, const char *value)
{
    if (!strcmp(name, "trace-output"))
        return set_output_path(options, value);
    if (!strcmp(name, "trace-mpi"))
        return set_in_range(&options->least_call, parse_quantity(value, times), 0, INT64_MAX);
    if (!strcmp(name, "trace-limit"))
        return set_in_range(&options->limit, parse_quantity(value, sizes), TRACE_BUFFER_MIN, INT64_MAX);
    return set_in_range(&options->buffer, parse_quantity(value, sizes), TRACE_BUFFER_MIN, 1 << 30);
}

/* ---- The state of this process ------------------------------------------------------------------ */

static struct trace {
    struct trace_options options;
    const epop_program_t *program; /* only valid while it is loaded */
    int process;
    struct error error;
    char directory[400]; /* the job's, on this host */
    int in_use;          /* marks it; -1: not used */
    bool observes;
    struct recorder recorder;
    struct collector collector;
    int64_t held, adapting; /* when the hold, and the adapt block began */
    int64_t ready, entered; /* of a joining process: when its INIT was over, and when it came into the program */
    bool adapted;           /* there was an adaptation in this hold */
    uint32_t holds;         /* that had none */
} trace = {.in_use = -1, .collector = {.lifeline = -1}};

/* ---- Begin -------------------------------------------------------------------------------------- */

static int trace_open_driver(void **state)
{
    *state = &trace;
    ticks_start();
    trace_options_init(&trace.options);
    return EPOP_OK;
}

static int trace_option(void *state, const char *name, const char *value)
{
    return trace_options_set(&((struct trace *)state)->options, name, value);
}

static int trace_loaded(void *state, const epop_program_t *program, int process)
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

static const char *trace_explain(void *state)
{
    const struct trace *t = state;
    return t->error.text[0] ? t->error.text : NULL;
}

/* A trace is no reason to end a job that has begun. */
static void complain_of_no_trace(const struct trace *t, const char *what)
{
    say_line("trace: %s: %s", what, t->process == 0 ? "there will be no trace" : "this process is not traced");
}

/* In the directory of process 0's host the collector finds the buffers; from elsewhere they are sent. */
static const char *place_of_buffer(struct trace *t, const struct clock_reading *reading)
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
    complain_of_no_trace(t, t->error.text);
    return -1;
}

/* At the first INIT in this process: the control plane is up by then, and no block has run. */
static void begin_tracing(struct trace *t, const epop_program_t *program)
{
    struct clock_reading reading = {0};
    if (epop__job_clock(&reading) != 0)
        reading = (struct clock_reading){0};
    const char *directory = place_of_buffer(t, &reading);
    if (recorder_begin(&t->recorder, directory, t->process, (size_t)t->options.buffer, t->options.least_call)) {
        error_set(&t->error, ERROR_FAILED, "no buffer in %s: %s", directory ? directory : "memory", strerror(errno));
        complain_of_no_trace(t, t->error.text);
        return;
    }
    recorder_describe(&t->recorder, program);
    recorder_note_clock(&t->recorder, &reading);
    if (begin_collector(t))
        recorder_end(&t->recorder);
    else
        t->observes = recorder_observe_mpi(&t->recorder) == 0;
    if (t->recorder.buffer)
        recorder_sample(&t->recorder, t->recorder.buffer->started, true);
}

/* ---- Ranks -------------------------------------------------------------------------------------- */

static void open_rank(struct trace *t, int64_t now, int64_t adaptation, int rank, int size)
{
    recorder_open(&t->recorder, OPEN_RANK, &(struct trace_open){.begin = now, .a = adaptation, .b = rank, .c = size});
}

static void close_rank(struct trace *t, int64_t now)
{
    recorder_close(&t->recorder, OPEN_RANK, now, (uint32_t)t->recorder.buffer->open[OPEN_RANK].a);
}

/* The program has ended here, or this process has left it: all slices are closed. */
static void finish_slices(struct trace *t)
{
    int64_t now = recorder_now(&t->recorder);
    recorder_close(&t->recorder, OPEN_ELEMENT, now, 0);
    close_rank(t, now);
    recorder_sample(&t->recorder, now, true);
    recorder_read_clock(&t->recorder);
    t->recorder.buffer->finished = true;
}

/* ---- The walk ----------------------------------------------------------------------------------- */

static void trace_element_enter(void *state, const epop_position_t *p)
{
    struct trace *t = state;
    bool init = p->program->elements[p->pc].type == EPOP_INIT;
    if (init && !t->recorder.buffer)
        begin_tracing(t, p->program);
    if (!t->recorder.buffer)
        return;
    struct trace_header *b = t->recorder.buffer;
    b->finished = false;
    b->visits++;
    stays_begin(&t->recorder, p->pc);
    if (!buffer_keeps(&b->lanes[TRACE_ELEMENTS], (uint32_t)p->visit, 0))
        return;
    int64_t now = recorder_now(&t->recorder);
    recorder_open(
        &t->recorder, OPEN_ELEMENT,
        &(struct trace_open){.begin = now, .a = p->visit, .b = p->rank, .c = p->size, .name = (uint16_t)p->pc});
    if (init && epop_status() != EPOP_JOINING)
        open_rank(t, now, 0, p->rank, p->size);
}

static void trace_element_leave(void *state, const epop_position_t *p)
{
    struct trace *t = state;
    if (!t->recorder.buffer)
        return;
    stays_end(&t->recorder);
    if (!t->recorder.buffer->open[OPEN_ELEMENT].begin)
        return;
    int64_t now = recorder_now(&t->recorder);
    recorder_close(&t->recorder, OPEN_ELEMENT, now, (uint32_t)p->visit);
    recorder_sample(&t->recorder, now, false);
    t->ready = now;
}

/* Ranks keep the same iterations: they agree on visit and iteration, whenever they came in. */
static uint32_t number_of_iteration(const epop_position_t *p)
{
    return (uint32_t)(p->visit + p->iteration);
}

static void trace_iteration_begin(void *state, const epop_position_t *p)
{
    struct trace *t = state;
    if (!t->recorder.buffer)
        return;
    struct trace_header *b = t->recorder.buffer;
    b->iterations++;
    stays_begin(&t->recorder, p->pc);
    if (!buffer_keeps(&b->lanes[TRACE_ITERATIONS], number_of_iteration(p), 0))
        return;
    recorder_open(
        &t->recorder, OPEN_ITERATION,
        &(struct trace_open){
            .begin = recorder_now(&t->recorder), .a = p->iteration, .b = (int32_t)p->visit, .name = (uint16_t)p->pc});
}

static void trace_iteration_end(void *state, const epop_position_t *p)
{
    struct trace *t = state;
    if (!t->recorder.buffer)
        return;
    stays_end(&t->recorder);
    if (!t->recorder.buffer->open[OPEN_ITERATION].begin)
        return;
    int64_t now = recorder_now(&t->recorder);
    recorder_close(&t->recorder, OPEN_ITERATION, now, number_of_iteration(p));
    recorder_sample(&t->recorder, now, false);
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
    recorder_add(&t->recorder, TRACE_STRUCTURE, &record);
}

static void trace_hold_begin(void *state, const epop_position_t *p)
{
    struct trace *t = state;
    (void)p;
    if (!t->recorder.buffer)
        return;
    stays_end(&t->recorder);
    t->held = recorder_now(&t->recorder);
    if (t->recorder.buffer->open[OPEN_ELEMENT].begin)
        t->entered = t->recorder.buffer->open[OPEN_ELEMENT].begin;
    else
        t->entered = t->held;
    t->adapted = false;
    recorder_open(&t->recorder, OPEN_STEP, &(struct trace_open){.begin = t->held, .name = STEP_HOLD});
}

static void trace_hold_end(void *state, const epop_position_t *p)
{
    struct trace *t = state;
    (void)p;
    if (!t->recorder.buffer)
        return;
    if (!t->adapted)
        add_step(t, STEP_HOLD, t->held, recorder_now(&t->recorder), NULL);
    t->recorder.buffer->open[OPEN_STEP].begin = 0;
}

static void trace_adaptation_begin(void *state, const epop_position_t *p)
{
    struct trace *t = state;
    (void)p;
    if (!t->recorder.buffer)
        return;
    t->adapting = recorder_now(&t->recorder);
    recorder_open(&t->recorder, OPEN_STEP, &(struct trace_open){.begin = t->adapting, .name = STEP_ADAPT});
}

/* Calls of EPOP's own are slices, too: a step that begins or ends in the midst of one has all of it, so that each slice
 * lies within another or beside it. */
static void add_step_with_calls(struct trace *t, enum trace_step step, int64_t begin, int64_t end,
                                const epop_adapted_t *adapted)
{
    const struct trace_header *b = t->recorder.buffer;
    const struct trace_record *calls = buffer_records(b, TRACE_CALLS);
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
            recorder_add(&t->recorder, TRACE_STRUCTURE, &record);
        record.kind = TRACE_RECEIVED;
        record.begin = adapted->move_end > adapted->move_begin ? adapted->move_end - 1 : adapted->move_end;
        record.a = with->received;
        if (with->received)
            recorder_add(&t->recorder, TRACE_STRUCTURE, &record);
    }
}

static void trace_adapted(void *state, const epop_position_t *p, const epop_adapted_t *adapted)
{
    struct trace *t = state;
    (void)p;
    if (!t->recorder.buffer)
        return;
    int64_t now = recorder_now(&t->recorder);
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
        finish_slices(t);
}

/* ---- End ---------------------------------------------------------------------------------------- */

static void trace_finished(void *state, const epop_position_t *p)
{
    struct trace *t = state;
    (void)p;
    if (t->recorder.buffer)
        finish_slices(t);
}

static void trace_failed(void *state, const epop_position_t *p, int error)
{
    struct trace *t = state;
    (void)p;
    if (!t->recorder.buffer)
        return;
    stays_end(&t->recorder);
    t->recorder.buffer->last = recorder_now(&t->recorder);
    t->recorder.buffer->failure = error;
}

static char *trace_record_text(void *state, int last)
{
    struct trace *t = state;
    if (!t->recorder.buffer || t->recorder.shared)
        return NULL;
    char *text = handover_pack(t->recorder.buffer);
    for (int lane = 0; last && lane < TRACE_LANES; lane++)
        t->recorder.buffer->lanes[lane].used = 0;
    return text;
}

static int trace_write(void *state, const epop_job_t *job)
{
    struct trace *t = state;
    if (!t->recorder.buffer)
        return EPOP_ERR_SYSTEM;
    handover_unpack(t->directory, job);
    handover_job(t->directory, job);
    return collector_finish(&t->collector) ? EPOP_ERR_SYSTEM : EPOP_OK;
}

static void trace_close(void *state)
{
    struct trace *t = state;
    if (t->observes)
        recorder_unobserve_mpi();
    collector_finish(&t->collector);
    recorder_end(&t->recorder);
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
    .open = trace_open_driver,
    .option = trace_option,
    .loaded = trace_loaded,
    .element_enter = trace_element_enter,
    .element_leave = trace_element_leave,
    .iteration_begin = trace_iteration_begin,
    .iteration_end = trace_iteration_end,
    .adaptation_begin = trace_adaptation_begin,
    .finished = trace_finished,
    .failed = trace_failed,
    .close = trace_close,
    .hold_begin = trace_hold_begin,
    .hold_end = trace_hold_end,
    .adapted = trace_adapted,
    .explain = trace_explain,
    .record = trace_record_text,
    .write = trace_write,
};
