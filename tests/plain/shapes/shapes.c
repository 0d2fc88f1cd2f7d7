/*
 * An elastic MPI program whose loop has a shape drawn from a seed (shape.h), and which asks for resizes itself:
 *     shapes SEED RESIZES      runs until so many were made; a line for each
 *     shapes SEED              says the shape in words
 * In each window all processes have to be at the same step of the same iteration, and what the steps send is checked.
 */
#include <epop/epop.h>
#include <epop/mpi_adapt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shape.h"
#include "steps.h"

#define SECONDS_FOR_A_RESIZE 20

/* What a joining process is given. All of them are numbers of 64 bits, for MPI. */
static struct place {
    int64_t done; /* iterations, of all loops */
    int64_t loop, iteration, step;
    uint64_t hash; /* of all that was done */
    int64_t resizes, end;
} now;

static struct shape shape;
static int wanted;

/* Of rank 0, which never leaves. */
static struct {
    uint64_t state;
    int64_t at;   /* the iteration in which to ask */
    time_t asked; /* 0: not yet */
} request;

static time_t seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1;
}

/* ---- Through the loops ----------------------------------------------------------------- */

static const struct step *here(const struct place *place)
{
    const struct step *step = &shape.loop[place->loop].steps[place->step];
    return place->iteration % step->every == step->offset ? step : NULL;
}

static void note(struct place *place)
{
    uint64_t state = place->hash ^ (uint64_t)(place->done * 64 + place->loop * 16 + place->step);
    place->hash = shape_random(&state);
}

static void advance(struct place *place)
{
    const struct loop *loop = &shape.loop[place->loop];
    if (++place->step < loop->count)
        return;
    place->step = 0;
    place->done++;
    if (++place->iteration < loop->iterations)
        return;
    place->iteration = 0;
    place->loop = (place->loop + 1) % shape.loops;
}

/* What one process without any resize would have. */
static void check_result(void)
{
    struct place one = {.done = 0};
    for (; one.done < now.done || one.step < now.step; advance(&one))
        if (here(&one) && here(&one)->kind != STEP_PROBE)
            note(&one);
    if (one.hash != now.hash)
        steps_wrong("what was done", (int64_t)now.hash, (int64_t)one.hash);
}

/* ---- Requests -------------------------------------------------------------------------- */

static int name_leavers(int ranks[], int size, int count)
{
    int named = 0;
    for (int r = 1; r < size && named < count; r++)
        if (shape_below(&request.state, size - r) < count - named)
            ranks[named++] = r;
    return named;
}

static void ask(void)
{
    int size, ranks[16], to;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    to = 1 + shape_below(&request.state, shape.most - 1);
    to += to >= size;
    epop_request_t wish = {.size = to};
    if (shape_below(&request.state, 3) == 0) { /* others than the last ones leave, also when the job grows */
        wish.release_count = name_leavers(ranks, size, to < size ? size - to : 1);
        wish.release_ranks = ranks;
    }
    if (epop_request(&wish))
        steps_wrong("a request is refused, of size", to, 0);
    request.asked = seconds();
}

static void plan_request(void)
{
    request.asked = 0;
    request.at = now.done + (shape_below(&request.state, 3) ? shape_below(&request.state, 30) : 0);
}

static void drive(int rank)
{
    if (rank || now.resizes >= wanted)
        return;
    if (!request.asked && now.done >= request.at)
        ask();
    if (request.asked && seconds() - request.asked > SECONDS_FOR_A_RESIZE)
        steps_wrong("a resize was not made; made were", now.resizes, wanted);
}

