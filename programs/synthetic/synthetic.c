/*
 * Phases whose iterations take the time that a speedup and a share of MPI say, by sleeping, so that any number of ranks
 * on few cores takes the time that it would take on as many nodes. It owns data that resizes move, and books every
 * iteration on every rank; at the end it verifies both, and says the work that it did.
 *
 *     mpiexec.mpich -n 4 epop --start 2 synthetic mib=64 phase=read kind=rigid seconds=1 \
 *         phase=solve iterations=200 seconds=0.5 speedup=amdahl:0.1 min=1 max=4
 *
 * mib         of the data, 1
 * phase       begins one, and names it for the reader; what follows it is said of this phase:
 * kind        elastic, or rigid: no resize in it
 * iterations  how many, 1
 * seconds     of one on one rank, 0.1
 * speedup     linear, amdahl:SERIAL, or table:1=1,2=1.9,4=3.4 with straight lines between these; linear
 * mtct        MPI time to compute time; if it is not said, all that does not speed up is MPI
 * min, max    ranks that it accepts, 1 and any
 */
#include <epop/epop.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PHASES = 16, POINTS = 16, BOOKS = 5040 };
enum { START, CHOOSE, ELASTIC, ELASTIC_DONE, RIGID, RIGID_DONE, REPORT, ELEMENTS };
enum { PHASE, DONE, ALL, RESIZES, PLACES }; /* which phase, its iterations, those of all, and resizes */

typedef struct phase {
    bool rigid;
    int64_t iterations;
    double seconds, mtct; /* mtct < 0: by the speedup */
    double serial;        /* < 0: by the points; none: linear */
    int points, ranks[POINTS];
    double speedups[POINTS];
    int min, max;
} phase_t;

typedef struct synthetic {
    phase_t phases[PHASES + 1];
    int64_t count;         /* of phases */
    int64_t place[PLACES]; /* the same on every rank */
    epop_dist_t dist, books;
    int64_t *values, *booked; /* this rank's */
    double due;               /* when the present iteration is over; 0: it is the first since the rank came or moved */
} synthetic_t;

static epop_sizes_t sizes; /* of the present phase */

/* ---- The time that an iteration takes */

static double speedup_at(const phase_t *p, int ranks)
{
    if (p->serial >= 0)
        return 1 / (p->serial + (1 - p->serial) / ranks);
    double n = 1, s = 1; /* of the point before */
    for (int i = 0; i < p->points; i++) {
        if (p->ranks[i] >= ranks)
            return p->ranks[i] > n ? s + (p->speedups[i] - s) * (ranks - n) / (p->ranks[i] - n) : p->speedups[i];
        n = p->ranks[i];
        s = p->speedups[i];
    }
    return p->points ? s : ranks;
}

