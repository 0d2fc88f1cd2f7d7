/* The steps: see steps.h. */
#include "steps.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

#define RANKS_MAX 16

/* Sent to both neighbours in a ring and not completed yet; those of persistent requests stay. */
struct exchange {
    int64_t out[2], in[2];
    MPI_Request requests[4];
    int64_t where;
    bool open;
};

static struct {
    MPI_Comm halves, rows, ring;
    MPI_Win window;
    int64_t *shared;
    int rank, size, left, right;
} at = {.halves = MPI_COMM_NULL, .rows = MPI_COMM_NULL, .ring = MPI_COMM_NULL, .window = MPI_WIN_NULL};

static struct exchange overlap = {.open = false}, persistent;

void steps_wrong(const char *what, int64_t value, int64_t expected)
{
    printf("WRONG: %s: %lld instead of %lld on rank %d of %d\n", what, (long long)value, (long long)expected, at.rank,
           at.size);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 9);
}

static void expect(const char *what, int64_t value, int64_t expected)
{
    if (value != expected)
        steps_wrong(what, value, expected);
}

static bool has(const struct shape *shape, enum kind kind)
{
    for (int l = 0; l < shape->loops; l++)
        for (int i = 0; i < shape->loop[l].count; i++)
            if (shape->loop[l].steps[i].kind == kind)
                return true;
    return false;
}

/* ---- What is made for a world ------------------------------------------------------ */

static void open_persistent(void)
{
    struct exchange *x = &persistent;
    int to[2] = {at.left, at.right};
    for (int i = 0; i < 2; i++) {
        MPI_Send_init(&x->out[i], 1, MPI_INT64_T, to[i], 100 + i, MPI_COMM_WORLD, &x->requests[i]);
        MPI_Recv_init(&x->in[i], 1, MPI_INT64_T, to[1 - i], 100 + i, MPI_COMM_WORLD, &x->requests[2 + i]);
    }
    x->open = true;
}

void steps_open(const struct shape *shape, MPI_Comm world)
{
    MPI_Comm_rank(world, &at.rank);
    MPI_Comm_size(world, &at.size);
    at.left = (at.rank + at.size - 1) % at.size;
    at.right = (at.rank + 1) % at.size;
    if (has(shape, STEP_HALVES))
        MPI_Comm_split(world, 2 * at.rank / at.size, 0, &at.halves);
    if (has(shape, STEP_ROWS))
        MPI_Comm_split(world, at.rank % 2, 0, &at.rows);
    if (has(shape, STEP_NEIGHBOURS))
        MPI_Cart_create(world, 1, &at.size, &(int){1}, 0, &at.ring);
    if (has(shape, STEP_FENCE))
        MPI_Win_allocate(sizeof *at.shared, sizeof *at.shared, MPI_INFO_NULL, world, &at.shared, &at.window);
}

void steps_complete(void)
{
    if (overlap.open)
        MPI_Waitall(4, overlap.requests, MPI_STATUSES_IGNORE);
    overlap.open = false;
}

void steps_close(void)
{
    MPI_Comm *comms[] = {&at.halves, &at.rows, &at.ring};
    for (int i = 0; i < 3; i++)
        if (*comms[i] != MPI_COMM_NULL)
            MPI_Comm_free(comms[i]);
    if (at.window != MPI_WIN_NULL)
        MPI_Win_free(&at.window);
    for (int i = 0; persistent.open && i < 4; i++)
        MPI_Request_free(&persistent.requests[i]);
    persistent.open = false;
}

/* ---- Messages ------------------------------------------------------------------------ */

