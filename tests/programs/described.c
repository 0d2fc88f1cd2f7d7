/*
 * A program whose data is described: every element says where it belongs and how many iterations it has seen, and is
 * looked at in every iteration. A line on stderr for each call of a block of the program, and of each resize.
 *     resize=SIZE,...      rank 0 asks for these sizes, one after the other
 *     leaves=RANK          with every resize this rank leaves and another takes its place
 *     own                  an adapt block of its own, with epop_redist_described
 *     fault=KIND           what is described wrong: differs, twice, null, size, order, type, cuts, name; or rebuild: it
 *                          fails; on ranks of WHERE
 *     where=joining|last   the joining ones; the last old rank
 *     fault=fewer|misplaced|constant   when it is listed again, in the window, u has an element less, or is cyclic;
 *                          rank 1 writes to k
 *     fault=copy           rank 1 writes to its copy of the table, which is constant then
 *     fault=behind         rank 1 writes one element behind the end of u, behind the first window
 *     end                  a branch ends it, before the last phase
 */
#include "scenario.h"

struct shape {
    int64_t n, rows, cols, step, windows, grown;
};

struct data {
    struct shape s;
    int own, asked, end;
    const char *fault, *where, *resize;
    int leaves;
    double *u;        /* blocks; u[i] = i + step */
    int32_t *k;       /* constant, cyclic */
    int64_t *m;       /* a matrix by blocks of 2 x 3 */
    int64_t *table;   /* replicated */
    int64_t *grown;   /* cyclic; each rank has one more after each iteration */
    char *scratch;    /* blocks */
    MPI_Comm friends; /* made by rebuild */
};

static bool is_wrong(const struct data *d, const char *fault)
{
    if (!d->fault || !d->where || strcmp(d->fault, fault) != 0)
        return false;
    bool joins = epop_status() == EPOP_JOINING;
    if (joins || !strcmp(d->where, "joining"))
        return joins && !strcmp(d->where, "joining");
    return rank_in(epop_world()) == size_of(epop_world()) - 1;
}

static bool is_fault(const struct data *d, const char *fault)
{
    return d->fault && !strcmp(d->fault, fault);
}

/* Otherwise when it is asked again in the window. */
static epop_dist_t dist_of_u(const struct data *d)
{
    static int calls;
    bool again = epop_status() == EPOP_STAYING ? ++calls > 1 : epop_status() == EPOP_JOINING && d->u;
    if (again && is_fault(d, "misplaced"))
        return epop_dist_cyclic(d->s.n);
    return epop_dist_block(d->s.n + is_wrong(d, "differs") - (again && is_fault(d, "fewer")));
}

static epop_dist2d_t matrix(const struct data *d)
{
    return (epop_dist2d_t){.rows = epop_dist_block_cyclic(d->s.rows, 2), .cols = epop_dist_block_cyclic(d->s.cols, 3)};
}

static void describe(void *data, epop_description_t *list)
{
    struct data *d = data;
    bool swapped = is_wrong(d, "order");
    epop_describe_values(list, "shape", &d->s, sizeof d->s - (is_wrong(d, "size") ? 8 : 0));
    epop_dist2d_t dist = matrix(d);
    if (swapped)
        epop_describe_array(list, "k", &d->k, MPI_INT32_T, epop_dist_cyclic(d->s.n), EPOP_CONSTANT);
    epop_describe_array(list, "u", &d->u, is_wrong(d, "type") ? MPI_FLOAT : MPI_DOUBLE, dist_of_u(d), 0);
    if (!swapped)
        epop_describe_array(list,
                            is_wrong(d, "twice")  ? "u"
                            : is_wrong(d, "name") ? "a/b"
                                                  : "k",
                            is_wrong(d, "null") ? NULL : &d->k, MPI_INT32_T, epop_dist_cyclic(d->s.n), EPOP_CONSTANT);
    epop_describe_matrix(list, "m", &d->m, MPI_INT64_T, &dist, 0);
    epop_describe_replicated(list, "table", &d->table, MPI_INT64_T, d->s.rows, is_fault(d, "copy") ? EPOP_CONSTANT : 0);
    epop_describe_array(list, "grown", &d->grown, MPI_INT64_T, epop_dist_cyclic(d->s.grown), 0);
    epop_describe_array(list, "scratch", &d->scratch, MPI_CHAR, epop_dist_block(d->s.n), EPOP_SCRATCH);
}

