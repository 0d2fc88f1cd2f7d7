/* Implicit diffusion with PETSc, of docs/guide/libraries.md: a KSP in each step. petsc.so [STEPS] */
#include <epop/epop.h>
#include <petscksp.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 200 };

struct rod {
    int64_t step, steps;
    PetscInt *starts, *columns; /* described: the rows of this rank, as CSR with columns of the whole matrix */
    double *values, *u;
    PetscInt first, rows; /* of this rank */
    Mat matrix;           /* what PETSc has of them; NULL: nothing */
    Vec now, next;        /* now: u itself */
    KSP solver;
};

static void describe(void *data, epop_description_t *d)
{
    struct rod *r = data;
    const epop_row_array_t arrays[] = {{MPIU_INT, &r->columns}, {MPI_DOUBLE, &r->values}};
    epop_describe_values(d, "step", &r->step, sizeof r->step);
    epop_describe_csr(d, "A", &r->starts, MPIU_INT, epop_dist_block(CELLS), arrays, 2, EPOP_CONSTANT);
    epop_describe_array(d, "u", &r->u, MPI_DOUBLE, epop_dist_block(CELLS), 0);
}

static void drop_solver(struct rod *r)
{
    KSPDestroy(&r->solver);
    VecDestroy(&r->now);
    VecDestroy(&r->next);
    MatDestroy(&r->matrix);
}

static void place(struct rod *r)
{
    int rank, size;
    MPI_Comm_rank(epop_world(), &rank);
    MPI_Comm_size(epop_world(), &size);
    r->rows = (PetscInt)epop_dist_local_count(epop_dist_block(CELLS), rank, size);
    r->first = (PetscInt)epop_dist_global(epop_dist_block(CELLS), rank, size, 0);
}

static int make_solver(void *data)
{
    struct rod *r = data;
    drop_solver(r);
    place(r);
    PetscCall(MatCreateMPIAIJWithArrays(epop_world(), r->rows, r->rows, CELLS, CELLS, r->starts, r->columns, r->values,
                                        &r->matrix));
    PetscCall(VecCreateMPIWithArray(epop_world(), 1, r->rows, CELLS, r->u, &r->now));
    PetscCall(VecDuplicate(r->now, &r->next));
    PetscCall(KSPCreate(epop_world(), &r->solver));
    PetscCall(KSPSetType(r->solver, KSPCG));
    PetscCall(KSPSetOperators(r->solver, r->matrix, r->matrix));
    return KSPSetTolerances(r->solver, 1e-13, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT);
}

static int init_rows(struct rod *r)
{
    PetscInt entries = 0;
    place(r);
    r->starts = calloc((size_t)r->rows + 1, sizeof *r->starts);
    r->columns = malloc(3 * (size_t)r->rows * sizeof *r->columns);
    r->values = malloc(3 * (size_t)r->rows * sizeof(double));
    r->u = malloc((size_t)r->rows * sizeof(double));
    if (!r->starts || !r->columns || !r->values || !r->u)
        return EPOP_ERR_MEMORY;
    for (PetscInt i = 0; i < r->rows; i++) {
        for (PetscInt column = r->first + i - 1; column <= r->first + i + 1; column++)
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
    PETSC_COMM_WORLD = MPI_COMM_SELF; /* it cannot be another one later */
    PetscCall(PetscInitializeNoArguments());
    PetscCall(PetscPopSignalHandler()); /* epop's says what has crashed */
    if (epop_status() != EPOP_NEW)
        return 0;
    int error = init_rows(r);
    return error ? error : make_solver(r);
}

/* A u(new) = u(old) + 1 */
static int step(void *data)
{
    struct rod *r = data;
    PetscCall(VecShift(r->now, 1));
    PetscCall(KSPSolve(r->solver, r->now, r->next));
    r->step++;
    return VecCopy(r->next, r->now);
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
    for (PetscInt i = 0; i < r->rows; i++)
        moment += r->u[i] * (r->first + i);
    MPI_Allreduce(MPI_IN_PLACE, &moment, 1, MPI_DOUBLE, MPI_SUM, epop_world());
    if (rank == 0)
        printf("moment %.6f after %lld steps\n", moment, (long long)r->step);
    return 0;
}

static void release(void *data)
{
    drop_solver(data);
    PetscFinalize();
    free(data);
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("petsc");
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
