/*
 * Described arrays of every layout that can move ahead of the window, which all ranks look at in every iteration.
 *     n=COUNT        elements of each array
 *     nothing        none of them is constant
 *     blind          nobody looks
 *     nap=US         of each iteration, besides
 * Of these files, which are looked for in every iteration:
 *     hold=PATH      as long as it is there the last rank waits, and with it all others; PATH.held says that it does
 *     write=PATH     the last rank writes to an array that is constant
 *     shrink=PATH    the constant arrays get half their length, once
 *     leave=PATH     the visit of the phase ends, and the next one begins
 *     end=PATH       the program ends
 */
#include "scenario.h"

struct values {
    int64_t n, windows, iterations, shrunk, left, ended;
};

struct data {
    struct values v;
    int64_t nap;
    unsigned flags;
    bool blind;
    const char *hold, *write, *shrink, *leave, *end;
    double *u;       /* u[i] = i + iterations */
    double *blocks;  /* i, as in the next ones */
    int32_t *cyclic; /* by 3 */
    int64_t *matrix; /* of n / 8 x 8 */
    int16_t *copies;
};

static epop_dist_t threes(const struct data *d)
{
    return epop_dist_block_cyclic(d->v.n, 3);
}

static epop_dist2d_t matrix(const struct data *d)
{
    return (epop_dist2d_t){.rows = epop_dist_block_cyclic(d->v.n / 8, 2), .cols = epop_dist_cyclic(8)};
}

static void describe(void *data, epop_description_t *list)
{
    struct data *d = data;
    epop_describe_values(list, "values", &d->v, sizeof d->v);
    epop_dist2d_t dist = matrix(d);
    epop_describe_array(list, "u", &d->u, MPI_DOUBLE, epop_dist_block(d->v.n), 0);
    epop_describe_array(list, "blocks", &d->blocks, MPI_DOUBLE, epop_dist_block(d->v.n), d->flags);
    epop_describe_array(list, "cyclic", &d->cyclic, MPI_INT32_T, threes(d), d->flags);
    epop_describe_matrix(list, "matrix", &d->matrix, MPI_INT64_T, &dist, d->flags);
    epop_describe_replicated(list, "copies", &d->copies, MPI_INT16_T, d->v.n, d->flags);
}

/* ---- What belongs where ------------------------------------------------------------------- */

struct part {
    int rank, size;
    int64_t blocks, threes, rows, cols;
    epop_dist2d_t matrix;
};

static struct part part_of(const struct data *d)
{
    struct part p = {.rank = rank_in(epop_world()), .size = size_of(epop_world()), .matrix = matrix(d)};
    p.blocks = epop_dist_local_count(epop_dist_block(d->v.n), p.rank, p.size);
    p.threes = epop_dist_local_count(threes(d), p.rank, p.size);
    epop_grid_near_square(p.size, &p.matrix.grid_rows, &p.matrix.grid_cols);
    epop_dist2d_local(&p.matrix, p.rank, &p.rows, &p.cols);
    return p;
}

static int64_t of_matrix(const struct part *p, int64_t at)
{
    const epop_dist2d_t *m = &p->matrix;
    return epop_dist_global(m->rows, p->rank / m->grid_cols, m->grid_rows, at / p->cols) * 8 +
           epop_dist_global(m->cols, p->rank % m->grid_cols, m->grid_cols, at % p->cols);
}

static int64_t of_blocks(const struct data *d, const struct part *p, int64_t at)
{
    return epop_dist_global(epop_dist_block(d->v.n), p->rank, p->size, at);
}

static int64_t of_threes(const struct data *d, const struct part *p, int64_t at)
{
    return epop_dist_global(threes(d), p->rank, p->size, at);
}

/* Anew, of the present n. */
static void make(struct data *d)
{
    struct part p = part_of(d);
    d->u = malloc((size_t)p.blocks * sizeof *d->u + 1);
    d->blocks = malloc((size_t)p.blocks * sizeof *d->blocks + 1);
    d->cyclic = malloc((size_t)p.threes * sizeof *d->cyclic + 1);
    d->matrix = malloc((size_t)(p.rows * p.cols) * sizeof *d->matrix + 1);
    d->copies = malloc((size_t)d->v.n * sizeof *d->copies + 1);
    for (int64_t i = 0; i < p.blocks; i++)
        d->blocks[i] = (double)of_blocks(d, &p, i);
    for (int64_t i = 0; i < p.blocks; i++)
        d->u[i] = (double)(of_blocks(d, &p, i) + d->v.iterations);
    for (int64_t i = 0; i < p.threes; i++)
        d->cyclic[i] = (int32_t)of_threes(d, &p, i);
    for (int64_t i = 0; i < p.rows * p.cols; i++)
        d->matrix[i] = of_matrix(&p, i);
    for (int64_t i = 0; i < d->v.n; i++)
        d->copies[i] = (int16_t)i;
}

