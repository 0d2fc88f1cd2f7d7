/*
 * Is C really A * B? For random vectors r of 1 and -1, C r must be A (B r) up to rounding (Freivalds, 1977). A and
 * B are taken from their source once more, so that what was lost on the way to C, or in a resize, shows too.
 * Every rank works on some rows of B, then of A, a strip at a time, and on its block of C.
 */
#include "cannon.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define VECTORS        8       /* a wrong C passes one of them with a chance of at most 1/2 */
#define STRIP_ELEMENTS 1000000 /* of A or B in memory at a time */

/* VECTORS numbers for each row, and what they would be if nothing had a sign: the scale of rounding errors. */
typedef struct bundle {
    int64_t rows;
    double *values; /* rows x VECTORS */
    double *scale;  /* rows */
} bundle_t;

typedef struct check {
    const cannon_t *c;
    bundle_t r, br, difference; /* r, B r, and C r - A (B r) */
    double *strip;
    char text[CANNON_TEXT];
} check_t;

static int bundle_allocate(bundle_t *bundle, int64_t rows)
{
    bundle->rows = rows;
    bundle->values = calloc((size_t)rows * VECTORS + 1, sizeof(double));
    bundle->scale = calloc((size_t)rows + 1, sizeof(double));
    return bundle->values && bundle->scale ? EPOP_OK : EPOP_ERR_MEMORY;
}

static void bundle_free(bundle_t *bundle)
{
    free(bundle->values);
    free(bundle->scale);
}

static void sum_over_ranks(double *numbers, int64_t count)
{
    const int64_t most = 1 << 24; /* MPI counts in int */
    for (int64_t first = 0; first < count; first += most)
        MPI_Allreduce(MPI_IN_PLACE, numbers + first, (int)(count - first < most ? count - first : most), MPI_DOUBLE,
                      MPI_SUM, epop_world());
}

/* Every rank has filled in its rows; now all have them all. */
static void bundle_sum(bundle_t *bundle)
{
    sum_over_ranks(bundle->values, bundle->rows * VECTORS);
    sum_over_ranks(bundle->scale, bundle->rows);
}

static void fill_random_signs(bundle_t *r, uint64_t key)
{
    for (int64_t i = 0; i < r->rows; i++) {
        uint64_t bits = cannon_hash(key, (uint64_t)i);
        for (int v = 0; v < VECTORS; v++)
            r->values[i * VECTORS + v] = bits >> v & 1 ? 1.0 : -1.0;
        r->scale[i] = 1;
    }
}

/* out[rows of this strip] += factor * strip * in */
static void apply_strip(double *strip, const npy_block_t *block, double factor, const bundle_t *in, bundle_t *out)
{
    int rows = (int)block->rows, cols = (int)block->cols;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, VECTORS, cols, factor, strip, cols, in->values,
                VECTORS, 1.0, out->values + block->row0 * VECTORS, VECTORS);
    for (int64_t i = 0; i < block->rows * block->cols; i++)
        strip[i] = fabs(strip[i]);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, rows, cols, 1.0, strip, cols, in->scale, 1, 1.0, out->scale + block->row0,
                1);
}

/* out += factor * matrix * in, on this rank's share of the rows. */
static int apply_source(check_t *check, const cannon_source_t *source, double factor, const bundle_t *in, bundle_t *out)
{
    int rank, size;
    MPI_Comm_rank(epop_world(), &rank);
    MPI_Comm_size(epop_world(), &size);
    epop_dist_t dist = epop_dist_block(source->rows);
    int64_t rows = epop_dist_local_count(dist, rank, size);
    if (rows == 0 || source->cols == 0)
        return EPOP_OK;
    int64_t first = epop_dist_global(dist, rank, size, 0);
    int64_t most = source->cols < STRIP_ELEMENTS ? STRIP_ELEMENTS / source->cols : 1;
    for (int64_t done = 0; done < rows; done += most) {
        npy_block_t block = {first + done, rows - done < most ? rows - done : most, 0, source->cols};
        if (cannon_source_read(source, &block, check->strip, source->cols, 0, check->text, sizeof(check->text)) != 0)
            return EPOP_ERR_SYSTEM;
        apply_strip(check->strip, &block, factor, in, out);
    }
    return EPOP_OK;
}

/* difference += C r, from this rank's block of C */
static void apply_product(check_t *check)
{
    const cannon_t *c = check->c;
    npy_block_t block = cannon_local_block(c);
    if (block.rows == 0 || block.cols == 0)
        return;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)block.rows, VECTORS, (int)block.cols, 1.0, c->product,
                (int)block.cols, check->r.values + block.col0 * VECTORS, VECTORS, 1.0,
                check->difference.values + block.row0 * VECTORS, VECTORS);
}

/* The largest difference over the largest that rounding can make: at most 1 for a right C. */
static double scaled_residual(const check_t *check)
{
    const cannon_shared_t *s = &check->c->shared;
    double worst = 0, unit = DBL_EPSILON * (double)(s->k + s->n);
    for (int64_t i = 0; i < check->difference.rows * VECTORS; i++) {
        double size = fabs(check->difference.values[i]);
        double ratio = size == 0 ? 0 : size / (unit * check->difference.scale[i / VECTORS]);
        if (!(ratio <= worst)) /* not a number is worst of all */
            worst = isnan(ratio) ? INFINITY : ratio;
    }
    return worst;
}

static int prepare(check_t *check)
{
    const cannon_t *c = check->c;
    int64_t longest = c->shared.k > c->shared.n ? c->shared.k : c->shared.n;
    check->strip = malloc((size_t)(longest > STRIP_ELEMENTS ? longest : STRIP_ELEMENTS) * sizeof(double));
    int error = check->strip ? EPOP_OK : EPOP_ERR_MEMORY;
    error = error ? error : bundle_allocate(&check->r, c->shared.n);
    error = error ? error : bundle_allocate(&check->br, c->shared.k);
    error = error ? error : bundle_allocate(&check->difference, c->shared.m);
    snprintf(check->text, sizeof(check->text), "out of memory for the verification");
    return cannon_agree(error, check->text);
}

static int run_check(check_t *check)
{
    int error = prepare(check);
    if (error)
        return error;
    fill_random_signs(&check->r, cannon_hash(check->c->options.seed, 1));
    error = cannon_agree(apply_source(check, &check->c->b_source, 1.0, &check->r, &check->br), check->text);
    if (error)
        return error;
    bundle_sum(&check->br);
    error = cannon_agree(apply_source(check, &check->c->a_source, -1.0, &check->br, &check->difference), check->text);
    if (error)
        return error;
    apply_product(check);
    bundle_sum(&check->difference);
    return EPOP_OK;
}

static int report(const cannon_t *c)
{
    char text[CANNON_TEXT];
    cannon_say(c, "%s with %d random vectors: residual %.3g (at most 1 by rounding)\n",
               c->residual <= 1 ? "verified" : "NOT verified", VECTORS, c->residual);
    snprintf(text, sizeof(text), "the product is wrong: residual %.3g, at most 1 can come from rounding", c->residual);
    return cannon_agree(c->residual <= 1 ? EPOP_OK : EPOP_ERR_STATE, text);
}

int cannon_verify_exec(void *data)
{
    cannon_t *c = data;
    if (!c->options.verify)
        return EPOP_OK;
    check_t check = {.c = c};
    int error = run_check(&check);
    if (error == EPOP_OK)
        c->residual = scaled_residual(&check);
    bundle_free(&check.r);
    bundle_free(&check.br);
    bundle_free(&check.difference);
    free(check.strip);
    return error ? error : report(c);
}
