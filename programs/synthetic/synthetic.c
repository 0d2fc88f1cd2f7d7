/*
 * A synthetic program: phases whose iterations sleep, compute or communicate as they are told, data that resizes move,
 * and resizes that the program asks for itself. It books every iteration on every rank; at the end it verifies these
 * and its data, and says the work that it did. docs/reference/synthetic.md has all arguments.
 *
 *     mpiexec.mpich -n 4 epop --start 2 synthetic mib=64 phase=read kind=rigid seconds=1 \
 *         phase=solve iterations=200 seconds=0.5 speedup=amdahl:0.1 min=1 max=4
 *     mpiexec.mpich -n 4 epop --start 2 synthetic config=FILE.ini
 *
 * Sources: the .ini files of Proteo, whose model is that of Martín-Álvarez et al. (2021, 2022).
 */
#include <epop/epop.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "stages.h"
#include "task.h"
#include "times.h"

enum { BOOKS = 5040 };
enum { START, CHOOSE, ELASTIC, ELASTIC_DONE, RIGID, RIGID_DONE, REPORT, ELEMENTS };

/* Where the program is, the same on every rank but for times, which are rank 0's. */
struct place {
    int64_t phase, done, all; /* which phase, its iterations, those of all */
    int64_t next, holds;      /* of the task's resizes: the one to come, and the last that happened, or -1 */
    int64_t asked, missed;    /* when the next one was asked for, or -1; how many did not happen */
    int64_t row_count, change_count;
    double began, requested, ended; /* by the host's clock: the program, the request, the last iteration */
    double collecting;              /* seconds in the resize */
};

struct synthetic {
    struct task task;
    struct place place;
    struct row *rows;
    struct change *changes;
    int64_t *values, *constants, *booked; /* this rank's */
    struct stages stages;
    struct times times;
    bool here;              /* what is the same on every rank is here, too */
    bool resized;           /* and the last change is not complete */
    bool told;              /* that it waits */
    double ready;           /* by the host's clock: INIT */
    double waits, repeated; /* for a resize, since; when it was asked for again */
};

static epop_sizes_t sizes; /* of the present phase */

static const struct phase *present(const struct synthetic *s)
{
    return &s->task.phases[s->place.phase];
}

static bool is_first(void)
{
    int rank;
    MPI_Comm_rank(epop_world(), &rank);
    return !rank;
}

static int world_size(void)
{
    int size;
    MPI_Comm_size(epop_world(), &size);
    return size;
}

static void set_sizes(const struct synthetic *s)
{
    if (s->place.phase < s->task.phase_count)
        sizes = (epop_sizes_t){.min = present(s)->min,
                               .max = present(s)->max,
                               .scaling = present(s)->weak ? EPOP_SCALING_WEAK : EPOP_SCALING_STRONG};
}

/* ---- Resizes that the program asks for */

static const struct resize *next_resize(const struct synthetic *s)
{
    return s->place.next < s->task.resize_count ? &s->task.resizes[s->place.next] : NULL;
}

static double factor(const struct synthetic *s)
{
    return s->place.holds < 0 ? s->task.factor : s->task.resizes[s->place.holds].factor;
}

/* How many iterations may be run before the next resize has happened: the following one's beginning, or all. */
static int64_t iterations_without(const struct synthetic *s)
{
    return s->place.next + 1 < s->task.resize_count ? next_resize(s)[1].at : task_iterations(&s->task);
}

static bool waits(const struct synthetic *s)
{
    return s->place.asked >= 0 && s->place.all >= iterations_without(s) && !present(s)->rigid;
}

static void request(struct synthetic *s)
{
    if (is_first() && epop_request_resize(next_resize(s)->size) == EPOP_OK)
        s->repeated = stages_now();
}

static void miss(struct synthetic *s)
{
    if (is_first())
        fprintf(stderr,
                "synthetic: the resize to %d ranks did not happen (resize=%lld:%d); it goes on with %d; epopctl watch "
                "shows why\n",
                next_resize(s)->size, (long long)next_resize(s)->at, next_resize(s)->size, world_size());
    s->place.asked = -1;
    s->place.missed++;
    s->place.next++;
}

/* What the phase makes of its size; behind a rigid phase there may be another rule. */
static int granted(const struct synthetic *s)
{
    return epop_sizes_round_down(present(s)->rigid ? NULL : &sizes, next_resize(s)->size);
}

static bool is_possible(const struct synthetic *s)
{
    return granted(s) && granted(s) != world_size();
}

