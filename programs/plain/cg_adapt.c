/*
 * Conjugate gradients, as an MPI program that can be resized while it runs: what cg.c becomes.
 * docs/guide/executables.md says which lines differ, and why.
 *     mpiexec -n 2 ./cg_adapt [-g 64x64 | -g 16x16x16 | -f MATRIX.mtx] [-s SYSTEMS] [-t TOLERANCE] [-v]
 * The matrix is the Laplacian of a grid, or that of a Matrix Market file, symmetric and positive definite. -v prints
 * system, iteration, residual and number of processes of each iteration.        epopctl resize 4
 */
#include <epop/mpi_adapt.h>
#include <epop/redist.h>
#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct entry {
    int row, col;
    double value;
};

struct cg {
    MPI_Comm comm; /* of our own, so that no message of a library is met */
    int rank, size;
    /* The matrix: rows [first, first + rows) of n. */
    int n, first, rows;
    int *start;    /* rows + 1: where each row begins in col and value */
    int *col;      /* global, until the columns are mapped: then own ones from 0, ghosts from `rows` on */
    double *value; /* of each element */
    /* The column map, and the halo. */
    int ghosts, *ghost;    /* the global columns of the ghosts, ascending, and so by owner */
    int *need, *give;      /* how many values from, and to, each rank */
    int given, *given_row; /* the rows whose values others need, by rank */
    double *outgoing;      /* their values */
    MPI_Request *requests; /* room for two per rank */
    double *x, *r, *p, *q; /* own rows; p with room for the ghosts behind them */
    int system, iteration; /* which right-hand side, and how far it is */
    double rho, goal;      /* the residual's square, and that at which the system is solved */
    int systems, talks;    /* options */
    double tolerance;
};

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "cg: %s: %s\n", what, why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void *allocate(void *old, size_t count, size_t size)
{
    void *memory = realloc(old, (count ? count : 1) * size);
    if (!memory)
        fail("memory", strerror(ENOMEM));
    return memory;
}

/* ---- The matrix ---------------------------------------------------------------------- */

struct entries {
    struct entry *all;
    size_t count, room;
};

/* Blocks of rows that differ by one at most. */
static void choose_rows(struct cg *s)
{
    int share = s->n / s->size, rest = s->n % s->size;
    s->first = s->rank * share + (s->rank < rest ? s->rank : rest);
    s->rows = share + (s->rank < rest);
}

static void add(const struct cg *s, struct entries *to, int row, int col, double value)
{
    if (row < s->first || row >= s->first + s->rows)
        return;
    if (to->count == to->room) {
        to->room = 2 * to->room + 1024;
        to->all = allocate(to->all, to->room, sizeof *to->all);
    }
    to->all[to->count++] = (struct entry){row, col, value};
}

/* The Laplacian of a grid of two or three dimensions, which is 0 around it. */
static void generate(struct cg *s, const char *grid, struct entries *to)
{
    int extent[3] = {1, 1, 1}, dimensions = sscanf(grid, "%dx%dx%d", &extent[0], &extent[1], &extent[2]);
    if (dimensions < 2 || extent[0] < 1 || extent[1] < 1 || extent[2] < 1)
        fail(grid, "a grid is given as 64x64 or 16x16x16");
    s->n = extent[0] * extent[1] * extent[2];
    choose_rows(s);
    for (int row = s->first; row < s->first + s->rows; row++) {
        add(s, to, row, row, 2 * dimensions);
        for (int d = 0, stride = 1; d < dimensions; stride *= extent[d++]) {
            int place = row / stride % extent[d];
            if (place > 0)
                add(s, to, row, row - stride, -1);
            if (place < extent[d] - 1)
                add(s, to, row, row + stride, -1);
        }
    }
}

