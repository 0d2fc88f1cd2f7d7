/* What the stages of an iteration do. */
#include "stages.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double clock_of(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

double stages_now(void)
{
    return clock_of(CLOCK_MONOTONIC);
}

double stages_host_clock(void)
{
    return clock_of(CLOCK_REALTIME);
}

void stages_sleep_until(double when)
{
    struct timespec time = {(time_t)when, (long)(1e9 * (when - (double)(time_t)when))};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
        ;
}

/* ---- Computing */

static volatile double result; /* so that the compiler cannot leave out what nobody reads */

/* The share of random points of a square that lie in the circle. */
static void compute_pi(int64_t samples)
{
    uint64_t random = 88172645463325252;
    int64_t inside = 0;
    for (int64_t i = 0; i < samples; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        double x = (double)(random >> 32) / 4294967296.0, y = (double)(random & 0xffffffff) / 4294967296.0;
        inside += x * x + y * y < 1;
    }
    result = 4 * (double)inside / (double)samples;
}

static void compute_matrix(const double *matrix, int64_t edge)
{
    double sum = 0;
    for (int64_t i = 0; i < edge * edge; i++)
        sum += matrix[i] * matrix[i];
    result = sum;
}

static void compute(const struct stages *s, const struct stage *stage)
{
    if (stage->kind == PI)
        compute_pi(stage->granularity);
    else
        compute_matrix(s->matrix, stage->granularity);
}

/* For the largest matrix of all stages. */
static int open_matrix(struct stages *s, const struct task *task)
{
    int64_t edge = 0;
    for (int i = 0; i < task->stage_count; i++)
        if (task->stages[i].kind == MATRIX && task->stages[i].granularity > edge)
            edge = task->stages[i].granularity;
    s->matrix = edge ? malloc((size_t)(edge * edge) * sizeof *s->matrix) : NULL;
    if (edge && !s->matrix) {
        fprintf(stderr, "synthetic: out of memory for a matrix of %lld rows and columns\n", (long long)edge);
        return EPOP_ERR_MEMORY;
    }
    for (int64_t i = 0; i < edge * edge; i++)
        s->matrix[i] = 1.1 * (double)(i / edge + i % edge);
    return 0;
}

/* Twice as many operations until they take long enough for the clock; processor time, as other ranks may run here. */
static double measure_compute(const struct stages *s, const struct stage *stage)
{
    double took = 0;
    int64_t count = 1;
    for (;; count *= 2) {
        double begin = clock_of(CLOCK_THREAD_CPUTIME_ID);
        for (int64_t i = 0; i < count; i++)
            compute(s, stage);
        took = clock_of(CLOCK_THREAD_CPUTIME_ID) - begin;
        if (took > 0.01)
            return took / (double)count;
    }
}

int stages_measure(struct task *task)
{
    struct stages s = {0};
    int error = open_matrix(&s, task);
    for (int i = 0; i < task->stage_count && !error; i++)
        if (task_computes(&task->stages[i]))
            task->stages[i].operation = measure_compute(&s, &task->stages[i]);
    stages_close(&s);
    return error;
}

/* ---- Communicating */

static int64_t message_bytes(const struct stage *stage)
{
    return stage->bytes ? stage->bytes : stage->granularity;
}

/* All give to the one half of the ranks away: with an even number of ranks pairs exchange. */
static int exchange(const struct stages *s, int bytes)
{
    int to = (s->rank + s->size / 2) % s->size, from = (s->rank - s->size / 2 + s->size) % s->size;
    return MPI_Sendrecv(s->out, bytes, MPI_BYTE, to, 0, s->in, bytes, MPI_BYTE, from, 0, epop_world(),
                        MPI_STATUS_IGNORE);
}

/* The bytes are those of all blocks together. */
static int gather(struct stages *s, int bytes)
{
    epop_dist_t blocks = epop_dist_block(bytes);
    for (int i = 0, start = 0; i < s->size; start += s->counts[i++]) {
        s->counts[i] = (int)epop_dist_local_count(blocks, i, s->size);
        s->starts[i] = start;
    }
    return MPI_Allgatherv(s->out, s->counts[s->rank], MPI_BYTE, s->in, s->counts, s->starts, MPI_BYTE, epop_world());
}

static int communicate(struct stages *s, const struct stage *stage)
{
    int bytes = (int)message_bytes(stage);
    switch (stage->kind) {
    case POINT:
        return exchange(s, bytes);
    case BCAST:
        return MPI_Bcast(s->out, bytes, MPI_BYTE, 0, epop_world());
    case ALLGATHERV:
        return gather(s, bytes);
    case REDUCE:
        return MPI_Reduce(s->out, s->in, bytes, MPI_UNSIGNED_CHAR, MPI_MAX, 0, epop_world());
    default:
        return MPI_Allreduce(s->out, s->in, bytes, MPI_UNSIGNED_CHAR, MPI_MAX, epop_world());
    }
}