static bool is_asked_for(const struct synthetic *s, int64_t size)
{
    return s->place.asked >= 0 && size == granted(s);
}

/* What is due, and is no such size already; not more than one. */
static void ask(struct synthetic *s)
{
    while (s->place.asked < 0 && next_resize(s) && s->place.all >= next_resize(s)->at) {
        if (next_resize(s)->size == world_size()) {
            s->place.holds = s->place.next++;
        } else if (!is_possible(s)) {
            miss(s);
        } else {
            s->place.asked = s->place.all;
            s->place.requested = stages_host_clock();
            s->waits = 0;
            s->told = false;
            request(s);
        }
    }
}

/* A resize: the one that was asked for, or another one, behind which it is asked for again. */
static void pass(struct synthetic *s, int size)
{
    if (is_asked_for(s, size)) {
        s->place.holds = s->place.next++;
        s->place.asked = -1;
    } else if (s->place.asked >= 0) {
        request(s);
    }
    ask(s);
}

/* A request may have come in the middle of another one, and be forgotten. */
static void repeat_request(struct synthetic *s, double now)
{
    if (now - s->repeated < 1)
        return;
    request(s);
    if (!s->told && is_first())
        fprintf(stderr, "synthetic: it waits for the resize to %d ranks, for %g s at most (wait=SECONDS)\n",
                next_resize(s)->size, s->task.patience);
    s->told = true;
}

/* Nothing is left to be run at this size. */
static int wait_for_resize(struct synthetic *s)
{
    double begin = stages_now();
    s->waits = s->waits > 0 ? s->waits : begin;
    repeat_request(s, begin);
    stages_sleep_until(begin + 0.001);
    int over = begin - s->waits > s->task.patience || !is_possible(s);
    int error = MPI_Bcast(&over, 1, MPI_INT, 0, epop_world());
    if (over && !error) {
        miss(s);
        ask(s);
    }
    return error;
}

/* ---- Iterations */

static int run_stages(struct synthetic *s, double *seconds)
{
    const struct phase *p = present(s);
    bool last = s->place.all % s->stages.size == s->stages.rank;
    int error = s->task.barriers ? MPI_Barrier(epop_world()) : 0;
    double begin = stages_now(), end = begin;
    for (int i = 0; i < p->stages && !error; i++) {
        error = stages_run(&s->stages, &s->task, p, &s->task.stages[p->first + i], factor(s), last);
        if (s->task.barriers && !error)
            error = MPI_Barrier(epop_world());
        seconds[i + 1] = stages_now() - end;
        end += seconds[i + 1];
    }
    seconds[0] = end - begin;
    return error;
}

static void book(struct synthetic *s)
{
    for (int64_t i = epop_dist_local_count(epop_dist_block(BOOKS), s->stages.rank, s->stages.size); i-- > 0;)
        s->booked[i]++;
    s->place.done++;
    s->place.all++;
}

static int collect(struct synthetic *s)
{
    return times_collect(&s->times, &s->task, (int)s->place.phase, s->place.all, &s->rows, &s->place.row_count);
}

/* The ranks go on after a resize. Putting times together is no part of it. */
static int end_standstill(struct synthetic *s)
{
    if (!s->resized)
        return 0;
    struct change *last = &s->changes[s->place.change_count - 1];
    double until = stages_host_clock() - s->place.collecting;
    last->stood = until - s->place.ended;
    last->whole = until - last->whole;
    s->resized = false;
    return MPI_Bcast(last, sizeof *last, MPI_BYTE, 0, epop_world());
}

static int end_iteration(struct synthetic *s, const double *seconds)
{
    book(s);
    int error = times_add(&s->times, &s->task, present(s), seconds, s->place.asked >= 0);
    if (!error && s->place.done == present(s)->iterations)
        error = collect(s);
    ask(s);
    s->place.ended = stages_host_clock();
    return error;
}

static int iterate(void *data)
{
    struct synthetic *s = data;
    double seconds[STAGES + 1];
    int error = end_standstill(s);
    if (!error && !s->stages.size)
        error = stages_open(&s->stages, &s->task);
    if (error || waits(s))
        return error ? error : wait_for_resize(s);
    if (s->place.done == present(s)->iterations) /* the resize that it waited for has come */
        return 0;
    error = run_stages(s, seconds);
    return error ? error : end_iteration(s, seconds);
}

static int more(void *data)
{
    const struct synthetic *s = data;
    return s->place.done < present(s)->iterations || (waits(s) && s->place.phase == s->task.phase_count - 1);
}

