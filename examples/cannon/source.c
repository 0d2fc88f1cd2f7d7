/* Where A and B come from: files, or a generator whose elements depend on nothing but their place. */
#include "cannon.h"

#include <stdio.h>

/* The mixing of splitmix64. Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014. */
uint64_t cannon_hash(uint64_t key, uint64_t index)
{
    uint64_t z = key + (index + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* An element between -1 and 1. */
static double element(const cannon_source_t *source, int64_t row, int64_t col)
{
    uint64_t hash = cannon_hash(source->key, (uint64_t)(row * source->cols + col));
    return (double)(int64_t)(hash >> 11) * 0x1p-52 - 1.0;
}

static void generate(const cannon_source_t *source, const npy_block_t *block, double *buffer, int64_t ld,
                     int column_major)
{
    int64_t lines = column_major ? block->cols : block->rows;
    int64_t width = column_major ? block->rows : block->cols;
    for (int64_t line = 0; line < lines; line++) {
        for (int64_t i = 0; i < width; i++) {
            int64_t row = block->row0 + (column_major ? i : line);
            int64_t col = block->col0 + (column_major ? line : i);
            buffer[line * ld + i] = element(source, row, col);
        }
    }
}

int cannon_source_read(const cannon_source_t *source, const npy_block_t *block, double *buffer, int64_t ld,
                       int column_major, char *error, size_t error_size)
{
    if (!source->random)
        return npy_read(&source->file, block, buffer, ld, column_major, error, error_size);
    generate(source, block, buffer, ld, column_major);
    return 0;
}

static int open_file(cannon_source_t *source, const char *path, char *error, size_t error_size)
{
    if (npy_open(&source->file, path, NPY_READ, error, error_size) != 0)
        return -1;
    source->rows = source->file.shape.rows;
    source->cols = source->file.shape.cols;
    if (source->file.shape.dimensions == 2 && source->rows <= INT32_MAX && source->cols <= INT32_MAX)
        return 0;
    snprintf(error, error_size, "%s: %s", path,
             source->file.shape.dimensions == 2 ? "it has more than 2147483647 rows or columns"
                                                : "it is a vector, a matrix (2 dimensions) is needed");
    return -1;
}

static int open_files(cannon_t *c, char *error, size_t error_size)
{
    cannon_source_t *a = &c->a_source, *b = &c->b_source;
    if (open_file(a, c->options.a, error, error_size) != 0 || open_file(b, c->options.b, error, error_size) != 0)
        return -1;
    if (a->cols == b->rows)
        return 0;
    snprintf(error, error_size, "the inner dimensions differ: %s is (%lld, %lld), %s is (%lld, %lld)", c->options.a,
             (long long)a->rows, (long long)a->cols, c->options.b, (long long)b->rows, (long long)b->cols);
    return -1;
}

int cannon_sources_open(cannon_t *c, char *error, size_t error_size)
{
    const cannon_options_t *options = &c->options;
    if (!options->random)
        return open_files(c, error, error_size);
    uint64_t key = cannon_hash(options->seed, 0);
    c->a_source = (cannon_source_t){.rows = options->m, .cols = options->k, .random = 1, .key = key};
    c->b_source = (cannon_source_t){.rows = options->k, .cols = options->n, .random = 1, .key = ~key};
    return 0;
}

void cannon_sources_close(cannon_t *c)
{
    npy_close(&c->a_source.file);
    npy_close(&c->b_source.file);
}
