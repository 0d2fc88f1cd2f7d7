/* This process's buffer: see own.h. */
#include "driver/trace/own.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver/trace/merge.h"
#include "runtime/base/clock.h"
#include "runtime/job/job.h"

/* ---- Begin and end --------------------------------------------------------------------- */

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

int own_begin(struct trace_own *own, const char *directory, int process, size_t size, int64_t least_call)
{
    int file = directory ? make_file(directory, process, size) : -1;
    if (directory && file < 0)
        return -1;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | (directory ? 0 : MAP_ANONYMOUS), file, 0);
    if (file >= 0)
        close(file);
    if (memory == MAP_FAILED)
        return -1;
    *own = (struct trace_own){.buffer = memory, .shared = directory, .busy = ATOMIC_FLAG_INIT};
    lanes_init(own->buffer, size, least_call);
    own->buffer->process = process;
    own->buffer->pid = (int32_t)getpid();
    gethostname(own->buffer->host, sizeof own->buffer->host - 1);
    own->buffer->started = own->buffer->last = monotonic_ns();
    return 0;
}

void own_describe(struct trace_own *own, const epop_program_t *program)
{
    struct trace_header *b = own->buffer;
    snprintf(b->program, sizeof b->program, "%s", program->name ? program->name : "");
    b->elements = program->size < TRACE_NAMES_MAX ? program->size : TRACE_NAMES_MAX;
    for (int pc = 0; pc < b->elements; pc++) {
        const epop_element_t *element = &program->elements[pc];
        snprintf(b->names[pc], sizeof b->names[pc], "%s",
                 element->name ? element->name : epop_element_type_name(element->type));
    }
}

void own_note_clock(struct trace_own *own, const struct clock_reading *reading)
{
    struct trace_header *b = own->buffer;
    b->same_clock = reading->same_clock;
    b->clock[b->clocks > 0] = (struct trace_clock){reading->at, reading->offset, reading->uncertainty};
    b->clocks = b->clocks > 0 ? 2 : 1;
}

void own_read_clock(struct trace_own *own)
{
    struct clock_reading reading;
    if (!own->buffer->same_clock && epop__job_clock(&reading) == 0)
        own_note_clock(own, &reading);
}

void own_end(struct trace_own *own)
{
    if (own->buffer)
        munmap(own->buffer, own->buffer->size);
    own->buffer = NULL;
}

/* ---- Records ------------------------------------------------------------------------------ */

void own_add(struct trace_own *own, enum trace_lane_name lane, const struct trace_record *record)
{
    int64_t end = record->begin + record->duration;
    while (atomic_flag_test_and_set_explicit(&own->busy, memory_order_acquire))
        ;
    if (end > own->buffer->last)
        own->buffer->last = end;
    lane_add(own->buffer, lane, record);
    atomic_flag_clear_explicit(&own->busy, memory_order_release);
}

void own_close(struct trace_own *own, enum trace_open_name which, int64_t now, uint32_t number)
{
    static const struct {
        enum trace_kind kind;
        enum trace_lane_name lane;
    } kinds[TRACE_OPEN] = {[OPEN_RANK] = {TRACE_RANK, TRACE_STRUCTURE},
                           [OPEN_STEP] = {TRACE_STEP, TRACE_STRUCTURE},
                           [OPEN_ELEMENT] = {TRACE_ELEMENT, TRACE_ELEMENTS},
                           [OPEN_ITERATION] = {TRACE_ITERATION, TRACE_ITERATIONS},
                           [OPEN_CALL] = {TRACE_CALL, TRACE_CALLS}};
    struct trace_open *o = &own->buffer->open[which];
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
    own_add(own, kinds[which].lane, &record);
    o->begin = 0;
}

/* The number counts time, so that what is kept of a full lane lies evenly apart. */
void own_sample(struct trace_own *own, int64_t now, bool always)
{
    if (now < own->next_sample && !always)
        return;
    int64_t interval = (now - own->buffer->started) / TRACE_SAMPLE_NS;
    own->next_sample = own->buffer->started + (interval + 1) * TRACE_SAMPLE_NS;
    own_add(own, TRACE_SAMPLES,
            &(struct trace_record){.kind = TRACE_SAMPLE,
                                   .begin = now,
                                   .a = own->buffer->call_total,
                                   .number = always ? 0 : (uint32_t)interval});
}