static int choose(int pc, void *data)
{
    struct synthetic *s = data;
    if (pc != CHOOSE) {
        s->place.phase++;
        s->place.done = 0;
        return CHOOSE;
    }
    if (s->place.phase == s->task.phase_count)
        return REPORT;
    set_sizes(s);
    ask(s);
    return present(s)->rigid ? RIGID : ELASTIC;
}

static void progress(void *data, epop_progress_t *progress)
{
    const struct synthetic *s = data;
    *progress = (epop_progress_t){.iteration = s->place.done, .bound = present(s)->iterations};
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

static void describe(void *data, epop_description_t *d)
{
    struct synthetic *s = data;
    epop_describe_values(d, "task", &s->task, sizeof s->task);
    epop_describe_values(d, "place", &s->place, sizeof s->place);
    const struct resize *next = next_resize(s);
    unsigned constant = next && next->in_window ? 0 : EPOP_CONSTANT;
    epop_describe_array(d, "values", &s->values, MPI_INT64_T, epop_dist_block(s->task.moving), 0);
    if (s->task.ahead)
        epop_describe_array(d, "constants", &s->constants, MPI_INT64_T, epop_dist_block(s->task.ahead), constant);
    epop_describe_array(d, "books", &s->booked, MPI_INT64_T, epop_dist_block(BOOKS), 0);
    epop_describe_replicated(d, "rows", &s->rows, MPI_BYTE, s->place.row_count * (int64_t)sizeof *s->rows, 0);
    epop_describe_replicated(d, "changes", &s->changes, MPI_BYTE, s->place.change_count * (int64_t)sizeof *s->changes,
                             0);
}

static int64_t *make_values(int64_t all)
{
    int rank, size;
    epop_dist_t dist = epop_dist_block(all);
    int64_t count = own_count(dist, &rank, &size), *values = malloc(((size_t)count + 1) * sizeof *values);
    for (int64_t i = 0; values && i < count; i++)
        values[i] = value_of(epop_dist_global(dist, rank, size, i));
    return values;
}

/* On rank 0, for all. */
static int read_task(struct synthetic *s, int argc, char **argv)
{
    int error = task_read(&s->task, argc, argv);
    if (!error && s->task.ranks && s->task.ranks != world_size()) {
        fprintf(stderr, "synthetic: [resize0] has Procs=%d, and the job starts with %d ranks: epop --start %d\n",
                s->task.ranks, world_size(), s->task.ranks);
        error = EPOP_ERR_ARGUMENT;
    }
    if (!error)
        error = times_begin(&s->task);
    return error ? error : stages_measure(&s->task);
}

static int share_task(struct synthetic *s, int argc, char **argv)
{
    int wrong = is_first() ? read_task(s, argc, argv) : 0;
    int error = MPI_Bcast(&wrong, 1, MPI_INT, 0, epop_world());
    if (error || wrong)
        return error ? error : wrong;
    return MPI_Bcast(&s->task, sizeof s->task, MPI_BYTE, 0, epop_world());
}

/* A joining process comes here, too, and gets everything in the adapt block. */
static int start(int *argc, char ***argv, void **data)
{
    struct synthetic *s = calloc(1, sizeof *s);
    if (!s)
        return EPOP_ERR_MEMORY;
    *data = s;
    s->place = (struct place){.holds = -1, .asked = -1};
    s->ready = stages_host_clock();
    if (epop_status() != EPOP_NEW)
        return 0;
    int error = share_task(s, *argc, *argv);
    if (error)
        return error;
    set_sizes(s);
    s->here = true;
    s->place.began = s->place.ended = stages_host_clock();
    s->values = make_values(s->task.moving);
    s->constants = s->task.ahead ? make_values(s->task.ahead) : NULL;
    s->booked = calloc(BOOKS, sizeof *s->booked);
    return s->values && s->booked && (s->constants || !s->task.ahead) ? 0 : EPOP_ERR_MEMORY;
}

/* At a restart: what was asked for is forgotten, and clocks are others. */
static int rebuild(void *data)
{
    struct synthetic *s = data;
    s->place.asked = -1;
    s->here = true;
    s->place.began = s->place.ended = stages_host_clock();
    set_sizes(s);
    return 0;
}

static void release(void *data)
{
    struct synthetic *s = data;
    stages_close(&s->stages);
    free(s->times.seconds);
    free(s);
}

/* ---- A resize */

/* The data, how long it took, and when the last process that joins was ready. */
static int move(struct synthetic *s, const epop_window_t *window, struct change *change)
{
    double begin = stages_now();
    int error = epop_redist_described(window, describe, s);
    double latest[2] = {stages_now() - begin, window->old_rank < 0 ? s->ready : 0};
    if (!error)
        error = MPI_Allreduce(MPI_IN_PLACE, latest, 2, MPI_DOUBLE, MPI_MAX, window->all);
    *change = (struct change){.from = window->old_size,
                              .to = window->new_size,
                              .joined = window->joining,
                              .moved = latest[0],
                              .spawn = latest[1]};
    return error;
}

/* Times since the request, but for the last one, which is that of the request until it is known. */
static int keep_change(struct synthetic *s, struct change *change)
{
    bool asked = is_asked_for(s, change->to);
    struct change *more = realloc(s->changes, (size_t)(s->place.change_count + 1) * sizeof *more);
    if (!more)
        return EPOP_ERR_MEMORY;
    change->asked = asked ? s->place.asked : -1;
    change->happened = s->place.all;
    change->spawn = asked && change->joined ? change->spawn - s->place.requested : NAN;
    change->whole = asked ? s->place.requested : NAN;
    s->changes = more;
    s->changes[s->place.change_count++] = *change;
    s->here = s->resized = true;
    return 0;
}

static int collect_before(struct synthetic *s)
{
    double begin = stages_now();
    int error = s->here ? collect(s) : 0;
    s->place.collecting = stages_now() - begin;
    stages_close(&s->stages);
    return error;
}

static int adapt(void *data)
{
    struct synthetic *s = data;
    epop_window_t window = {0};
    struct change change;
    int error = collect_before(s);
    if (!error)
        error = epop_adapt_begin(&window);
    if (!error)
        error = move(s, &window, &change);
    if (error || window.status == EPOP_LEAVING)
        return error ? error : epop_adapt_commit();
    set_sizes(s);
    error = keep_change(s, &change);
    if (!error)
        error = epop_adapt_commit();
    if (!error)
        pass(s, window.new_size);
    return error;
}

/* ---- The end */

static int64_t count_right(const int64_t *values, int64_t all)
{
    int rank, size;
    int64_t right = 0;
    epop_dist_t dist = epop_dist_block(all);
    for (int64_t i = own_count(dist, &rank, &size); i-- > 0;)
        right += values[i] == value_of(epop_dist_global(dist, rank, size, i));
    return right;
}

/* Elements that are right, and iterations that are booked on all counters alike: -1 if not. */
static void verify(const struct synthetic *s, int64_t *right, int64_t *least)
{
    int rank, size;
    *right = count_right(s->values, s->task.moving) + count_right(s->constants, s->task.ahead);
    *least = s->place.all;
    for (int64_t i = own_count(epop_dist_block(BOOKS), &rank, &size); i-- > 0;)
        *least = s->booked[i] == s->place.all ? *least : -1;
    MPI_Allreduce(MPI_IN_PLACE, right, 1, MPI_INT64_T, MPI_SUM, epop_world());
    MPI_Allreduce(MPI_IN_PLACE, least, 1, MPI_INT64_T, MPI_MIN, epop_world());
}

static int report_times(struct synthetic *s)
{
    int error = end_standstill(s);
    if (!error && s->place.phase < s->task.phase_count)
        error = collect(s);
    if (error || !is_first())
        return error;
    return times_end(&s->task, s->rows, s->place.row_count, s->changes, s->place.change_count,
                     stages_host_clock() - s->place.began);
}

static int report(void *data)
{
    struct synthetic *s = data;
    int64_t right, booked, elements = s->task.moving + s->task.ahead;
    int error = report_times(s);
    verify(s, &right, &booked);
    while (s->place.phase == s->task.phase_count && next_resize(s))
        miss(s);
    if (is_first())
        printf("synthetic: %lld of %lld iterations, %lld of %lld elements right, %lld resizes, %d ranks at the end\n",
               (long long)booked, (long long)task_iterations(&s->task), (long long)right, (long long)elements,
               (long long)s->place.change_count, world_size());
    fflush(stdout);
    MPI_Barrier(epop_world()); /* as the first error ends all ranks, and what they have still to print */
    if (error)
        return error;
    return booked != s->place.all || right != elements ? 1 : s->place.missed ? EPOP_ERR_REFUSED : 0;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_alloc(ELEMENTS);
    if (!program)
        return NULL;
    program->name = "synthetic";
    program->finalizer = REPORT;
    program->describe = describe;
    program->rebuild = rebuild;
    program->release = release;
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