static void drop(struct data *d)
{
    free(d->u);
    free(d->blocks);
    free(d->cyclic);
    free(d->matrix);
    free(d->copies);
}

static int check(const struct data *d)
{
    struct part p = part_of(d);
    int wrong = 0;
    if (d->blind)
        return 0;
    for (int64_t i = 0; i < p.blocks; i++)
        EXPECT(d->u[i] == (double)(of_blocks(d, &p, i) + d->v.iterations));
    for (int64_t i = 0; i < p.blocks; i++)
        EXPECT(d->blocks[i] == (double)of_blocks(d, &p, i));
    for (int64_t i = 0; i < p.threes; i++)
        EXPECT(d->cyclic[i] == of_threes(d, &p, i));
    for (int64_t i = 0; i < p.rows * p.cols; i++)
        EXPECT(d->matrix[i] == of_matrix(&p, i));
    for (int64_t i = 0; i < d->v.n; i++)
        EXPECT(d->copies[i] == (int16_t)i);
    return wrong;
}

/* ---- Blocks --------------------------------------------------------------------------------- */

static int start(int *argc, char ***argv, void **data)
{
    arguments_t a = {*argc, *argv};
    struct data *d = calloc(1, sizeof *d);
    *data = d;
    d->nap = argument(a, "nap", 1000);
    d->flags = has_argument(a, "nothing") ? 0 : EPOP_CONSTANT;
    d->blind = has_argument(a, "blind");
    d->hold = text_argument(a, "hold", 0);
    d->write = text_argument(a, "write", 0);
    d->shrink = text_argument(a, "shrink", 0);
    d->leave = text_argument(a, "leave", 0);
    d->end = text_argument(a, "end", 0);
    say_init();
    if (epop_status() == EPOP_JOINING)
        return 0;
    d->v.n = argument(a, "n", 800);
    make(d);
    return 0;
}

static void hold(const struct data *d)
{
    char held[4096];
    if (!exists(d->hold))
        return;
    snprintf(held, sizeof held, "%s.held", d->hold);
    fclose(fopen(held, "w"));
    wait_while_there(d->hold);
}

/* None goes past another here. */
static bool all_agree(const char *path)
{
    int there = exists(path);
    if (path)
        MPI_Allreduce(MPI_IN_PLACE, &there, 1, MPI_INT, MPI_MAX, epop_world());
    return there;
}

static int iterate(void *data)
{
    struct data *d = data;
    struct part p = part_of(d);
    if (check(d))
        return 1;
    for (int64_t i = 0; i < p.blocks; i++)
        d->u[i] += 1;
    d->v.iterations++;
    nap(d->nap);
    if (p.rank == p.size - 1)
        hold(d);
    d->v.left = all_agree(d->leave);
    d->v.ended = all_agree(d->end);
    if (!d->v.shrunk && all_agree(d->shrink)) {
        d->v.shrunk = 1;
        d->v.n /= 2;
        drop(d);
        make(d);
    }
    if (exists(d->write) && p.rank == p.size - 1)
        d->cyclic[0] += 0 * unlink(d->write) + 1000;
    return 0;
}

static int goes_on(void *data)
{
    const struct data *d = data;
    return !d->v.left && !d->v.ended;
}

/* Between two visits the constant data is another block. */
static int next_visit(int pc, void *data)
{
    struct data *d = data;
    if (d->v.ended)
        return pc + 1;
    d->v.left = 0;
    drop(d);
    make(d);
    return pc - 1;
}

static int rebuild(void *data)
{
    struct data *d = data;
    d->v.windows++;
    return 0;
}

static int last(void *data)
{
    struct data *d = data;
    say_end((int)d->v.windows, d->v.iterations);
    return check(d) > 0;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("scenario");
    epop_add_init(program, "start", start);
    epop_add_elastic(program, "iterate", iterate, epop_adapt_described, goes_on);
    epop_add_branch(program, "again", next_visit);
    program->finalizer = epop_add_rigid(program, "last", last, NULL);
    epop_describe(program, describe);
    epop_rebuild(program, rebuild);
    epop_release(program, free);
    return program;
}
