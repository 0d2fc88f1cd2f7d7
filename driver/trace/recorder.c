/*
 * Records what this process does in its trace buffer: slices, samples of the time in MPI, and MPI calls that take
 * long.
 */
#include "driver/trace/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "interpose/interpose.h"
#include "runtime/base/clock.h"
#include "runtime/base/host.h"
#include "runtime/job/job.h"

/* ---- Begin and end ------------------------------------------------------------------------------ */

/* The whole room is taken now: where it ran out later, writing to the memory would be SIGBUS. */
static int take_room(int file, size_t size)
{
    if (fallocate(file, 0, 0, (off_t)size) == 0)
        return 0;
    return errno == EOPNOTSUPP || errno == ENOSYS ? ftruncate(file, (off_t)size) : -1;
}

/* A file of that size. One that is too large for the user's limit is an error, and not the end of the process. */
static int make_file(const char *directory, int process, size_t size)
{
    char path[4400];
    struct sigaction before, ignore = {.sa_handler = SIG_IGN};
    snprintf(path, sizeof path, "%s/%s%d", directory, TRACE_BUFFER_NAME, process);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        return -1;
    sigaction(SIGXFSZ, &ignore, &before);
    int failure = take_room(file, size) ? errno : 0;
    sigaction(SIGXFSZ, &before, NULL);
    if (!failure)
        return file;
    unlink(path);
    close(file);
    errno = failure;
    return -1;
}

int recorder_begin(struct recorder *recorder, const char *directory, int process, size_t size, int64_t least_call)
{
    int file = directory ? make_file(directory, process, size) : -1;
    if (directory && file < 0)
        return -1;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | (directory ? 0 : MAP_ANONYMOUS), file, 0);
    if (file >= 0)
        close(file);
    if (memory == MAP_FAILED)
        return -1;
    *recorder = (struct recorder){.buffer = memory, .shared = directory, .busy = ATOMIC_FLAG_INIT};
    buffer_init(recorder->buffer, size, least_call);
    recorder->buffer->process = process;
    recorder->buffer->pid = (int32_t)getpid();
    snprintf(recorder->buffer->host, sizeof recorder->buffer->host, "%s", host_own());
    recorder->buffer->started = recorder->buffer->last = recorder_now(recorder);
    return 0;
}

void recorder_describe(struct recorder *recorder, const epop_program_t *program)
{
    struct trace_header *b = recorder->buffer;
    snprintf(b->program, sizeof b->program, "%s", program->name ? program->name : "");
    b->elements = program->size < TRACE_NAMES_MAX ? program->size : TRACE_NAMES_MAX;
    for (int pc = 0; pc < b->elements; pc++) {
        const epop_element_t *element = &program->elements[pc];
        snprintf(b->names[pc], sizeof b->names[pc], "%s",
                 element->name ? element->name : epop_element_type_name(element->type));
    }
}

void recorder_note_clock(struct recorder *recorder, const struct clock_reading *reading)
{
    struct trace_header *b = recorder->buffer;
    b->same_clock = reading->same_clock;
    b->clock[b->clocks > 0] = (struct trace_clock){reading->at, reading->offset, reading->uncertainty};
    b->clocks = b->clocks > 0 ? 2 : 1;
}

void recorder_read_clock(struct recorder *recorder)
{
    struct clock_reading reading;
    if (!recorder->buffer->same_clock && epop__job_clock(&reading) == 0)
        recorder_note_clock(recorder, &reading);
}

void recorder_end(struct recorder *recorder)
{
    if (recorder->buffer)
        munmap(recorder->buffer, recorder->buffer->size);
    recorder->buffer = NULL;
    follower_free(&recorder->stays.follower);
}

/* ---- Records ------------------------------------------------------------------------------------ */

static void add(struct recorder *recorder, enum trace_lane_name lane, const struct trace_record *record)
{
    int64_t end = record->begin + record->duration;
    if (end > recorder->buffer->last)
        recorder->buffer->last = end;
    buffer_add(recorder->buffer, lane, record);
}

/* All threads add calls; all else is the program's thread's. */
void recorder_add(struct recorder *recorder, enum trace_lane_name lane, const struct trace_record *record)
{
    if (lane != TRACE_CALLS) {
        add(recorder, lane, record);
        return;
    }
    while (atomic_flag_test_and_set_explicit(&recorder->busy, memory_order_acquire))
        ;
    add(recorder, lane, record);
    atomic_flag_clear_explicit(&recorder->busy, memory_order_release);
}

