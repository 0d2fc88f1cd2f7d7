/* Where the entries of A and b come from. */
#include "gauss/problem.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/npy.h"
#include "gauss/mtx.h"

static int is_npy(const char *path)
{
    size_t length = strlen(path);
    return length >= 4 && strcmp(path + length - 4, ".npy") == 0;
}

/* An entry depends on nothing but its place (splitmix64). 32 bits of fraction: see problem_known_x. */
static double random_entry(uint64_t row, uint64_t col)
{
    uint64_t z = (row << 32 | col) + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (double)(z >> 32) * 0x1p-32 - 0.5;
}

double problem_known_x(int64_t i)
{
    return (double)(1 + i % 7);
}

/* Rows and columns of a matrix in a file of either kind. */
static int file_shape(const char *path, int64_t *rows, int64_t *cols, char *error, size_t size)
{
    if (is_npy(path)) {
        npy_file_t file;
        if (npy_open(&file, path, NPY_READ, error, size) != 0)
            return -1;
        *rows = file.shape.rows;
        *cols = file.shape.cols;
        npy_close(&file);
        return 0;
    }
    mtx_t mtx;
    if (mtx_open(&mtx, path, error, size) != 0)
        return -1;
    *rows = mtx.rows;
    *cols = mtx.cols;
    mtx_close(&mtx);
    return 0;
}

int problem_open(problem_t *problem, const char *a_path, const char *b_path, int64_t random_n, char *error,
                 size_t error_size)
{
    int64_t cols = random_n;
    *problem = (problem_t){.a_path = a_path, .b_path = b_path, .n = random_n};
    if (a_path && file_shape(a_path, &problem->n, &cols, error, error_size) != 0)
        return -1;
    if (problem->n == cols && cols >= 1 && cols <= INT32_MAX)
        return 0;
    snprintf(error, error_size, "%s: A must be square, but is %" PRId64 " x %" PRId64, a_path, problem->n, cols);
    return -1;
}

/* Where the entries of a Matrix Market file go. */
typedef struct target {
    epop_dist_t dist; /* of the columns */
    int rank, size;
    double *a;
    int64_t ld;
} target_t;

static void add_entry(void *context, int64_t row, int64_t col, double value)
{
    const target_t *target = context;
    int64_t local;
    if (epop_dist_owner(target->dist, target->size, col, &local) == target->rank)
        target->a[local * target->ld + row] += value;
}

static int read_mtx(const char *path, target_t *target, char *error, size_t size)
{
    mtx_t mtx;
    if (mtx_open(&mtx, path, error, size) != 0)
        return -1;
    int result = mtx_entries(&mtx, add_entry, target, error, size);
    mtx_close(&mtx);
    return result;
}

static int read_npy(const char *path, const target_t *target, int64_t n, char *error, size_t size)
{
    npy_file_t file;
    if (npy_open(&file, path, NPY_READ, error, size) != 0)
        return -1;
    int result = 0;
    int64_t count = epop_dist_local_count(target->dist, target->rank, target->size);
    for (int64_t local = 0; local < count && result == 0;) {
        int64_t col = epop_dist_global(target->dist, target->rank, target->size, local);
        int64_t width = count - local < target->dist.block ? count - local : target->dist.block;
        npy_block_t block = {.row0 = 0, .rows = n, .col0 = col, .cols = width};
        result = npy_read(&file, &block, target->a + local * target->ld, target->ld, 1, error, size);
        local += width;
    }
    npy_close(&file);
    return result;
}

static void fill_random(const target_t *target, int64_t n)
{
    int64_t count = epop_dist_local_count(target->dist, target->rank, target->size);
    for (int64_t local = 0; local < count; local++) {
        int64_t col = epop_dist_global(target->dist, target->rank, target->size, local);
        for (int64_t row = 0; row < n; row++)
            target->a[local * target->ld + row] = random_entry((uint64_t)row, (uint64_t)col);
    }
}

/* .npy files may hold what Matrix Market's reader refuses. */
static int check_finite(const char *path, const double *a, int64_t ld, int64_t rows, int64_t cols, char *error,
                        size_t size)
{
    for (int64_t j = 0; j < cols; j++)
        for (int64_t i = 0; i < rows; i++)
            if (!isfinite(a[j * ld + i])) {
                snprintf(error, size, "%s: contains values that are not finite", path);
                return -1;
            }
    return 0;
}

int problem_columns(const problem_t *problem, epop_dist_t dist, int rank, int size, double *a, int64_t ld, char *error,
                    size_t error_size)
{
    target_t target = {dist, rank, size, a, ld};
    int64_t count = epop_dist_local_count(dist, rank, size);
    if (!problem->a_path) {
        fill_random(&target, problem->n);
        return 0;
    }
    for (int64_t j = 0; j < count; j++)
        memset(a + j * ld, 0, sizeof(double) * (size_t)problem->n);
    int result = is_npy(problem->a_path) ? read_npy(problem->a_path, &target, problem->n, error, error_size)
                                         : read_mtx(problem->a_path, &target, error, error_size);
    return result != 0 ? result : check_finite(problem->a_path, a, ld, problem->n, count, error, error_size);
}

int problem_right_side(const problem_t *problem, double *b, char *error, size_t error_size)
{
    int64_t rows, cols, n = problem->n;
    const char *path = problem->b_path;
    if (file_shape(path, &rows, &cols, error, error_size) != 0)
        return -1;
    if (cols != 1 || rows != n) {
        snprintf(error, error_size,
                 "%s: b must be %" PRId64 " x 1 as A is of order %" PRId64 ", but is %" PRId64 " x %" PRId64, path, n,
                 n, rows, cols);
        return -1;
    }
    target_t target = {epop_dist_block_cyclic(1, 1), 0, 1, b, n};
    memset(b, 0, sizeof(double) * (size_t)n);
    int result =
        is_npy(path) ? read_npy(path, &target, n, error, error_size) : read_mtx(path, &target, error, error_size);
    return result != 0 ? result : check_finite(path, b, n, n, 1, error, error_size);
}
