/* Implicit diffusion with hypre, of docs/guide/libraries.md: PCG with BoomerAMG in each step. hypre.so [STEPS] */
#include <HYPRE.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <epop/epop.h>
#include <epop/hypre.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 200 };

struct rod {
    int64_t step, steps;
    int *starts, *columns; /* described: the rows of this rank, as CSR with columns of the whole matrix */
    double *values, *u;
    int first, rows;       /* of this rank */
    HYPRE_IJMatrix matrix; /* what hypre has of them; NULL: nothing */
    HYPRE_IJVector now, next;
    HYPRE_Solver solver, amg;
};

static void describe(void *data, epop_description_t *d)
{
    struct rod *r = data;
    const epop_row_array_t arrays[] = {{MPI_INT, &r->columns}, {MPI_DOUBLE, &r->values}};
    epop_describe_values(d, "step", &r->step, sizeof r->step);
    epop_describe_csr(d, "A", &r->starts, MPI_INT, epop_dist_block(CELLS), arrays, 2, EPOP_CONSTANT);
    epop_describe_array(d, "u", &r->u, MPI_DOUBLE, epop_dist_block(CELLS), 0);
}

static void drop_solver(struct rod *r)
{
    if (!r->solver)
        return;
    HYPRE_ParCSRPCGDestroy(r->solver);
    HYPRE_BoomerAMGDestroy(r->amg);
    r->solver = NULL;
}

static void place(struct rod *r)
{
    int rank, size;
    MPI_Comm_rank(epop_world(), &rank);
    MPI_Comm_size(epop_world(), &size);
    r->rows = (int)epop_dist_local_count(epop_dist_block(CELLS), rank, size);
    r->first = (int)epop_dist_global(epop_dist_block(CELLS), rank, size, 0);
}

static int make_solver(void *data)
{
    struct rod *r = data;
    void *matrix, *now, *next;
    drop_solver(r);
    place(r);
    if (epop_hypre_matrix(&r->matrix, epop_dist_block(CELLS), r->starts, r->columns, r->values) ||
        epop_hypre_vector(&r->now, epop_dist_block(CELLS), r->u) ||
        epop_hypre_vector(&r->next, epop_dist_block(CELLS), r->u))
        return EPOP_ERR_SYSTEM;
    HYPRE_IJMatrixGetObject(r->matrix, &matrix);
    HYPRE_IJVectorGetObject(r->now, &now);
    HYPRE_IJVectorGetObject(r->next, &next);
    HYPRE_BoomerAMGCreate(&r->amg);
    HYPRE_BoomerAMGSetMaxIter(r->amg, 1); /* one cycle, no tolerance: it is a preconditioner */
    HYPRE_BoomerAMGSetTol(r->amg, 0);
    HYPRE_BoomerAMGSetRelaxType(r->amg, 6); /* which is symmetric, as PCG needs it */
    HYPRE_ParCSRPCGCreate(epop_world(), &r->solver);
    HYPRE_PCGSetTol(r->solver, 1e-12);
    HYPRE_PCGSetMaxIter(r->solver, 100);
    HYPRE_PCGSetPrecond(r->solver, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve,
                        (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup, r->amg);
    return HYPRE_ParCSRPCGSetup(r->solver, matrix, now, next) ? EPOP_ERR_SYSTEM : 0;
}

static int init_rows(struct rod *r)
{
    int entries = 0;
    place(r);
    r->starts = calloc((size_t)r->rows + 1, sizeof(int));
    r->columns = malloc(3 * (size_t)r->rows * sizeof(int));
    r->values = malloc(3 * (size_t)r->rows * sizeof(double));
    r->u = malloc((size_t)r->rows * sizeof(double));
    if (!r->starts || !r->columns || !r->values || !r->u)
        return EPOP_ERR_MEMORY;
    for (int i = 0; i < r->rows; i++) {
        for (int column = r->first + i - 1; column <= r->first + i + 1; column++)
            if (column >= 0 && column < CELLS) {
                r->columns[entries] = column;
                r->values[entries++] = column == r->first + i ? 1.2 : -0.1;
            }
        r->starts[i + 1] = entries;
        r->u[i] = r->first + i;
    }
    return 0;
}

static int init(int *argc, char ***argv, void **data)
{
    struct rod *r = *data = calloc(1, sizeof *r);
    if (!r)
        return EPOP_ERR_MEMORY;
    r->steps = *argc > 1 ? atoll((*argv)[1]) : 1000;
    HYPRE_Init();
    if (epop_status() != EPOP_NEW)
        return 0;
    int error = init_rows(r);
    return error ? error : make_solver(r);
}

/* A u(new) = u(old) + 1 */
static int step(void *data)
{
    struct rod *r = data;
    void *matrix, *now, *next;
    HYPRE_IJMatrixGetObject(r->matrix, &matrix);
    HYPRE_IJVectorGetObject(r->now, &now);
    HYPRE_IJVectorGetObject(r->next, &next);
    for (int i = 0; i < r->rows; i++)
        r->u[i] += 1;
    if (epop_hypre_set(r->now, epop_dist_block(CELLS), r->u) || HYPRE_ParCSRPCGSolve(r->solver, matrix, now, next))
        return EPOP_ERR_SYSTEM;
    r->step++;
    return epop_hypre_get(r->next, epop_dist_block(CELLS), r->u);
}

static int more(void *data)
{
    struct rod *r = data;
    return r->step < r->steps;
}

static int report(void *data)
{
    struct rod *r = data;
    int rank;
    double moment = 0; /* each cell's by its place */
    MPI_Comm_rank(epop_world(), &rank);
    for (int i = 0; i < r->rows; i++)
        moment += r->u[i] * (r->first + i);
    MPI_Allreduce(MPI_IN_PLACE, &moment, 1, MPI_DOUBLE, MPI_SUM, epop_world());
    if (rank == 0)
        printf("moment %.6f after %lld steps\n", moment, (long long)r->step);
    return 0;
}

static void release(void *data)
{
    struct rod *r = data;
    drop_solver(r);
    if (r->matrix) {
        HYPRE_IJMatrixDestroy(r->matrix);
        HYPRE_IJVectorDestroy(r->now);
        HYPRE_IJVectorDestroy(r->next);
    }
    HYPRE_Finalize();
    free(r);
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("hypre");
    if (!program)
        return NULL;
    epop_add_init(program, "start", init);
    epop_add_elastic(program, "diffuse", step, epop_adapt_described, more);
    program->finalizer = epop_add_rigid(program, "report", report, NULL);
    epop_describe(program, describe);
    epop_rebuild(program, make_solver);
    epop_release(program, release);
    return program;
}