/* Every process reads the file, and keeps its own rows. */
static void read_file(struct cg *s, const char *path, struct entries *to)
{
    char line[1024] = "";
    int cols, row, col;
    long long stored = 0;
    double value;
    FILE *file = fopen(path, "r");
    if (!file)
        fail(path, strerror(errno));
    if (!fgets(line, sizeof line, file) || strncmp(line, "%%MatrixMarket matrix coordinate", 32) ||
        !strstr(line, " symmetric"))
        fail(path, "no Matrix Market file of a symmetric matrix, given by its coordinates");
    while (fgets(line, sizeof line, file) && line[0] == '%')
        ;
    if (sscanf(line, "%d %d %lld", &s->n, &cols, &stored) != 3 || s->n < 1 || cols != s->n)
        fail(path, "the line with the sizes is wrong, or the matrix is not square");
    choose_rows(s);
    for (; stored > 0; stored--) {
        if (fscanf(file, "%d %d %lf", &row, &col, &value) != 3 || row < 1 || row > s->n || col < 1 || col > s->n)
            fail(path, "an entry is missing, or wrong");
        add(s, to, row - 1, col - 1, value);
        if (row != col)
            add(s, to, col - 1, row - 1, value);
    }
    fclose(file);
}

static int by_place(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return x->row != y->row ? (x->row > y->row) - (x->row < y->row) : (x->col > y->col) - (x->col < y->col);
}

static void assemble(struct cg *s, const char *path, const char *grid)
{
    struct entries e = {0};
    if (path)
        read_file(s, path, &e);
    else
        generate(s, grid, &e);
    qsort(e.all, e.count, sizeof *e.all, by_place);
    s->start = allocate(NULL, (size_t)s->rows + 1, sizeof *s->start);
    s->col = allocate(NULL, e.count, sizeof *s->col);
    s->value = allocate(NULL, e.count, sizeof *s->value);
    memset(s->start, 0, ((size_t)s->rows + 1) * sizeof *s->start);
    for (size_t i = 0; i < e.count; i++) {
        s->start[e.all[i].row - s->first + 1]++;
        s->col[i] = e.all[i].col;
        s->value[i] = e.all[i].value;
    }
    for (int i = 0; i < s->rows; i++)
        s->start[i + 1] += s->start[i];
    free(e.all);
}

/* ---- Column map and halo --------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static int is_own(const struct cg *s, int col)
{
    return col >= s->first && col < s->first + s->rows;
}

/* From global columns to local ones. */
static void map_columns(struct cg *s)
{
    int elements = s->start[s->rows], found = 0;
    s->ghost = allocate(NULL, (size_t)elements, sizeof *s->ghost);
    s->ghosts = 0;
    for (int i = 0; i < elements; i++)
        if (!is_own(s, s->col[i]))
            s->ghost[found++] = s->col[i];
    qsort(s->ghost, (size_t)found, sizeof *s->ghost, ascending);
    for (int i = 0; i < found; i++)
        if (!i || s->ghost[i] != s->ghost[i - 1])
            s->ghost[s->ghosts++] = s->ghost[i];
    for (int i = 0; i < elements; i++) {
        int *place = bsearch(&s->col[i], s->ghost, (size_t)s->ghosts, sizeof *s->ghost, ascending);
        s->col[i] = place ? s->rows + (int)(place - s->ghost) : s->col[i] - s->first;
    }
}

static int *sums_of(const int *counts, int size)
{
    int *sums = allocate(NULL, (size_t)size + 1, sizeof *sums);
    sums[0] = 0;
    for (int r = 0; r < size; r++)
        sums[r + 1] = sums[r] + counts[r];
    return sums;
}

/* Who needs what from whom: everyone tells the owners of its ghosts. */
static void plan_halo(struct cg *s)
{
    size_t size = (size_t)s->size;
    int *ends = allocate(NULL, size, sizeof *ends), end = s->first + s->rows;
    s->need = allocate(NULL, size, sizeof *s->need);
    s->give = allocate(NULL, size, sizeof *s->give);
    memset(s->need, 0, size * sizeof *s->need);
    MPI_Allgather(&end, 1, MPI_INT, ends, 1, MPI_INT, s->comm);
    for (int i = 0, owner = 0; i < s->ghosts; i++) {
        while (s->ghost[i] >= ends[owner])
            owner++;
        s->need[owner]++;
    }
    MPI_Alltoall(s->need, 1, MPI_INT, s->give, 1, MPI_INT, s->comm);
    int *needed_at = sums_of(s->need, s->size), *given_at = sums_of(s->give, s->size);
    s->given = given_at[s->size];
    s->given_row = allocate(NULL, (size_t)s->given, sizeof *s->given_row);
    MPI_Alltoallv(s->ghost, s->need, needed_at, MPI_INT, s->given_row, s->give, given_at, MPI_INT, s->comm);
    for (int i = 0; i < s->given; i++)
        s->given_row[i] -= s->first;
    s->outgoing = allocate(NULL, (size_t)s->given, sizeof *s->outgoing);
    s->requests = allocate(NULL, 2 * size, sizeof *s->requests);
    free(ends);
    free(needed_at);
    free(given_at);
}