void recorder_close(struct recorder *recorder, enum trace_open_name which, int64_t now, uint32_t number)
{
    static const struct {
        enum trace_kind kind;
        enum trace_lane_name lane;
    } kinds[TRACE_OPEN] = {[OPEN_RANK] = {TRACE_RANK, TRACE_STRUCTURE},
                           [OPEN_STEP] = {TRACE_STEP, TRACE_STRUCTURE},
                           [OPEN_ELEMENT] = {TRACE_ELEMENT, TRACE_ELEMENTS},
                           [OPEN_ITERATION] = {TRACE_ITERATION, TRACE_ITERATIONS},
                           [OPEN_CALL] = {TRACE_CALL, TRACE_CALLS}};
    struct trace_open *o = &recorder->buffer->open[which];
    if (!o->begin)
        return;
    struct trace_record record = {.begin = o->begin,
                                  .duration = now - o->begin,
                                  .a = o->a,
                                  .b = o->b,
                                  .c = o->c,
                                  .name = o->name,
                                  .kind = kinds[which].kind,
                                  .number = number};
    recorder_add(recorder, kinds[which].lane, &record);
    o->begin = 0;
}

/* The number counts time, so that what is kept of a full lane lies evenly apart. */
void recorder_sample(struct recorder *recorder, int64_t now, bool always)
{
    if (now < recorder->next_sample && !always)
        return;
    int64_t interval = (now - recorder->buffer->started) / TRACE_SAMPLE_NS;
    recorder->next_sample = recorder->buffer->started + (interval + 1) * TRACE_SAMPLE_NS;
    recorder_add(recorder, TRACE_SAMPLES,
                 &(struct trace_record){.kind = TRACE_SAMPLE,
                                        .begin = now,
                                        .a = recorder->buffer->call_total,
                                        .number = always ? 0 : (uint32_t)interval});
}

/* ---- Calls of MPI ------------------------------------------------------------------------------- */

/* The call that a thread is in; threads are numbered as they come, the program's is 0. */
static _Thread_local struct {
    int64_t begin;
    int number; /* + 1; 0: none yet */
} in_call;

static atomic_int threads;

static int number_thread(void)
{
    if (!in_call.number)
        in_call.number = atomic_fetch_add(&threads, 1) + 1;
    return in_call.number - 1;
}

static int64_t now_in_thread(struct recorder *recorder, int number)
{
    return number == 0 ? recorder_now(recorder) : monotonic_ns();
}

static void enter_mpi(void *context, enum interpose_function function, void *const arguments[])
{
    struct recorder *recorder = context;
    (void)arguments;
    int number = number_thread();
    int64_t now = in_call.begin = now_in_thread(recorder, number);
    if (number != 0)
        return;
    struct trace_open *open = &recorder->buffer->open[OPEN_CALL]; /* of a call the rest of it is zero */
    open->begin = now;
    open->name = (uint16_t)function;
    stays_called(recorder, function, now);
}

/* Added up in the program's thread alone, whose time the sum is compared with. */
static uint64_t count_call(struct recorder *recorder, int64_t now)
{
    struct trace_header *b = recorder->buffer;
    b->open[OPEN_CALL].begin = 0;
    b->call_total += now - in_call.begin;
    b->last = now;
    recorder_sample(recorder, now, false);
    return ++b->calls;
}

static void leave_mpi(void *context, enum interpose_function function, void *const arguments[], int result)
{
    struct recorder *recorder = context;
    int number = number_thread();
    int64_t now = now_in_thread(recorder, number), took = now - in_call.begin;
    (void)arguments;
    (void)result;
    if (number == 0)
        count_call(recorder, now);
    if (took < recorder->buffer->least_call)
        return;
    recorder_add(recorder, TRACE_CALLS,
                 &(struct trace_record){.kind = TRACE_CALL,
                                        .begin = in_call.begin,
                                        .duration = took,
                                        .name = (uint16_t)function,
                                        .thread = (uint8_t)(number < UINT8_MAX ? number : UINT8_MAX),
                                        .number = (uint32_t)recorder->buffer->lanes[TRACE_CALLS].seen});
}

static struct interpose_hooks mpi_hooks = {.enter = enter_mpi, .leave = leave_mpi};

int recorder_observe_mpi(struct recorder *recorder)
{
    mpi_hooks.context = recorder;
    number_thread();
    return epop__interpose_observe(&mpi_hooks);
}

void recorder_unobserve_mpi(void)
{
    epop__interpose_unobserve(&mpi_hooks);
}