static int rebuild(void *data)
{
    struct data *d = data;
    int size = size_of(epop_world()), initial = size_of(MPI_COMM_WORLD);
    if (size != initial || is_wrong(d, "rebuild"))
        return 77;
    if (d->friends != MPI_COMM_NULL)
        MPI_Comm_free(&d->friends);
    d->s.windows++;
    return MPI_Comm_dup(MPI_COMM_WORLD, &d->friends) != MPI_SUCCESS;
}

static void release(void *data)
{
    struct data *d = data;
    fprintf(stderr, "release: %s %s\n", status_name(epop_status()),
            d->u || d->k || d->m || d->table || d->grown ? "full" : "empty");
    if (d->friends != MPI_COMM_NULL)
        MPI_Comm_free(&d->friends);
    free(d);
}

/* ---- What belongs where --------------------------------------------------------------- */

static int64_t local_m(const struct data *d, epop_dist2d_t *dist, int64_t *rows, int64_t *cols)
{
    *dist = matrix(d);
    epop_grid_near_square(size_of(epop_world()), &dist->grid_rows, &dist->grid_cols);
    epop_dist2d_local(dist, rank_in(epop_world()), rows, cols);
    return *rows * *cols;
}

static int64_t of_m(const epop_dist2d_t *dist, int64_t i, int64_t j)
{
    int rank = rank_in(epop_world());
    return epop_dist_global(dist->rows, rank / dist->grid_cols, dist->grid_rows, i) * 1000 +
           epop_dist_global(dist->cols, rank % dist->grid_cols, dist->grid_cols, j);
}

static int make(struct data *d)
{
    int rank = rank_in(epop_world()), size = size_of(epop_world());
    int64_t u = epop_dist_local_count(epop_dist_block(d->s.n), rank, size), rows, cols;
    int64_t k = epop_dist_local_count(epop_dist_cyclic(d->s.n), rank, size);
    epop_dist2d_t dist;
    int64_t m = local_m(d, &dist, &rows, &cols);
    d->u = u ? malloc((size_t)u * sizeof *d->u) : NULL;
    d->k = k ? malloc((size_t)k * sizeof *d->k) : NULL;
    d->m = m ? malloc((size_t)m * sizeof *d->m) : NULL;
    d->table = malloc((size_t)d->s.rows * sizeof *d->table);
    d->scratch = u ? calloc(1, (size_t)u) : NULL;
    for (int64_t i = 0; i < u; i++)
        d->u[i] = (double)epop_dist_global(epop_dist_block(d->s.n), rank, size, i);
    for (int64_t i = 0; i < k; i++)
        d->k[i] = (int32_t)epop_dist_global(epop_dist_cyclic(d->s.n), rank, size, i);
    for (int64_t i = 0; i < m; i++)
        d->m[i] = of_m(&dist, i / cols, i % cols);
    for (int64_t i = 0; i < d->s.rows; i++)
        d->table[i] = 7 * i;
    return MPI_Comm_dup(epop_world(), &d->friends) != MPI_SUCCESS;
}

static int check(const struct data *d)
{
    int rank = rank_in(epop_world()), size = size_of(epop_world()), wrong = 0;
    int64_t u = epop_dist_local_count(epop_dist_block(d->s.n), rank, size), rows, cols;
    int64_t k = epop_dist_local_count(epop_dist_cyclic(d->s.n), rank, size);
    epop_dist2d_t dist;
    int64_t m = local_m(d, &dist, &rows, &cols);
    EXPECT((d->u != NULL) == (u > 0) && (d->scratch != NULL) == (u > 0) && (d->m != NULL) == (m > 0) && d->table);
    for (int64_t i = 0; i < u; i++)
        EXPECT(d->u[i] == (double)(epop_dist_global(epop_dist_block(d->s.n), rank, size, i) + d->s.step));
    for (int64_t i = 0; i < u; i++)
        EXPECT(d->scratch[i] == 0);
    for (int64_t i = 0; i < k && !is_fault(d, "constant"); i++)
        EXPECT(d->k[i] == epop_dist_global(epop_dist_cyclic(d->s.n), rank, size, i));
    for (int64_t i = 0; i < m; i++)
        EXPECT(d->m[i] == of_m(&dist, i / cols, i % cols));
    for (int64_t i = 0; i < d->s.rows; i++)
        EXPECT(d->table[i] == 7 * i || is_fault(d, "copy"));
    for (int64_t i = 0; i < epop_dist_local_count(epop_dist_cyclic(d->s.grown), rank, size); i++)
        EXPECT(d->grown[i] == epop_dist_global(epop_dist_cyclic(d->s.grown), rank, size, i));
    EXPECT(size_of(d->friends) == size);
    return wrong;
}

/* ---- Blocks ------------------------------------------------------------------------------ */