static int open_buffers(struct stages *s, const struct task *task)
{
    int64_t most = 0;
    for (int i = 0; i < task->stage_count; i++)
        if (task_communicates(&task->stages[i]) && message_bytes(&task->stages[i]) > most)
            most = message_bytes(&task->stages[i]);
    s->out = calloc(1, (size_t)most + 1);
    s->in = calloc(1, (size_t)most + 1);
    s->counts = calloc((size_t)s->size, sizeof *s->counts);
    s->starts = calloc((size_t)s->size, sizeof *s->starts);
    if (s->out && s->in && s->counts && s->starts)
        return 0;
    fprintf(stderr, "synthetic: out of memory for messages of %lld bytes\n", (long long)most);
    return EPOP_ERR_MEMORY;
}

/* The same on all ranks, by the clock of rank 0. */
static int measure_communication(struct stages *s, const struct stage *stage, double *operation)
{
    int error = 0;
    for (int count = 1; !error; count *= 2) {
        MPI_Barrier(epop_world());
        double begin = stages_now();
        for (int i = 0; i < count && !error; i++)
            error = communicate(s, stage);
        double took = stages_now() - begin;
        if (!error)
            error = MPI_Bcast(&took, 1, MPI_DOUBLE, 0, epop_world());
        *operation = took / count;
        if (took > 0.005)
            break;
    }
    return error;
}

static bool is_measured(const struct stage *stage)
{
    return task_communicates(stage) && !stage->bytes && !stage->capped && stage->seconds > 0;
}

int stages_open(struct stages *s, const struct task *task)
{
    MPI_Comm_rank(epop_world(), &s->rank);
    MPI_Comm_size(epop_world(), &s->size);
    int error = open_buffers(s, task);
    if (!error)
        error = open_matrix(s, task);
    for (int i = 0; i < task->stage_count && !error; i++)
        if (is_measured(&task->stages[i]))
            error = measure_communication(s, &task->stages[i], &s->operation[i]);
    s->due = 0;
    return error;
}

void stages_close(struct stages *s)
{
    free(s->out);
    free(s->in);
    free(s->counts);
    free(s->starts);
    free(s->matrix);
    *s = (struct stages){0};
}

/* ---- A stage of an iteration */

/* The mean time in MPI of an iteration that takes `seconds`. One rank is late by `late`: the others wait for it. */
static double late_by(const struct phase *p, int ranks, double seconds)
{
    double mtct = p->mtct >= 0 ? p->mtct : ranks / task_speedup(p, ranks) - 1;
    double late = ranks > 1 && mtct > 0 ? seconds * mtct / (1 + mtct) * ranks / (ranks - 1) : 0;
    return late < seconds ? late : seconds;
}

/* Where nothing but this is done, a rank that was held up for long does not catch up, one that is late by little does.
 */
static int sleep_stage(struct stages *s, const struct phase *p, double seconds, bool last)
{
    int least = 0;
    double begin = stages_now();
    bool alone = p->stages == 1 && begin - s->due <= seconds / 2;
    s->due = (alone ? s->due : begin) + seconds;
    stages_sleep_until(s->due - (last ? 0 : late_by(p, s->size, seconds)));
    return MPI_Allreduce(&s->rank, &least, 1, MPI_INT, MPI_MIN, epop_world());
}

static int64_t operations(double seconds, double operation)
{
    return seconds > 0 ? (int64_t)ceil(seconds / operation) : 0;
}

/* Until the time is over: of what communicates, by the clock of rank 0. */
static int run_capped(struct stages *s, const struct stage *stage, double seconds)
{
    int error = 0, goes_on = seconds > 0;
    double end = stages_now() + seconds;
    while (goes_on && !error) {
        if (task_communicates(stage))
            error = communicate(s, stage);
        else
            compute(s, stage);
        goes_on = stages_now() < end;
        if (task_communicates(stage) && !error)
            error = MPI_Bcast(&goes_on, 1, MPI_INT, 0, epop_world());
    }
    return error;
}

static int run_communication(struct stages *s, const struct stage *stage, double seconds, double operation)
{
    int error = 0;
    for (int64_t i = stage->bytes ? 1 : operations(seconds, operation); i-- > 0 && !error;)
        error = communicate(s, stage);
    return error;
}

int stages_run(struct stages *s, const struct task *task, const struct phase *phase, const struct stage *stage,
               double factor, bool last)
{
    double seconds = stage->seconds * factor / task_speedup(phase, s->size);
    if (stage->kind == NOTHING)
        return 0;
    if (stage->kind == SLEEP)
        return sleep_stage(s, phase, seconds, last);
    if (stage->capped)
        return run_capped(s, stage, seconds);
    if (task_communicates(stage))
        return run_communication(s, stage, seconds, s->operation[stage - task->stages]);
    for (int64_t i = operations(seconds, stage->operation); i-- > 0;)
        compute(s, stage);
    return 0;
}
