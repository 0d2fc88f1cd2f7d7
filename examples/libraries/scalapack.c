/* Inverse iteration with ScaLAPACK, of docs/guide/libraries.md: the smallest eigenvalue of a chain of N springs.
 * scalapack.so [STEPS] */
#include <epop/epop.h>
#include <epop/scalapack.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ScaLAPACK brings no C header: these are the Fortran symbols. */
void pdgesv_(const int *n, const int *nrhs, double *a, const int *ia, const int *ja, const int *desca, int *pivots,
             double *b, const int *ib, const int *jb, const int *descb, int *info);
void pdelset_(double *a, const int *i, const int *j, const int *desc, const double *value);
void pdscal_(const int *n, const double *factor, double *x, const int *ix, const int *jx, const int *descx,
             const int *incx);
void pdnrm2_(const int *n, double *norm, const double *x, const int *ix, const int *jx, const int *descx,
             const int *incx);

enum { N = 40, BLOCK = 4 };
static const int one = 1, n = N;

struct springs {
    int64_t step, steps;
    double eigenvalue;
    double *a, *x;            /* N x N and N x 1, on the same grid */
    epop_blacs_t grid;        /* of the present world */
    int desc_a[9], desc_x[9]; /* on it */
    int64_t rows, cols;       /* of this rank's part of a */
};

static epop_dist2d_t layout(int64_t columns)
{
    return (epop_dist2d_t){
        .rows = epop_dist_block_cyclic(N, BLOCK), .cols = epop_dist_block_cyclic(columns, BLOCK), .column_major = 1};
}

static int open_grid(void *data)
{
    struct springs *s = data;
    epop_dist2d_t a = layout(N), x = layout(1);
    epop_blacs_open(&s->grid);
    int failed = epop_scalapack_desc(&s->grid, &a, s->desc_a, &s->rows, &s->cols);
    return failed ? failed : epop_scalapack_desc(&s->grid, &x, s->desc_x, NULL, NULL);
}

static void describe(void *data, epop_description_t *d)
{
    struct springs *s = data;
    epop_dist2d_t a = layout(N), x = layout(1);
    epop_describe_values(d, "step", &s->step, sizeof s->step);
    epop_describe_matrix(d, "A", &s->a, MPI_DOUBLE, &a, EPOP_CONSTANT);
    epop_describe_matrix(d, "x", &s->x, MPI_DOUBLE, &x, 0);
}

static int init(int *argc, char ***argv, void **data)
{
    struct springs *s = *data = calloc(1, sizeof *s);
    if (!s)
        return EPOP_ERR_MEMORY;
    s->steps = *argc > 1 ? atoll((*argv)[1]) : 1000;
    if (epop_status() != EPOP_NEW)
        return 0;
    if (open_grid(s))
        return EPOP_ERR_ARGUMENT;
    s->a = calloc((size_t)(s->rows * s->cols) + 1, sizeof(double));
    s->x = calloc((size_t)s->rows + 1, sizeof(double));
    if (!s->a || !s->x)
        return EPOP_ERR_MEMORY;
    for (int i = 1; i <= N; i++) {
        double stiff = 2, soft = -1, first = 1. / i;
        int next = i + 1;
        pdelset_(s->a, &i, &i, s->desc_a, &stiff);
        if (i < N) {
            pdelset_(s->a, &i, &next, s->desc_a, &soft);
            pdelset_(s->a, &next, &i, s->desc_a, &soft);
        }
        pdelset_(s->x, &i, &one, s->desc_x, &first);
    }
    return 0;
}

/* x becomes inverse(A) x, of length 1. */
static int step(void *data)
{
    struct springs *s = data;
    int info;
    double norm = 0;
    size_t bytes = (size_t)(s->rows * s->cols) * sizeof(double);
    double *factors = malloc(bytes + 1);
    int *pivots = malloc(((size_t)s->rows + BLOCK) * sizeof(int));
    if (!factors || !pivots)
        return EPOP_ERR_MEMORY;
    if (bytes)
        memcpy(factors, s->a, bytes);
    pdgesv_(&n, &one, factors, &one, &one, s->desc_a, pivots, s->x, &one, &one, s->desc_x, &info);
    free(factors);
    free(pivots);
    pdnrm2_(&n, &norm, s->x, &one, &one, s->desc_x, &one);
    MPI_Bcast(&norm, 1, MPI_DOUBLE, 0, epop_world()); /* it is known where x is: in the first column of the grid */
    s->eigenvalue = 1 / norm;
    pdscal_(&n, &s->eigenvalue, s->x, &one, &one, s->desc_x, &one);
    s->step++;
    return info;
}

static int more(void *data)
{
    struct springs *s = data;
    return s->step < s->steps;
}

static int report(void *data)
{
    struct springs *s = data;
    int rank;
    MPI_Comm_rank(epop_world(), &rank);
    if (rank == 0)
        printf("eigenvalue %.12f after %lld steps\n", s->eigenvalue, (long long)s->step);
    return 0;
}

static void release(void *data)
{
    struct springs *s = data;
    epop_blacs_close(&s->grid);
    free(s);
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("scalapack");
    if (!program)
        return NULL;
    epop_add_init(program, "start", init);
    epop_add_elastic(program, "iterate", step, epop_adapt_described, more);
    program->finalizer = epop_add_rigid(program, "report", report, NULL);
    epop_describe(program, describe);
    epop_rebuild(program, open_grid);
    epop_release(program, release);
    return program;
}