/* Brings the ghosts' values behind v's own ones. */
static void exchange(const struct cg *s, double *v)
{
    int pending = 0;
    double *into = v + s->rows, *from = s->outgoing;
    for (int r = 0; r < s->size; into += s->need[r++])
        if (s->need[r])
            MPI_Irecv(into, s->need[r], MPI_DOUBLE, r, 0, s->comm, &s->requests[pending++]);
    for (int i = 0; i < s->given; i++)
        s->outgoing[i] = v[s->given_row[i]];
    for (int r = 0; r < s->size; from += s->give[r++])
        if (s->give[r])
            MPI_Isend(from, s->give[r], MPI_DOUBLE, r, 0, s->comm, &s->requests[pending++]);
    while (pending > 0)
        MPI_Wait(&s->requests[--pending], MPI_STATUS_IGNORE);
}

/* All that follows from the world and the rows that this process has. */
static void connect_rows(struct cg *s)
{
    map_columns(s);
    plan_halo(s);
    s->p = allocate(s->p, (size_t)s->rows + (size_t)s->ghosts, sizeof *s->p);
    s->q = allocate(s->q, (size_t)s->rows, sizeof *s->q);
}

static void enter_world(struct cg *s)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &s->comm);
    MPI_Comm_rank(s->comm, &s->rank);
    MPI_Comm_size(s->comm, &s->size);
}

static void leave_world(struct cg *s)
{
    free(s->ghost);
    free(s->need);
    free(s->give);
    free(s->given_row);
    free(s->outgoing);
    free(s->requests);
    MPI_Comm_free(&s->comm);
}

/* ---- Another world -------------------------------------------------------------------------- */

/* Back to global columns, which are the same on every process. */
static void unmap_columns(struct cg *s)
{
    for (int i = 0; i < s->start[s->rows]; i++)
        s->col[i] = s->col[i] < s->rows ? s->first + s->col[i] : s->ghost[s->col[i] - s->rows];
}

/* The scalars to joining processes; rows, elements and vectors from their old owners to the new ones. */
static void move(struct cg *s, const epop_window_t *window)
{
    const epop_row_array_t elements[] = {{MPI_INT, &s->col}, {MPI_DOUBLE, &s->value}};
    int failed = epop_redist_replicated(window, &s->n, 1, MPI_INT) ||
                 epop_redist_replicated(window, &s->system, 2, MPI_INT) /* and iteration */ ||
                 epop_redist_replicated(window, &s->rho, 2, MPI_DOUBLE) /* and goal */;
    epop_dist_t rows = epop_dist_block(s->n);
    if (failed || epop_redist_csr(window, rows, rows, MPI_INT, &s->start, elements, 2) ||
        epop_redist(window, rows, MPI_DOUBLE, &s->x) || epop_redist(window, rows, MPI_DOUBLE, &s->r) ||
        epop_redist(window, rows, MPI_DOUBLE, &s->p))
        fail("adaptation", "the data cannot be moved");
}

/* On staying, leaving and joining processes alike. */
static void adapt(struct cg *s, int status)
{
    MPI_Comm between, after;
    int staying, leaving, joining;
    epop_window_t window;
    if (status != MPI_ADAPT_STATUS_JOINING) {
        unmap_columns(s);
        leave_world(s);
    }
    MPI_Comm_adapt_begin(&between, &after, &staying, &leaving, &joining);
    epop_mpi_window(&window);
    move(s, &window);
    MPI_Comm_adapt_commit();
    if (status == MPI_ADAPT_STATUS_LEAVING)
        return;
    enter_world(s);
    choose_rows(s);
    connect_rows(s);
}

/* ---- The solver -------------------------------------------------------------------------- */

