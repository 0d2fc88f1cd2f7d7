/* What the program gives out: the times, C as a file, and the random matrices as files. */
#include "cannon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double gflops(const cannon_t *c, double seconds)
{
    return 2.0 * (double)c->shared.m * (double)c->shared.k * (double)c->shared.n / seconds * 1e-9;
}

/* The multiplication took as long as its slowest rank. */
int cannon_measure_exec(void *data)
{
    cannon_t *c = data;
    double slowest;
    MPI_Allreduce(&c->shared.seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, epop_world());
    c->run_seconds[c->shared.runs++] = slowest;
    cannon_pipeline_close(c);
    cannon_say(c, "multiplied (%lld x %lld) * (%lld x %lld) in %.3f s, %.2f GFLOP/s, now on %d ranks\n",
               (long long)c->shared.m, (long long)c->shared.k, (long long)c->shared.k, (long long)c->shared.n, slowest,
               gflops(c, slowest), c->grid.side * c->grid.side);
    if (c->shared.resizes > 0)
        cannon_say(c, "resized %d times so far, which took another %.3f s\n", c->shared.resizes,
                   c->shared.window_seconds);
    return EPOP_OK;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median_seconds(const cannon_t *c)
{
    double sorted[CANNON_REPEATS_MAX];
    size_t count = (size_t)c->shared.runs;
    memcpy(sorted, c->run_seconds, count * sizeof(double));
    qsort(sorted, count, sizeof(double), compare);
    return sorted[count / 2];
}

void cannon_print_json(const cannon_t *c)
{
    double seconds = median_seconds(c);
    printf("{\"bench\": \"cannon\", \"ranks\": %d, \"m\": %lld, \"k\": %lld, \"n\": %lld, \"panel\": %lld, "
           "\"repeats\": %d, \"seconds\": %.6f, \"gflops\": %.2f, \"resizes\": %d, \"window_seconds\": %.6f, ",
           c->grid.side * c->grid.side, (long long)c->shared.m, (long long)c->shared.k, (long long)c->shared.n,
           (long long)c->shared.width, c->shared.runs, seconds, gflops(c, seconds), c->shared.resizes,
           c->shared.window_seconds);
    if (c->residual < 0)
        printf("\"residual\": null}\n");
    else
        printf("\"residual\": %.6g}\n", c->residual);
    fflush(stdout);
}

/* Rank 0 makes the file; every rank then finds it complete, or none goes on. */
static int create_file(const char *path, int64_t rows, int64_t cols)
{
    char text[CANNON_TEXT] = "";
    int rank, error = EPOP_OK;
    npy_shape_t shape = {2, rows, cols, 0};
    MPI_Comm_rank(epop_world(), &rank);
    if (rank == 0 && npy_create(path, &shape, text, sizeof(text)) != 0)
        error = EPOP_ERR_SYSTEM;
    return cannon_agree(error, text);
}

int cannon_write_exec(void *data)
{
    cannon_t *c = data;
    if (!c->options.c)
        return EPOP_OK;
    int error = create_file(c->options.c, c->shared.m, c->shared.n);
    if (error)
        return error;
    npy_file_t file = {0};
    npy_block_t block = cannon_local_block(c);
    char text[CANNON_TEXT] = "";
    if (npy_open(&file, c->options.c, NPY_READ_WRITE, text, sizeof(text)) != 0 ||
        npy_write(&file, &block, c->product, block.cols, 0, text, sizeof(text)) != 0)
        error = EPOP_ERR_SYSTEM;
    npy_close(&file);
    error = cannon_agree(error, text);
    if (!error)
        cannon_say(c, "wrote %s\n", c->options.c);
    return error;
}

/* Copies this rank's share of the rows of a generated matrix to a file, some rows at a time. */
static int copy_rows(const cannon_source_t *source, const char *path, char *text, size_t text_size)
{
    const int64_t most = 1 + 1000000 / source->cols;
    int rank, size, error = EPOP_OK;
    MPI_Comm_rank(epop_world(), &rank);
    MPI_Comm_size(epop_world(), &size);
    npy_file_t file = {0};
    if (npy_open(&file, path, NPY_READ_WRITE, text, text_size) != 0)
        return EPOP_ERR_SYSTEM;
    double *rows = malloc((size_t)(most * source->cols) * sizeof(double));
    if (!rows) {
        snprintf(text, text_size, "%s: out of memory", path);
        error = EPOP_ERR_MEMORY;
    }
    for (int64_t first = rank * most; first < source->rows && !error; first += size * most) {
        npy_block_t block = {first, source->rows - first < most ? source->rows - first : most, 0, source->cols};
        cannon_source_read(source, &block, rows, source->cols, 0, text, text_size);
        if (npy_write(&file, &block, rows, source->cols, 0, text, text_size) != 0)
            error = EPOP_ERR_SYSTEM;
    }
    free(rows);
    npy_close(&file);
    return error;
}

static int save_one(const cannon_t *c, const cannon_source_t *source, const char *path)
{
    char text[CANNON_TEXT] = "";
    int error = create_file(path, source->rows, source->cols);
    if (!error)
        error = cannon_agree(copy_rows(source, path, text, sizeof(text)), text);
    if (!error)
        cannon_say(c, "wrote %s (%lld x %lld)\n", path, (long long)source->rows, (long long)source->cols);
    return error;
}

int cannon_save_exec(void *data)
{
    cannon_t *c = data;
    if (!c->options.save)
        return EPOP_OK;
    int error = save_one(c, &c->a_source, c->options.a);
    return error ? error : save_one(c, &c->b_source, c->options.b);
}
