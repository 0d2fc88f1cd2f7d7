/*
 * A x = b by Gaussian elimination with partial pivoting, as an elastic program: one iteration is one panel of columns,
 * and the number of ranks may change between any two. docs/examples/gauss.md says how it works; the numbers are made in
 * lu.c.
 *     mpiexec.mpich -n 2 epop gauss.so A.mtx [b.mtx] [--block NB] [--tolerance T] [--output x.npy] [--json]
 *     mpiexec.mpich -n 2 epop gauss.so --random N ...
 */
#include <epop/epop.h>

#include <cblas.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/agree.h"
#include "common/npy.h"
#include "gauss/lu.h"
#include "gauss/options.h"
#include "gauss/problem.h"
#include "gauss/residual.h"

#define FAILED           1    /* what the blocks return after a message */
#define LARGEST_RESIDUAL 16.0 /* scaled; the limit of the LINPACK benchmark */

typedef struct gauss {
    options_t options;
    problem_t problem;
    lu_t lu;
    int width;      /* columns that a step eliminates; it may be tuned */
    double start;   /* of the elimination, seconds; by this process's clock */
    double elapsed; /* since then, at the end of the last step */
    double seconds; /* elimination and solution */
    int resizes;
} gauss_t;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void release(void *data)
{
    gauss_t *gauss = data;
    lu_free_workspace(&gauss->lu);
    free(gauss);
}

/* Powers of two, the width that was asked for, and a whole block, which one rank owns. */
static int offer_widths(gauss_t *gauss)
{
    int widths[16], count = 0, block = (int)gauss->options.block, asked = (int)gauss->options.width;
    gauss->width = asked;
    for (int width = 8; width < block; width *= 2) {
        if (asked < width && (count ? widths[count - 1] : 0) < asked)
            widths[count++] = asked;
        widths[count++] = width;
    }
    if (asked < block && (count ? widths[count - 1] : 0) < asked)
        widths[count++] = asked;
    widths[count++] = block;
    return epop_tunable_list("width", &gauss->width, widths, count);
}

/* Local work only: a joining process goes through here too. */
static int init(int *argc, char ***argv, void **data)
{
    char error[512];
    gauss_t *gauss = calloc(1, sizeof *gauss);
    if (!gauss)
        return EPOP_ERR_MEMORY;
    if (options_parse(&gauss->options, *argc, *argv, error, sizeof error) != 0) {
        free(gauss);
        return agree_on_error(epop_world(), FAILED, "gauss", error); /* all have the same arguments */
    }
    if (!getenv("OPENBLAS_NUM_THREADS"))
        openblas_set_num_threads(1);
    *data = gauss;
    return gauss->options.help ? 0 : offer_widths(gauss);
}

static int choose_mode(int pc, void *data)
{
    gauss_t *gauss = data;
    int rank;
    if (!gauss->options.help)
        return pc + 1;
    MPI_Comm_rank(epop_world(), &rank);
    if (rank == 0)
        options_usage();
    return EPOP_END;
}

/* ---- Load: a rigid phase ------------------------------------------------- */

/* Every rank reads its columns, and all of b. */
static int read_problem(gauss_t *gauss, int rank, int size, char *text, size_t text_size)
{
    const options_t *options = &gauss->options;
    problem_t *problem = &gauss->problem;
    lu_t *lu = &gauss->lu;
    if (problem_open(problem, options->a_path, options->b_path, options->random_n, text, text_size) != 0)
        return -1;
    if (options->output && rank == 0 && npy_check_writable(options->output, text, text_size) != 0)
        return -1;
    int created = lu_create(lu, problem->n, options->block) == 0;
    int64_t columns = created ? epop_dist_local_count(lu_columns(lu), rank, size) : 0;
    if (columns > 0)
        lu->a = calloc((size_t)columns, sizeof(double) * (size_t)lu->ld);
    if (!created || (columns > 0 && !lu->a)) {
        snprintf(text, text_size, "not enough memory for order %" PRId64 " in blocks of %" PRId64 " columns",
                 problem->n, options->block);
        return -1;
    }
    if (problem_columns(problem, lu_columns(lu), rank, size, lu->a, lu->ld, text, text_size) != 0)
        return -1;
    return options->b_path ? problem_right_side(problem, lu->b, text, text_size) : 0;
}