/* The mean time in MPI of an iteration that takes `seconds`. One rank is late by `late`: the others wait for it. */
static double late_by(const phase_t *p, int ranks, double seconds)
{
    double mtct = p->mtct >= 0 ? p->mtct : ranks / speedup_at(p, ranks) - 1;
    double late = ranks > 1 && mtct > 0 ? seconds * mtct / (1 + mtct) * ranks / (ranks - 1) : 0;
    return late < seconds ? late : seconds;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void sleep_until(double when)
{
    struct timespec time = {(time_t)when, (long)(1e9 * (when - (double)(time_t)when))};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
        ;
}

/* A rank that was held up for long does not catch up, one that is late by little does. */
static int iterate(void *data)
{
    synthetic_t *s = data;
    const phase_t *p = &s->phases[s->place[PHASE]];
    int rank, size, least = 0;
    MPI_Comm_rank(epop_world(), &rank);
    MPI_Comm_size(epop_world(), &size);
    double seconds = p->seconds / speedup_at(p, size), begin = now();
    s->due = (begin - s->due > seconds / 2 ? begin : s->due) + seconds;
    bool last = s->place[ALL] % size == rank;
    sleep_until(s->due - (last ? 0 : late_by(p, size, seconds)));
    for (int64_t i = epop_dist_local_count(s->books, rank, size); i-- > 0;)
        s->booked[i]++;
    s->place[DONE]++;
    s->place[ALL]++;
    return MPI_Allreduce(&rank, &least, 1, MPI_INT, MPI_MIN, epop_world());
}

static int more(void *data)
{
    const synthetic_t *s = data;
    return s->place[DONE] < s->phases[s->place[PHASE]].iterations;
}

static int choose(int pc, void *data)
{
    synthetic_t *s = data;
    if (pc != CHOOSE) {
        s->place[PHASE]++;
        s->place[DONE] = 0;
        return CHOOSE;
    }
    const phase_t *p = &s->phases[s->place[PHASE]];
    if (s->place[PHASE] == s->count)
        return REPORT;
    sizes.min = p->min;
    sizes.max = p->max;
    return p->rigid ? RIGID : ELASTIC;
}

static void progress(void *data, epop_progress_t *progress)
{
    const synthetic_t *s = data;
    *progress = (epop_progress_t){.iteration = s->place[DONE], .bound = s->phases[s->place[PHASE]].iterations};
}

/* ---- The arguments */

static int take_points(phase_t *p, const char *text)
{
    int read = 0;
    for (; *text && p->points < POINTS; text += read, p->points++) {
        if (sscanf(text, "%d=%lf%n", &p->ranks[p->points], &p->speedups[p->points], &read) != 2)
            return 1;
        read += text[read] == ',';
    }
    return *text != 0;
}

static int take_speedup(phase_t *p, const char *text)
{
    if (strncmp(text, "table:", 6) == 0)
        return take_points(p, text + 6);
    return strcmp(text, "linear") != 0 && sscanf(text, "amdahl:%lf", &p->serial) != 1;
}

static int take_of_phase(phase_t *p, const char *argument)
{
    long long iterations;
    if (sscanf(argument, "iterations=%lld", &iterations) == 1)
        p->iterations = iterations;
    else if (strncmp(argument, "speedup=", 8) == 0)
        return take_speedup(p, argument + 8);
    else if (strcmp(argument, "kind=rigid") == 0 || strcmp(argument, "kind=elastic") == 0)
        p->rigid = argument[5] == 'r';
    else
        return sscanf(argument, "seconds=%lf", &p->seconds) != 1 && sscanf(argument, "mtct=%lf", &p->mtct) != 1 &&
               sscanf(argument, "min=%d", &p->min) != 1 && sscanf(argument, "max=%d", &p->max) != 1;
    return p->iterations < 0 || p->seconds < 0;
}

static int take(synthetic_t *s, const char *argument)
{
    double mib;
    if (sscanf(argument, "mib=%lf", &mib) == 1 && mib >= 0)
        s->dist = epop_dist_block((int64_t)(mib * 1048576 / sizeof(int64_t)));
    else if (strncmp(argument, "phase=", 6) == 0 && s->count < PHASES)
        s->phases[s->count++] = (phase_t){.iterations = 1, .seconds = 0.1, .serial = -1, .mtct = -1};
    else
        return s->count == 0 || take_of_phase(&s->phases[s->count - 1], argument);
    return 0;
}

/* ---- The data */

static int64_t value_of(int64_t element)
{
    return element * 1000003 + 7;
}

static int64_t own_count(epop_dist_t dist, int *rank, int *size)
{
    MPI_Comm_rank(epop_world(), rank);
    MPI_Comm_size(epop_world(), size);
    return epop_dist_local_count(dist, *rank, *size);
}

/* Local: a joining process comes here too, and gets its elements in the adapt block. */
static int start(int *argc, char ***argv, void **data)
{
    synthetic_t *s = calloc(1, sizeof *s);
    if (!s)
        return EPOP_ERR_MEMORY;
    *data = s;
    s->dist = epop_dist_block(131072);
    s->books = epop_dist_block(BOOKS);
    for (int i = 1; i < *argc; i++)
        if (take(s, (*argv)[i]) != 0) {
            fprintf(stderr, "synthetic: argument '%s' is not understood, or there is no phase= before it\n",
                    (*argv)[i]);
            return EPOP_ERR_ARGUMENT;
        }
    sizes = (epop_sizes_t){.min = s->phases[0].min, .max = s->phases[0].max};
    if (epop_status() == EPOP_JOINING)
        return 0;
    int rank, size;
    int64_t count = own_count(s->dist, &rank, &size);
    s->values = malloc(((size_t)count + 1) * sizeof *s->values);
    s->booked = calloc(BOOKS, sizeof *s->booked);
    for (int64_t i = 0; s->values && i < count; i++)
        s->values[i] = value_of(epop_dist_global(s->dist, rank, size, i));
    return s->values && s->booked ? 0 : EPOP_ERR_MEMORY;
}

static int adapt(void *data)
{
    synthetic_t *s = data;
    epop_window_t window = {0};
    int error = epop_adapt_begin(&window);
    s->place[RESIZES]++;
    s->due = 0;
    if (error == 0)
        error = epop_redist(&window, s->dist, MPI_INT64_T, &s->values);
    if (error == 0)
        error = epop_redist(&window, s->books, MPI_INT64_T, &s->booked);
    if (error == 0)
        error = epop_redist_replicated(&window, s->place, PLACES, MPI_INT64_T);
    sizes.min = s->phases[s->place[PHASE]].min;
    sizes.max = s->phases[s->place[PHASE]].max;
    if (error == 0)
        error = epop_adapt_commit();
    if (window.status == EPOP_LEAVING)
        free(s);
    return error;
}

/* Elements that are right, and iterations that are booked on all counters alike: -1 if not. */
static void verify(const synthetic_t *s, int64_t *right, int64_t *least)
{
    int rank, size;
    *right = 0;
    *least = s->place[ALL];
    for (int64_t i = own_count(s->dist, &rank, &size); i-- > 0;)
        *right += s->values[i] == value_of(epop_dist_global(s->dist, rank, size, i));
    for (int64_t i = own_count(s->books, &rank, &size); i-- > 0;)
        *least = s->booked[i] == s->place[ALL] ? *least : -1;
    MPI_Allreduce(MPI_IN_PLACE, right, 1, MPI_INT64_T, MPI_SUM, epop_world());
    MPI_Allreduce(MPI_IN_PLACE, least, 1, MPI_INT64_T, MPI_MIN, epop_world());
}

static int report(void *data)
{
    synthetic_t *s = data;
    int rank, size;
    int64_t right, booked, asked = 0;
    own_count(s->dist, &rank, &size);
    verify(s, &right, &booked);
    for (int64_t i = 0; i < s->count; i++)
        asked += s->phases[i].iterations;
    if (rank == 0)
        printf("synthetic: %lld of %lld iterations, %lld of %lld elements right, %lld resizes, %d ranks at the end\n",
               (long long)booked, (long long)asked, (long long)right, (long long)s->dist.count,
               (long long)s->place[RESIZES], size);
    int wrong = booked != s->place[ALL] || right != s->dist.count;
    free(s->values);
    free(s->booked);
    free(s);
    return wrong;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_alloc(ELEMENTS);
    if (!program)
        return NULL;
    program->name = "synthetic";
    program->finalizer = REPORT;
    epop_element_t *e = program->elements;
    e[START] = (epop_element_t){.type = EPOP_INIT, .name = "start", .init = start};
    e[CHOOSE] = (epop_element_t){.type = EPOP_BRANCH, .name = "choose", .branch_condition = choose};
    e[ELASTIC] = (epop_element_t){.type = EPOP_EP, .name = "elastic", .phase_exec = iterate, .phase_adapt = adapt};
    e[RIGID] = (epop_element_t){.type = EPOP_RP, .name = "rigid", .phase_exec = iterate};
    for (int i = ELASTIC; i <= RIGID; i += 2) {
        e[i].loop_condition = more;
        e[i].progress = progress;
        e[i].sizes = &sizes;
        e[i + 1] = (epop_element_t){.type = EPOP_BRANCH, .name = "next", .branch_condition = choose};
    }
    e[REPORT] = (epop_element_t){.type = EPOP_RP, .name = "report", .phase_exec = report};
    return program;
}