static void sendrecv(int to, int from, int tag, int64_t where)
{
    int64_t in = -1;
    MPI_Sendrecv(&where, 1, MPI_INT64_T, to, tag, &in, 1, MPI_INT64_T, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (from != MPI_PROC_NULL)
        expect("message", in, where);
}

static void do_sendrecv(int64_t where)
{
    sendrecv(at.right, at.left, 1, where);
    sendrecv(at.left, at.right, 2, where);
}

static void post(struct exchange *x, int64_t where)
{
    int to[2] = {at.left, at.right};
    *x = (struct exchange){.out = {where, where}, .where = where, .open = true};
    for (int i = 0; i < 2; i++) {
        MPI_Irecv(&x->in[i], 1, MPI_INT64_T, to[1 - i], 3 + i, MPI_COMM_WORLD, &x->requests[i]);
        MPI_Isend(&x->out[i], 1, MPI_INT64_T, to[i], 3 + i, MPI_COMM_WORLD, &x->requests[2 + i]);
    }
}

static void check(const struct exchange *x)
{
    expect("message from the left", x->in[1], x->where);
    expect("message from the right", x->in[0], x->where);
}

static void do_isend(int64_t where)
{
    struct exchange x;
    post(&x, where);
    MPI_Waitall(4, x.requests, MPI_STATUSES_IGNORE);
    check(&x);
}

static void do_tested(int64_t where)
{
    struct exchange x;
    post(&x, where);
    for (int done = 0; !done; sched_yield())
        MPI_Testall(4, x.requests, &done, MPI_STATUSES_IGNORE);
    check(&x);
}

/* All ranks post in the same order, so the tags may be those of others. */
static void do_overlap(int64_t where)
{
    if (overlap.open) {
        steps_complete();
        check(&overlap);
    }
    post(&overlap, where);
}

static void do_persistent(int64_t where)
{
    struct exchange *x = &persistent;
    if (!x->open)
        open_persistent();
    x->out[0] = x->out[1] = x->where = where;
    MPI_Startall(4, x->requests);
    MPI_Waitall(4, x->requests, MPI_STATUSES_IGNORE);
    check(x);
}

static void do_pipeline(int64_t where)
{
    int64_t in;
    if (at.rank > 0) {
        MPI_Recv(&in, 1, MPI_INT64_T, at.rank - 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect("message of the pipeline", in, where);
    }
    if (at.rank < at.size - 1)
        MPI_Send(&where, 1, MPI_INT64_T, at.rank + 1, 5, MPI_COMM_WORLD);
}

static void do_matched(int64_t where)
{
    int64_t in;
    MPI_Message message;
    if (at.rank > 0) {
        MPI_Mprobe(at.rank - 1, 6, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(&in, 1, MPI_INT64_T, &message, MPI_STATUS_IGNORE);
        expect("message of the pipeline", in, where);
    }
    if (at.rank < at.size - 1)
        MPI_Send(&where, 1, MPI_INT64_T, at.rank + 1, 6, MPI_COMM_WORLD);
}

/* A rank may be an iteration ahead: the tag keeps its messages apart. */
static void do_gather(int64_t where)
{
    int tag = 1000 + (int)(where % 1000000);
    int64_t in;
    if (at.rank)
        MPI_Send(&where, 1, MPI_INT64_T, 0, tag, MPI_COMM_WORLD);
    for (int i = 1; at.rank == 0 && i < at.size; i++) {
        MPI_Recv(&in, 1, MPI_INT64_T, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect("message from any rank", in, where);
    }
}

static void do_pair(int64_t where)
{
    if (at.size > 1 && at.rank == 0)
        sendrecv(at.size - 1, at.size - 1, 7, where);
    else if (at.size > 1 && at.rank == at.size - 1)
        sendrecv(0, 0, 7, where);
}

/* ---- Collectives --------------------------------------------------------------------- */

static void allreduce(MPI_Comm comm, int64_t where)
{
    int64_t mine[2] = {where, -where}, most[2];
    MPI_Allreduce(mine, most, 2, MPI_INT64_T, MPI_MAX, comm);
    expect("most of all iterations", most[0], where);
    expect("least of all iterations", -most[1], where);
}

static void do_allreduce(int64_t where)
{
    allreduce(MPI_COMM_WORLD, where);
}

static void do_halves(int64_t where)
{
    allreduce(at.halves, where);
}

static void do_rows(int64_t where)
{
    allreduce(at.rows, where);
}

static void do_iallreduce(int64_t where)
{
    int64_t most;
    MPI_Request request;
    MPI_Iallreduce(&where, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("most of all iterations", most, where);
}

static void do_bcast(int64_t where)
{
    int64_t value = where;
    MPI_Bcast(&value, 1, MPI_INT64_T, (int)(where % at.size), MPI_COMM_WORLD);
    expect("broadcast", value, where);
}

static void do_barrier(int64_t where)
{
    (void)where;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void do_ibarrier(int64_t where)
{
    MPI_Request request;
    (void)where;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (int done = 0; !done; sched_yield())
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

static void do_alltoall(int64_t where)
{
    int64_t out[RANKS_MAX], in[RANKS_MAX];
    for (int r = 0; r < at.size; r++)
        out[r] = where;
    MPI_Alltoall(out, 1, MPI_INT64_T, in, 1, MPI_INT64_T, MPI_COMM_WORLD);
    for (int r = 0; r < at.size; r++)
        expect("element of alltoall", in[r], where);
}

static void do_fence(int64_t where)
{
    MPI_Win_fence(0, at.window);
    MPI_Put(&where, 1, MPI_INT64_T, at.right, 0, 1, MPI_INT64_T, at.window);
    MPI_Win_fence(0, at.window);
    expect("element that was put", *at.shared, where);
}

static void do_neighbours(int64_t where)
{
    int64_t in[2];
    MPI_Neighbor_allgather(&where, 1, MPI_INT64_T, in, 1, MPI_INT64_T, at.ring);
    expect("element of a neighbour", in[0], where);
    expect("element of a neighbour", in[1], where);
}

/* ---- One step -------------------------------------------------------------------------- */

static void work(int microseconds)
{
    static uint64_t state = 1;
    int time = shape_below(&state, 2 * microseconds + at.rank + 1);
    nanosleep(&(struct timespec){.tv_nsec = 1000L * time}, NULL);
}

void steps_do(const struct step *step, int64_t where)
{
    static void (*const table[STEP_KINDS])(int64_t) = {[STEP_SENDRECV] = do_sendrecv,
                                                       [STEP_ISEND] = do_isend,
                                                       [STEP_TESTED] = do_tested,
                                                       [STEP_PERSISTENT] = do_persistent,
                                                       [STEP_PIPELINE] = do_pipeline,
                                                       [STEP_MATCHED] = do_matched,
                                                       [STEP_GATHER] = do_gather,
                                                       [STEP_PAIR] = do_pair,
                                                       [STEP_OVERLAP] = do_overlap,
                                                       [STEP_ALLREDUCE] = do_allreduce,
                                                       [STEP_BCAST] = do_bcast,
                                                       [STEP_BARRIER] = do_barrier,
                                                       [STEP_ALLTOALL] = do_alltoall,
                                                       [STEP_IALLREDUCE] = do_iallreduce,
                                                       [STEP_IBARRIER] = do_ibarrier,
                                                       [STEP_HALVES] = do_halves,
                                                       [STEP_ROWS] = do_rows,
                                                       [STEP_FENCE] = do_fence,
                                                       [STEP_NEIGHBOURS] = do_neighbours};
    if (step->kind == STEP_WORK) {
        work(step->times);
        return;
    }
    for (int i = 0; i < step->times; i++)
        table[step->kind](where);
}