/* A pivot counts as zero when it is lost in the rounding errors of its column. */
static void set_smallest(gauss_t *gauss, MPI_Comm world, int rank, int size)
{
    lu_t *lu = &gauss->lu;
    double tolerance = gauss->options.tolerance >= 0.0 ? gauss->options.tolerance : (double)lu->n * DBL_EPSILON;
    for (int64_t j = 0; j < lu->n; j++) {
        int64_t local;
        lu->smallest[j] = 0.0;
        if (epop_dist_owner(lu_columns(lu), size, j, &local) != rank)
            continue;
        const double *column = lu->a + local * lu->ld;
        lu->smallest[j] = tolerance * fabs(column[cblas_idamax((int)lu->n, column, 1)]);
    }
    MPI_Allreduce(MPI_IN_PLACE, lu->smallest, (int)lu->n, MPI_DOUBLE, MPI_SUM, world);
}

static int load(void *data)
{
    gauss_t *gauss = data;
    MPI_Comm world = epop_world();
    char text[512];
    int rank, size;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    int failed = read_problem(gauss, rank, size, text, sizeof text);
    if (agree_on_error(world, failed ? FAILED : 0, "gauss", text) != 0)
        return FAILED;
    if (!gauss->options.b_path)
        residual_right_side(&gauss->lu, world);
    set_smallest(gauss, world, rank, size);
    gauss->start = now();
    return 0;
}

/* ---- Eliminate: the elastic phase ---------------------------------------- */

static int eliminate(void *data)
{
    gauss_t *gauss = data;
    char text[128];
    int64_t failed = lu_step(&gauss->lu, gauss->width, epop_world());
    gauss->elapsed = now() - gauss->start;
    if (failed == 0)
        return 0;
    snprintf(text, sizeof text, "the matrix is singular to working precision: no pivot in column %" PRId64, failed);
    return agree_on_error(epop_world(), FAILED, "gauss", text);
}

static int not_eliminated(void *data)
{
    const gauss_t *gauss = data;
    return gauss->lu.done < gauss->lu.n;
}

/* The columns, and what every rank has: a joining or restarting one cannot know it. */
static void describe(void *data, epop_description_t *d)
{
    gauss_t *gauss = data;
    lu_t *lu = &gauss->lu;
    epop_describe_values(d, "order", &lu->n, sizeof lu->n);
    epop_describe_values(d, "block", &lu->block, sizeof lu->block);
    epop_describe_values(d, "distance", &lu->ld, sizeof lu->ld);
    epop_describe_values(d, "done", &lu->done, sizeof lu->done);
    epop_describe_values(d, "wide", &lu->wide, sizeof lu->wide);
    epop_describe_values(d, "resizes", &gauss->resizes, sizeof gauss->resizes);
    epop_describe_values(d, "elapsed", &gauss->elapsed, sizeof gauss->elapsed);
    if (!lu->n) /* nothing is loaded yet */
        return;
    const epop_dist2d_t columns = {epop_dist_block(lu->ld), lu_columns(lu), 1, 0, 1};
    epop_describe_replicated(d, "b", &lu->b, MPI_DOUBLE, lu->n, 0);
    epop_describe_replicated(d, "smallest", &lu->smallest, MPI_DOUBLE, lu->n, 0);
    epop_describe_replicated(d, "panel", &lu->panel, MPI_DOUBLE, lu_panel_length(lu), 0);
    epop_describe_matrix(d, "columns", &lu->a, MPI_DOUBLE, &columns, 0);
}

static int rebuild(void *data)
{
    gauss_t *gauss = data;
    gauss->start = now() - gauss->elapsed;
    gauss->problem = (problem_t){gauss->options.a_path, gauss->options.b_path, gauss->lu.n};
    gauss->resizes += epop_status() != EPOP_RESTARTING;
    return gauss->lu.top || lu_workspace(&gauss->lu) == 0 ? EPOP_OK : EPOP_ERR_MEMORY;
}