static int start(int *argc, char ***argv, void **data)
{
    arguments_t a = {*argc, *argv};
    struct data *d = calloc(1, sizeof *d);
    if (!d)
        return EPOP_ERR_MEMORY;
    *data = d;
    d->friends = MPI_COMM_NULL;
    d->own = has_argument(a, "own");
    d->end = has_argument(a, "end");
    d->resize = text_argument(a, "resize", 0);
    d->leaves = (int)argument(a, "leaves", -1);
    d->fault = text_argument(a, "fault", 0);
    d->where = text_argument(a, "where", 0);
    if (epop_status() == EPOP_JOINING)
        return 0;
    d->s = (struct shape){.n = argument(a, "n", 97), .rows = 11, .cols = 13};
    return make(d);
}

/* The array has another shape in each iteration. Without end it would be all there is. */
static int grow(struct data *d)
{
    int rank = rank_in(epop_world()), size = size_of(epop_world());
    int64_t had = epop_dist_local_count(epop_dist_cyclic(d->s.grown), rank, size);
    int64_t *grown = d->s.grown < 5000 ? realloc(d->grown, (size_t)(had + 1) * sizeof *grown) : NULL;
    if (d->s.grown >= 5000)
        return 0;
    if (!grown)
        return EPOP_ERR_MEMORY;
    d->grown = grown;
    d->s.grown += size;
    int64_t has = epop_dist_local_count(epop_dist_cyclic(d->s.grown), rank, size);
    grown[had] = epop_dist_global(epop_dist_cyclic(d->s.grown), rank, size, had);
    return has == had + 1 ? 0 : 1;
}

static int iterate(void *data)
{
    struct data *d = data;
    int rank = rank_in(epop_world()), size = size_of(epop_world());
    int64_t u = epop_dist_local_count(epop_dist_block(d->s.n), rank, size);
    if (check(d))
        return 1;
    d->s.step++;
    for (int64_t i = 0; i < u; i++) {
        d->u[i] += 1;
        d->scratch[i] = 0;
    }
    if (is_fault(d, "constant") && rank == 1 && d->s.step == 1)
        d->k[0]++;
    if (is_fault(d, "copy") && rank == 1 && d->s.step == 1)
        d->table[0]++;
    if (is_fault(d, "behind") && rank == 1 && d->s.windows == 1)
        d->u[u] = 5;
    return grow(d);
}

/* The size that comes after so many windows; 0: no more. */
static int next_size(const struct data *d)
{
    const char *text = d->resize;
    for (int64_t i = 0; text && i < d->s.windows; i++)
        text = strchr(text, ',') ? strchr(text, ',') + 1 : NULL;
    return text ? atoi(text) : 0;
}

/* Asks for the next size, once the last one is there. */
static int goes_on(void *data)
{
    struct data *d = data;
    epop_request_t request = {.size = next_size(d), .release_ranks = &d->leaves, .release_count = d->leaves >= 0};
    if (!request.size)
        return d->s.step < 3;
    if (rank_in(epop_world()) == 0 && d->asked++ == d->s.windows)
        epop_request(&request);
    else
        d->asked = (int)d->s.windows + 1;
    nap(1000);
    return 1;
}

static int adapt(void *data)
{
    struct data *d = data;
    epop_window_t window;
    int error = epop_adapt_begin(&window);
    if (!error)
        error = epop_redist_described(&window, describe, d);
    if (error)
        return error;
    if (d->friends != MPI_COMM_NULL)
        MPI_Comm_free(&d->friends);
    if (window.status != EPOP_LEAVING)
        MPI_Comm_dup(window.after, &d->friends);
    else if (d->u || d->k || d->m || d->table || d->scratch)
        return 1;
    d->s.windows++;
    return epop_adapt_commit();
}

static int choose_adapt(void *data)
{
    const struct data *d = data;
    return d->own ? adapt(data) : epop_adapt_described(data);
}

static int ends(int pc, void *data)
{
    const struct data *d = data;
    return d->end ? EPOP_END : pc + 1;
}

static int last(void *data)
{
    struct data *d = data;
    int64_t steps = d->s.step;
    if (check(d))
        return 1;
    if (rank_in(epop_world()) == 0)
        printf("end: %d ranks, %s\n", size_of(epop_world()), steps > 0 ? "right" : "no steps");
    return 0;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("described");
    epop_add_init(program, "start", start);
    epop_add_elastic(program, "work", iterate, choose_adapt, goes_on);
    epop_add_branch(program, "end?", ends);
    epop_add_rigid(program, "last", last, NULL);
    epop_describe(program, describe);
    epop_rebuild(program, rebuild);
    epop_release(program, release);
    return program;
}
