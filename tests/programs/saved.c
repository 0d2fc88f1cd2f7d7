/*
 * A program whose data is described, for checkpoints: what it prints at the end depends on every bit of the data and on
 * all iterations, and not on the number of ranks. It goes several times through an elastic and a rigid phase; what is
 * constant changes in the rigid one.
 *     n=N, steps=STEPS, turns=TURNS, nap=US    size, iterations of a visit, visits, time of an iteration
 *     more=STEPS    added to those, which may be others in a run that goes on
 *     ask=STEP                                 in that step, counted over all visits, all ranks ask for a checkpoint
 *     resize=SIZE                              in step 50 they ask for that size
 *     hold=FILE                                in step 20 the ranks wait as long as that file is there, and rank 0 says
 * so until=FILE                               the first visit goes on until that file is there
 * EPOP_TEST_FAULT=more|less|kind: something is described besides, is not, or as another kind.
 */
#include "scenario.h"

struct shape {
    int64_t n, rows, cols, step, turn;
};

struct data {
    struct shape s;
    int64_t steps, turns, ask;
    int resize;
    long pause;
    const char *until, *hold, *fault;
    uint64_t *u;      /* blocks; changes in every step */
    uint32_t *k;      /* cyclic; constant in a visit */
    uint64_t *m;      /* a matrix by blocks of 2 x 3 */
    int64_t *table;   /* replicated */
    char *scratch;    /* blocks */
    MPI_Comm friends; /* made by rebuild */
};

static bool has_fault(const struct data *d, const char *fault)
{
    return d->fault && !strcmp(d->fault, fault);
}

static epop_dist2d_t matrix(const struct data *d)
{
    return (epop_dist2d_t){.rows = epop_dist_block_cyclic(d->s.rows, 2), .cols = epop_dist_block_cyclic(d->s.cols, 3)};
}

static void describe(void *data, epop_description_t *list)
{
    struct data *d = data;
    epop_describe_values(list, "shape", &d->s, sizeof d->s);
    epop_dist2d_t dist = matrix(d);
    epop_describe_array(list, "u", &d->u, MPI_UINT64_T, epop_dist_block(d->s.n), 0);
    epop_describe_array(list, "k", &d->k, MPI_UINT32_T, epop_dist_cyclic(d->s.n), EPOP_CONSTANT);
    epop_describe_matrix(list, "m", &d->m, MPI_UINT64_T, &dist, 0);
    if (has_fault(d, "kind"))
        epop_describe_array(list, "table", &d->table, MPI_INT64_T, epop_dist_block(d->s.rows), 0);
    else if (!has_fault(d, "less"))
        epop_describe_replicated(list, "table", &d->table, MPI_INT64_T, d->s.rows, 0);
    epop_describe_array(list, "scratch", &d->scratch, MPI_CHAR, epop_dist_block(d->s.n), EPOP_SCRATCH);
    if (has_fault(d, "more"))
        epop_describe_array(list, "more", &d->scratch, MPI_CHAR, epop_dist_block(d->s.n), 0);
}

static int rebuild(void *data)
{
    struct data *d = data;
    if (d->friends != MPI_COMM_NULL)
        MPI_Comm_free(&d->friends);
    return MPI_Comm_dup(epop_world(), &d->friends) != MPI_SUCCESS;
}

static void release(void *data)
{
    struct data *d = data;
    if (d->friends != MPI_COMM_NULL)
        MPI_Comm_free(&d->friends);
    free(d);
}

/* ---- What is computed ------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
    x ^= x >> 31;
    x *= 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

static int64_t count_u(const struct data *d)
{
    return epop_dist_local_count(epop_dist_block(d->s.n), rank_in(epop_world()), size_of(epop_world()));
}

static int64_t count_k(const struct data *d)
{
    return epop_dist_local_count(epop_dist_cyclic(d->s.n), rank_in(epop_world()), size_of(epop_world()));
}

static int64_t count_m(const struct data *d, epop_dist2d_t *dist, int64_t *cols)
{
    int64_t rows;
    *dist = matrix(d);
    epop_grid_near_square(size_of(epop_world()), &dist->grid_rows, &dist->grid_cols);
    epop_dist2d_local(dist, rank_in(epop_world()), &rows, cols);
    return rows * *cols;
}

static int64_t global_m(const epop_dist2d_t *dist, int64_t cols, int64_t i)
{
    int rank = rank_in(epop_world());
    return epop_dist_global(dist->rows, rank / dist->grid_cols, dist->grid_rows, i / cols) * 1000 +
           epop_dist_global(dist->cols, rank % dist->grid_cols, dist->grid_cols, i % cols);
}

static int make(struct data *d)
{
    int64_t cols, u = count_u(d), k = count_k(d);
    epop_dist2d_t dist;
    int64_t m = count_m(d, &dist, &cols);
    int rank = rank_in(epop_world()), size = size_of(epop_world());
    d->u = u ? malloc((size_t)u * sizeof *d->u) : NULL;
    d->k = k ? malloc((size_t)k * sizeof *d->k) : NULL;
    d->m = m ? malloc((size_t)m * sizeof *d->m) : NULL;
    d->table = malloc((size_t)d->s.rows * sizeof *d->table);
    d->scratch = u ? calloc(1, (size_t)u) : NULL;
    for (int64_t i = 0; i < u; i++)
        d->u[i] = mix((uint64_t)epop_dist_global(epop_dist_block(d->s.n), rank, size, i));
    for (int64_t i = 0; i < k; i++)
        d->k[i] = (uint32_t)epop_dist_global(epop_dist_cyclic(d->s.n), rank, size, i);
    for (int64_t i = 0; i < m; i++)
        d->m[i] = mix((uint64_t)global_m(&dist, cols, i));
    for (int64_t i = 0; i < d->s.rows; i++)
        d->table[i] = 7 * i;
    return rebuild(d);
}

/* Over all ranks, in no order. */
static uint64_t sum_of_all(const struct data *d)
{
    epop_dist2d_t dist;
    int64_t cols, m = count_m(d, &dist, &cols), u = count_u(d), k = count_k(d);
    int rank = rank_in(epop_world()), size = size_of(epop_world());
    uint64_t sum = 0, all;
    for (int64_t i = 0; i < u; i++)
        sum += mix(d->u[i] + (uint64_t)epop_dist_global(epop_dist_block(d->s.n), rank, size, i));
    for (int64_t i = 0; i < k; i++)
        sum += mix(d->k[i] + 17 * (uint64_t)epop_dist_global(epop_dist_cyclic(d->s.n), rank, size, i));
    for (int64_t i = 0; i < m; i++)
        sum += mix(d->m[i] + (uint64_t)global_m(&dist, cols, i));
    for (int64_t i = 0; rank == 0 && i < d->s.rows; i++)
        sum += mix((uint64_t)(d->table[i] * i));
    MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, d->friends);
    return all;
}