/* In columns: those at the end cost less, as fewer are left of them. */
static void progress(void *data, epop_progress_t *progress)
{
    const lu_t *lu = &((gauss_t *)data)->lu;
    double left = 1 - (double)lu->done / (double)lu->n;
    *progress = (epop_progress_t){.iteration = lu->done, .bound = lu->n, .share = 1 - left * left * left};
}

/* ---- Solve and check: rigid phases --------------------------------------- */

static int solve(void *data)
{
    gauss_t *gauss = data;
    lu_solve(&gauss->lu, epop_world());
    gauss->seconds = now() - gauss->start;
    return 0;
}

static int write_solution(const gauss_t *gauss, char *text, size_t text_size)
{
    const npy_shape_t shape = {.dimensions = 1, .rows = gauss->lu.n, .cols = 1};
    const npy_block_t all = {.rows = gauss->lu.n, .cols = 1};
    npy_file_t file;
    if (npy_create(gauss->options.output, &shape, text, text_size) != 0 ||
        npy_open(&file, gauss->options.output, NPY_READ_WRITE, text, text_size) != 0)
        return -1;
    int result = npy_write(&file, &all, gauss->lu.b, gauss->lu.n, 1, text, text_size);
    npy_close(&file);
    return result;
}

static void report(const gauss_t *gauss, const residual_t *residual, int ranks)
{
    double n = (double)gauss->lu.n, gflops = (2.0 / 3.0 * n + 2.0) * n * n / gauss->seconds * 1e-9;
    if (gauss->options.json) {
        printf("{\"n\": %.0f, \"block\": %" PRId64
               ", \"ranks\": %d, \"resizes\": %d, \"seconds\": %.6f, \"gflops\": %.3f, "
               "\"residual\": %.3e, \"scaled_residual\": %.3e",
               n, gauss->lu.block, ranks, gauss->resizes, gauss->seconds, gflops, residual->relative, residual->scaled);
        if (residual->error >= 0.0)
            printf(", \"error\": %.3e", residual->error);
        printf("}\n");
    } else {
        printf("order %.0f, blocks of %" PRId64 ", %d ranks at the end, %d resizes: %.3f s, %.2f GFLOP/s\n", n,
               gauss->lu.block, ranks, gauss->resizes, gauss->seconds, gflops);
        printf("scaled residual ||Ax-b|| / (||A|| ||x|| n eps): %.3e\n", residual->scaled);
        printf("relative residual ||Ax-b|| / ||b||: %.3e\n", residual->relative);
        if (residual->error >= 0.0)
            printf("distance from the known solution: %.3e\n", residual->error);
    }
    fflush(stdout);
}

static int check(void *data)
{
    gauss_t *gauss = data;
    MPI_Comm world = epop_world();
    residual_t residual;
    char text[512] = "";
    int rank, size, failed = 0;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    int error = residual_of(&gauss->problem, &gauss->lu, world, &residual);
    if (error == 0 && rank == 0) {
        report(gauss, &residual, size);
        if (gauss->options.output)
            failed = write_solution(gauss, text, sizeof text);
        if (failed == 0 && !(residual.scaled < LARGEST_RESIDUAL)) {
            snprintf(text, sizeof text, "the solution is wrong: its scaled residual is %.3e", residual.scaled);
            failed = FAILED;
        }
    }
    if (error == 0)
        error = agree_on_error(world, failed ? FAILED : 0, "gauss", text);
    return error;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("gauss");
    epop_add_init(program, "read the options", init);
    epop_add_branch(program, "mode", choose_mode); /* --help: to the end */
    epop_add_rigid(program, "load", load, NULL);
    int pc = epop_add_elastic(program, "eliminate", eliminate, epop_adapt_described, not_eliminated);
    epop_add_rigid(program, "solve", solve, NULL);
    epop_add_rigid(program, "check", check, NULL);
    epop_set_progress(program, pc, progress);
    epop_describe(program, describe);
    epop_rebuild(program, rebuild);
    epop_release(program, release);
    return program;
}
