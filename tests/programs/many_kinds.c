/*
 * Described data of unusual shapes, which a restart on another number of ranks has to bring to the last bit: elements
 * with gaps, matrices by columns, arrays of nothing, and of less than there are ranks. Every element is looked at in
 * every iteration.
 *     many_kinds.so [N [STEPS]]
 */
#include <epop/epop.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* What is behind `tag` is no data. */
typedef struct item {
    char tag;
    double value[2];
} item_t;

typedef struct kinds {
    struct {
        int64_t n, steps, step;
    } p;
    item_t *items;  /* cyclic */
    item_t *tiles;  /* n x 7 in blocks of 2 x 2, by columns */
    float *columns; /* 5 x n, columns alone are dealt out */
    item_t *table;  /* 5 replicated */
    short *none, *one;
    MPI_Datatype type;
} kinds_t;

enum { TABLE = 5 };

static epop_dist2d_t tiles_of(const kinds_t *k)
{
    return (epop_dist2d_t){
        .rows = epop_dist_block_cyclic(k->p.n, 2), .cols = epop_dist_block_cyclic(7, 2), .column_major = 1};
}

static epop_dist2d_t columns_of(const kinds_t *k)
{
    return (epop_dist2d_t){
        .rows = epop_dist_block(5), .cols = epop_dist_block_cyclic(k->p.n, 3), .grid_rows = 1, .column_major = 1};
}

static void describe(void *data, epop_description_t *d)
{
    kinds_t *k = data;
    epop_describe_values(d, "parameters", &k->p, sizeof k->p);
    const epop_dist2d_t tiles = tiles_of(k), columns = columns_of(k);
    epop_describe_array(d, "items", &k->items, k->type, epop_dist_cyclic(k->p.n), 0);
    epop_describe_matrix(d, "tiles", &k->tiles, k->type, &tiles, 0);
    epop_describe_matrix(d, "columns", &k->columns, MPI_FLOAT, &columns, 0);
    epop_describe_replicated(d, "table", &k->table, k->type, TABLE, 0);
    epop_describe_array(d, "none", &k->none, MPI_SHORT, epop_dist_block(0), 0);
    epop_describe_array(d, "one", &k->one, MPI_SHORT, epop_dist_block_cyclic(1, 4), EPOP_CONSTANT);
}

/* ---- What an element must be ------------------------------------------------------------- */

static int here(int *size)
{
    int rank;
    MPI_Comm_rank(epop_world(), &rank);
    MPI_Comm_size(epop_world(), size);
    return rank;
}

/* Looks at one, or makes it (set); 1: it is wrong. */
static int visit_item(const kinds_t *k, item_t *item, int64_t place, int set)
{
    const item_t right = {(char)((place + k->p.step) % 127), {(double)place / 3, (double)(place * k->p.step)}};
    if (set) {
        item->tag = right.tag;
        item->value[0] = right.value[0], item->value[1] = right.value[1];
    }
    return item->tag != right.tag || item->value[0] != right.value[0] || item->value[1] != right.value[1];
}

/* Local counts of a matrix on its grid. */
static void shape_of(epop_dist2d_t *dist, int rank, int size, int64_t *rows, int64_t *cols)
{
    if (dist->grid_rows)
        dist->grid_cols = size;
    else
        epop_grid_near_square(size, &dist->grid_rows, &dist->grid_cols);
    epop_dist2d_local(dist, rank, rows, cols);
}

/* Place of the element that is number `at` of the local ones, which are by columns. */
static int64_t place_of(const epop_dist2d_t *dist, int rank, int64_t rows, int64_t at)
{
    return epop_dist_global(dist->rows, rank / dist->grid_cols, dist->grid_rows, at % rows) * 1000 +
           epop_dist_global(dist->cols, rank % dist->grid_cols, dist->grid_cols, at / rows);
}

static int visit(kinds_t *k, int set)
{
    int size, rank = here(&size), wrong = 0;
    int64_t rows, cols;
    for (int64_t i = 0; i < epop_dist_local_count(epop_dist_cyclic(k->p.n), rank, size); i++)
        wrong += visit_item(k, &k->items[i], epop_dist_global(epop_dist_cyclic(k->p.n), rank, size, i), set);
    epop_dist2d_t dist = tiles_of(k);
    shape_of(&dist, rank, size, &rows, &cols);
    for (int64_t i = 0; i < rows * cols; i++)
        wrong += visit_item(k, &k->tiles[i], place_of(&dist, rank, rows, i), set);
    dist = columns_of(k);
    shape_of(&dist, rank, size, &rows, &cols);
    for (int64_t i = 0; i < rows * cols; i++) {
        float right = (float)(place_of(&dist, rank, rows, i) + k->p.step);
        k->columns[i] = set ? right : k->columns[i];
        wrong += k->columns[i] != right;
    }
    for (int64_t i = 0; i < TABLE; i++)
        wrong += visit_item(k, &k->table[i], -i, set);
    for (int64_t i = 0; i < epop_dist_local_count(epop_dist_block_cyclic(1, 4), rank, size); i++)
        wrong += k->one[i] != 77;
    if (wrong)
        fprintf(stderr, "kinds: rank %d of %d has %d wrong elements in step %lld\n", rank, size, wrong,
                (long long)k->p.step);
    return wrong != 0;
}

/* ---- Blocks ------------------------------------------------------------------------------- */

static int make_type(MPI_Datatype *type)
{
    int lengths[] = {1, 2};
    MPI_Aint places[] = {offsetof(item_t, tag), offsetof(item_t, value)};
    MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE}, packed;
    int error = MPI_Type_create_struct(2, lengths, places, types, &packed);
    if (!error)
        error = MPI_Type_create_resized(packed, 0, sizeof(item_t), type) || MPI_Type_free(&packed);
    return error || MPI_Type_commit(type);
}

static int init(int *argc, char ***argv, void **data)
{
    kinds_t *k = *data = calloc(1, sizeof *k);
    if (!k || make_type(&k->type))
        return EPOP_ERR_MEMORY;
    if (epop_status() != EPOP_NEW)
        return 0;
    k->p.n = *argc > 1 ? atoll((*argv)[1]) : 17;
    k->p.steps = *argc > 2 ? atoll((*argv)[2]) : 20;
    size_t all = (size_t)k->p.n * 7 + 1;
    int size, rank = here(&size);
    k->items = calloc(all, sizeof *k->items);
    k->tiles = calloc(all, sizeof *k->tiles);
    k->columns = calloc(all, sizeof *k->columns);
    k->table = calloc(TABLE, sizeof *k->table);
    if (rank == 0 && (k->one = malloc(sizeof *k->one)))
        *k->one = 77;
    return visit(k, 1);
}

static int step(void *data)
{
    kinds_t *k = data;
    int wrong = visit(k, 0);
    k->p.step++;
    return visit(k, 1) || wrong;
}

static int more(void *data)
{
    const kinds_t *k = data;
    return k->p.step < k->p.steps;
}

static int report(void *data)
{
    kinds_t *k = data;
    int size, rank = here(&size), wrong = visit(k, 0);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, epop_world());
    if (rank == 0)
        printf("kinds: %s after %lld steps on %d ranks\n", wrong ? "wrong" : "right", (long long)k->p.step, size);
    return wrong;
}

static void release(void *data)
{
    kinds_t *k = data;
    MPI_Type_free(&k->type);
    free(k);
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("kinds");
    epop_add_init(program, "start", init);
    epop_add_elastic(program, "steps", step, epop_adapt_described, more);
    epop_add_rigid(program, "report", report, NULL);
    epop_describe(program, describe);
    epop_release(program, release);
    return program;
}