/* ---- Blocks ------------------------------------------------------------------------------- */

static int start(int *argc, char ***argv, void **data)
{
    arguments_t a = {*argc, *argv};
    struct data *d = calloc(1, sizeof *d);
    if (!d)
        return EPOP_ERR_MEMORY;
    *data = d;
    d->friends = MPI_COMM_NULL;
    d->steps = argument(a, "steps", 40) + argument(a, "more", 0);
    d->turns = argument(a, "turns", 2);
    d->ask = argument(a, "ask", -1);
    d->resize = (int)argument(a, "resize", 0);
    d->pause = argument(a, "nap", 1000);
    d->hold = text_argument(a, "hold", 0);
    d->until = text_argument(a, "until", 0);
    d->fault = getenv("EPOP_TEST_FAULT");
    if (epop_status() == EPOP_JOINING)
        return 0;
    if (rank_in(epop_world()) == 0) {
        printf("start: %s of %d\n", epop_status() == EPOP_RESTARTING ? "restarting" : "new", size_of(epop_world()));
        fflush(stdout);
    }
    if (epop_status() == EPOP_RESTARTING)
        return 0;
    d->s = (struct shape){.n = argument(a, "n", 97), .rows = 11, .cols = 13};
    return make(d);
}

/* What is asked for after the line of rank 0 is agreed on after this step. */
static void hold(const char *file)
{
    if (exists(file) && rank_in(epop_world()) == 0) {
        puts("held");
        fflush(stdout);
    }
    wait_while_there(file);
}

static int iterate(void *data)
{
    struct data *d = data;
    epop_dist2d_t dist;
    int64_t cols, u = count_u(d), m = count_m(d, &dist, &cols);
    if (d->s.step == d->ask && epop_request_checkpoint())
        return 1;
    if (d->s.step == 20)
        hold(d->hold);
    if (d->s.step == 50 && d->resize)
        epop_request_resize(d->resize);
    for (int64_t i = 0; i < u; i++)
        if (d->scratch[i])
            return 2;
    for (int64_t i = 0; i < u; i++)
        d->u[i] = mix(d->u[i] + (uint64_t)d->s.step);
    for (int64_t i = 0; i < m; i++)
        d->m[i] = mix(d->m[i] ^ (uint64_t)d->table[d->s.step % d->s.rows]);
    d->table[d->s.step % d->s.rows] += d->s.step;
    d->s.step++;
    nap(d->pause);
    return 0;
}

/* With a file to wait for: all ranks hear from rank 0 whether it is there. */
static int goes_on(void *data)
{
    struct data *d = data;
    int waits = d->until && d->s.turn == 0 && !exists(d->until);
    if (d->until && d->s.turn == 0)
        MPI_Bcast(&waits, 1, MPI_INT, 0, d->friends);
    return waits || (d->until && d->s.turn == 0 ? 0 : d->s.step < d->steps * (d->s.turn + 1));
}

static int change(void *data)
{
    struct data *d = data;
    int64_t k = count_k(d);
    for (int64_t i = 0; i < k; i++)
        d->k[i] = 3 * d->k[i] + 1;
    d->s.turn++;
    return 0;
}

static int again(int pc, void *data)
{
    const struct data *d = data;
    return d->s.turn < d->turns ? 1 : pc + 1;
}

static int tell(void *data)
{
    struct data *d = data;
    uint64_t sum = sum_of_all(d);
    if (rank_in(epop_world()) == 0)
        printf("end: %d ranks, %lld steps, %016llx\n", size_of(epop_world()), (long long)d->s.step,
               (unsigned long long)sum);
    return 0;
}

static void progress(void *data, epop_progress_t *progress)
{
    const struct data *d = data;
    progress->bound = d->steps * d->turns;
}

epop_program_t *get_program(void)
{
    const epop_sizes_t few = {.max = 4};
    epop_program_t *program = epop_program_create("saved");
    epop_add_init(program, "start", start);
    epop_add_elastic(program, "work", iterate, epop_adapt_described, goes_on);
    epop_add_rigid(program, "change", change, NULL);
    epop_add_branch(program, "again", again);
    epop_add_rigid(program, "tell", tell, NULL);
    epop_describe(program, describe);
    epop_rebuild(program, rebuild);
    epop_release(program, release);
    epop_set_progress(program, 1, progress);
    epop_set_sizes(program, 1, &few);
    epop_may_change(program, "more");
    return program;
}