static int world_rank(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

/* ---- The window ------------------------------------------------------------------------- */

/* The old world is where all of it has come to. */
static void check_place(void)
{
    int64_t step = now.done * 64 + now.loop * 16 + now.step, mine[2] = {step, -step}, most[2];
    if (!shape_is_certain(&shape))
        return;
    MPI_Allreduce(mine, most, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (most[0] != step || -most[1] != step)
        steps_wrong("in the window, 64 * iteration + 16 * loop + step", step, most[0] != step ? most[0] : -most[1]);
}

static void carry(MPI_Comm comm)
{
    MPI_Bcast(&now, sizeof now / sizeof(int64_t), MPI_INT64_T, 0, comm);
}

static void tell(int from, int to)
{
    if (world_rank())
        return;
    printf("%d -> %d in iteration %lld, loop %lld, step %lld\n", from, to, (long long)now.done, (long long)now.loop,
           (long long)now.step);
    fflush(stdout);
}

static void after_commit(enum after_commit what)
{
    MPI_Comm copy;
    int64_t most;
    if (what == AFTER_BARRIER)
        MPI_Barrier(MPI_COMM_WORLD);
    if (what == AFTER_ALLREDUCE)
        MPI_Allreduce(&now.done, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (what != AFTER_DUP)
        return;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Allreduce(&now.done, &most, 1, MPI_INT64_T, MPI_MAX, copy);
    MPI_Comm_free(&copy);
}

static void open_world(void)
{
    if (shape.carries_late)
        carry(MPI_COMM_WORLD);
    after_commit(shape.after[0]);
    if (shape.rebuilds_late)
        steps_open(&shape, MPI_COMM_WORLD);
    after_commit(shape.after[1]);
}

static void prepare(MPI_Comm after)
{
    if (!shape.carries_late)
        carry(after);
    if (!shape.rebuilds_late)
        steps_open(&shape, after);
}

/* True: this process has left. */
static bool adapt(bool joins)
{
    MPI_Comm between, after;
    int staying, leaving, joining;
    steps_complete();
    MPI_Comm_adapt_begin(&between, &after, &staying, &leaving, &joining);
    if (!joins)
        check_place();
    steps_close();
    now.resizes++;
    now.end = now.done + 1 + (int64_t)(now.hash % 40);
    bool left = after == MPI_COMM_NULL;
    if (!left)
        prepare(after);
    MPI_Comm_adapt_commit();
    if (left)
        return true;
    open_world();
    tell(staying + leaving, staying + joining);
    plan_request();
    return false;
}

/* ---- The program ------------------------------------------------------------------------- */

static bool probe(void)
{
    int pending, status;
    MPI_Probe_adapt(&pending, &status, NULL);
    return pending == MPI_ADAPT_TRUE && adapt(status == MPI_ADAPT_STATUS_JOINING);
}

static void join(void)
{
    if (shape.probe_first)
        probe();
    else
        adapt(true);
    if (!shape.loop[now.loop].repeats)
        advance(&now);
}

/* True: this process has left. */
static bool run(void)
{
    for (; now.step || now.resizes < wanted || now.done < now.end; advance(&now)) {
        const struct step *step = here(&now);
        drive(world_rank());
        if (step && step->kind == STEP_PROBE) {
            if (probe())
                return true;
        } else if (step) {
            steps_do(step, now.done);
            note(&now);
        }
    }
    return false;
}

static void end(void)
{
    steps_complete();
    steps_close();
    if (shape_is_certain(&shape))
        check_result();
    if (world_rank() == 0)
        printf("right: %lld resizes in %lld iterations\n", (long long)now.resizes, (long long)now.done);
}

static void start(void)
{
    plan_request();
    if (shape.declared)
        setenv("EPOP_FIRST_PROBE", shape.declared, 1);
    if (shape.leave_in_commit)
        setenv("EPOP_LEAVE", "commit", 1);
}

int main(int argc, char **argv)
{
    int status;
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    shape_draw(&shape, seed);
    request.state = ~seed;
    if (argc != 3) {
        shape_describe(&shape, stdout);
        return 0;
    }
    wanted = atoi(argv[2]);
    start();
    MPI_Init_adapt(&argc, &argv, &status);
    if (status == MPI_ADAPT_STATUS_JOINING)
        join();
    else
        open_world();
    if (status != MPI_ADAPT_STATUS_JOINING && !shape.rebuilds_late)
        steps_open(&shape, MPI_COMM_WORLD);
    if (!run())
        end();
    MPI_Finalize();
    return 0;
}
