/* Spectral diffusion with FFTW-MPI, of docs/guide/libraries.md: fftw.so [STEPS]. */
#include <epop/epop.h>
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 62, COLS = 32 };

struct field {
    int64_t step, steps;
    MPI_Datatype row;
    epop_partition_t slabs;      /* which rank has which row */
    fftw_complex (*u)[COLS];     /* described: those of this rank */
    fftw_complex *work;          /* where the plans transform them */
    fftw_plan forward, backward; /* of the present world */
    ptrdiff_t first, rows;       /* FFTW's slab: the first row here, and how many */
};

/* As FFTW does: blocks of ROWS / size rows, rounded up, so that the last ranks may have fewer, or none. */
static int divide(int64_t count, int size, int *owner, const void *context)
{
    (void)context;
    for (int64_t i = 0; i < count; i++)
        owner[i] = (int)(i / ((count + size - 1) / size));
    return 0;
}

static void describe(void *data, epop_description_t *d)
{
    struct field *f = data;
    epop_describe_values(d, "step", &f->step, sizeof f->step);
    epop_describe_partition(d, "slabs", &f->slabs);
    epop_describe_owned(d, "u", &f->u, f->row, &f->slabs, 0);
}

static void drop_plans(struct field *f)
{
    if (f->work) {
        fftw_destroy_plan(f->forward);
        fftw_destroy_plan(f->backward);
        fftw_free(f->work);
    }
    f->work = NULL;
}

static int make_plans(void *data)
{
    struct field *f = data;
    MPI_Comm world = epop_world();
    drop_plans(f);
    ptrdiff_t room = fftw_mpi_local_size_2d(ROWS, COLS, world, &f->rows, &f->first);
    f->work = fftw_alloc_complex((size_t)room + 1);
    if (!f->work)
        return EPOP_ERR_MEMORY;
    f->forward = fftw_mpi_plan_dft_2d(ROWS, COLS, f->work, f->work, world, FFTW_FORWARD, FFTW_ESTIMATE);
    f->backward = fftw_mpi_plan_dft_2d(ROWS, COLS, f->work, f->work, world, FFTW_BACKWARD, FFTW_ESTIMATE);
    return f->forward && f->backward ? 0 : EPOP_ERR_SYSTEM;
}

static int init(int *argc, char ***argv, void **data)
{
    struct field *f = *data = calloc(1, sizeof *f);
    if (!f)
        return EPOP_ERR_MEMORY;
    f->steps = *argc > 1 ? atoll((*argv)[1]) : 1000;
    fftw_mpi_init();
    MPI_Type_contiguous(2 * COLS, MPI_DOUBLE, &f->row);
    MPI_Type_commit(&f->row);
    f->slabs.divide = divide; /* on every process */
    if (epop_status() != EPOP_NEW)
        return 0;
    f->slabs.count = ROWS;
    int error = epop_partition_divide(&f->slabs);
    error = error ? error : make_plans(f);
    f->u = calloc((size_t)f->rows + 1, sizeof *f->u);
    for (ptrdiff_t i = 0; f->u && i < f->rows; i++)
        for (int j = 0; j < COLS; j++)
            f->u[i][j][0] = (double)((f->first + i) * COLS + j);
    return !f->u ? EPOP_ERR_MEMORY : error;
}

/* How fast a wave fades of which k go into n. */
static double fades(ptrdiff_t k, ptrdiff_t n)
{
    double waves = (double)(k > n / 2 ? n - k : k) / (double)n;
    return waves * waves;
}

static int step(void *data)
{
    struct field *f = data;
    size_t bytes = (size_t)f->rows * sizeof *f->u;
    if (bytes)
        memcpy(f->work, f->u, bytes);
    fftw_execute(f->forward);
    for (ptrdiff_t i = 0; i < f->rows; i++)
        for (ptrdiff_t j = 0; j < COLS; j++) {
            double factor = exp(-1e-3 * (fades(f->first + i, ROWS) + fades(j, COLS))) / (ROWS * COLS);
            f->work[i * COLS + j][0] *= factor;
            f->work[i * COLS + j][1] *= factor;
        }
    fftw_execute(f->backward);
    if (bytes)
        memcpy(f->u, f->work, bytes);
    f->step++;
    return 0;
}

static int more(void *data)
{
    struct field *f = data;
    return f->step < f->steps;
}

static int report(void *data)
{
    struct field *f = data;
    int rank;
    double moment = 0; /* each number's by its place */
    MPI_Comm_rank(epop_world(), &rank);
    for (ptrdiff_t i = 0; i < f->rows; i++)
        for (int j = 0; j < COLS; j++)
            moment += f->u[i][j][0] * (double)((f->first + i) * COLS + j);
    MPI_Allreduce(MPI_IN_PLACE, &moment, 1, MPI_DOUBLE, MPI_SUM, epop_world());
    if (rank == 0)
        printf("moment %.3f after %lld steps\n", moment, (long long)f->step);
    return 0;
}

static void release(void *data)
{
    struct field *f = data;
    drop_plans(f);
    fftw_mpi_cleanup();
    MPI_Type_free(&f->row);
    free(f);
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("fftw");
    if (!program)
        return NULL;
    epop_add_init(program, "start", init);
    epop_add_elastic(program, "diffuse", step, epop_adapt_described, more);
    program->finalizer = epop_add_rigid(program, "report", report, NULL);
    epop_describe(program, describe);
    epop_rebuild(program, make_plans);
    epop_release(program, release);
    return program;
}