static void multiply(const struct cg *s, const double *v, double *product)
{
    for (int i = 0; i < s->rows; i++) {
        double sum = 0;
        for (int k = s->start[i]; k < s->start[i + 1]; k++)
            sum += s->value[k] * v[s->col[k]];
        product[i] = sum;
    }
}

static double dot(const struct cg *s, const double *v, const double *w)
{
    double sum = 0;
    for (int i = 0; i < s->rows; i++)
        sum += v[i] * w[i];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, s->comm);
    return sum;
}

/* The next right-hand side, and 0 as the first guess. */
static void begin_system(struct cg *s)
{
    for (int i = 0; i < s->rows; i++) {
        s->x[i] = 0;
        s->r[i] = s->p[i] = 1 + (s->first + i + s->system) % 7;
    }
    s->rho = dot(s, s->r, s->r);
    s->goal = s->tolerance * s->tolerance * s->rho;
    s->iteration = 0;
}

static void iterate(struct cg *s)
{
    exchange(s, s->p);
    multiply(s, s->p, s->q);
    double before = s->rho, alpha = before / dot(s, s->p, s->q);
    for (int i = 0; i < s->rows; i++) {
        s->x[i] += alpha * s->p[i];
        s->r[i] -= alpha * s->q[i];
    }
    s->rho = dot(s, s->r, s->r);
    for (int i = 0; i < s->rows; i++)
        s->p[i] = s->r[i] + s->rho / before * s->p[i];
    s->iteration++;
}

static int is_solved(const struct cg *s)
{
    return s->rho <= s->goal || s->iteration >= 2 * s->n;
}

static void report_iteration(const struct cg *s)
{
    if (s->talks && !s->rank)
        printf("%d %d %.15e %d\n", s->system, s->iteration, sqrt(s->rho), s->size);
}

static void report_system(const struct cg *s)
{
    double sum = 0, norm = dot(s, s->x, s->x);
    for (int i = 0; i < s->rows; i++)
        sum += s->x[i];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, s->comm);
    if (!s->rank)
        printf("system %d: %d iterations, residual %.3e, solution %.12e %.12e, %d processes\n", s->system, s->iteration,
               sqrt(s->rho), sum, sqrt(norm), s->size);
}

static void read_options(struct cg *s, int argc, char **argv, const char **path, const char **grid)
{
    for (int option; (option = getopt(argc, argv, "f:g:s:t:v")) != -1;)
        switch (option) {
        case 'f':
            *path = optarg;
            break;
        case 'g':
            *grid = optarg;
            break;
        case 's':
            s->systems = atoi(optarg);
            break;
        case 't':
            s->tolerance = atof(optarg);
            break;
        case 'v':
            s->talks = 1;
            break;
        default:
            fail(argv[0], "usage: cg [-g 64x64 | -f MATRIX.mtx] [-s SYSTEMS] [-t TOLERANCE] [-v]");
        }
}

static void start(struct cg *s, const char *path, const char *grid)
{
    enter_world(s);
    assemble(s, path, grid);
    connect_rows(s);
    s->x = allocate(NULL, (size_t)s->rows, sizeof *s->x);
    s->r = allocate(NULL, (size_t)s->rows, sizeof *s->r);
    begin_system(s);
}

static void end(struct cg *s)
{
    free(s->start);
    free(s->col);
    free(s->value);
    free(s->x);
    free(s->r);
    free(s->p);
    free(s->q);
}

int main(int argc, char **argv)
{
    int pending, status;
    const char *path = NULL, *grid = "64x64";
    struct cg s = {.systems = 10, .tolerance = 1e-8};
    MPI_Init_adapt(&argc, &argv, &status);
    read_options(&s, argc, argv, &path, &grid);
    if (status != MPI_ADAPT_STATUS_JOINING)
        start(&s, path, grid);
    while (s.system < s.systems) {
        MPI_Probe_adapt(&pending, &status, NULL);
        if (pending == MPI_ADAPT_TRUE)
            adapt(&s, status);
        if (status == MPI_ADAPT_STATUS_LEAVING)
            break;
        iterate(&s);
        report_iteration(&s);
        if (is_solved(&s)) {
            report_system(&s);
            s.system++;
            begin_system(&s);
        }
    }
    if (status != MPI_ADAPT_STATUS_LEAVING)
        leave_world(&s);
    end(&s);
    MPI_Finalize();
    return 0;
}
