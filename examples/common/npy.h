/*
 * .npy files of double precision numbers (little-endian, C or Fortran order, one or two dimensions),
 * read and written in blocks: every rank opens the file itself and moves its own part of it.
 */
#ifndef EXAMPLES_NPY_H
#define EXAMPLES_NPY_H

#include <stddef.h>
#include <stdint.h>

typedef struct npy_shape {
    int dimensions;     /* 1 or 2 */
    int64_t rows, cols; /* an array of one dimension has 1 column */
    int fortran_order;  /* non-zero: stored by columns */
} npy_shape_t;

typedef struct npy_file {
    npy_shape_t shape;
    int fd;
    int64_t data; /* position of the first element, bytes */
    char *path;
} npy_file_t;

/* A part of the matrix: rows row0 .. row0+rows-1, columns col0 .. col0+cols-1. */
typedef struct npy_block {
    int64_t row0, rows, col0, cols;
} npy_block_t;

typedef enum npy_mode { NPY_READ, NPY_READ_WRITE } npy_mode_t;

/*
 * All of these are local, and return 0, or -1 with one line of text, which names the file, in error (at most
 * error_size bytes with the terminator).
 */

/* Opens a file and checks it: its header, its type, and that it is as long as its shape says. */
int npy_open(npy_file_t *file, const char *path, npy_mode_t mode, char *error, size_t error_size);
/* Closes it. Fine on a file that is closed, or all zero. */
void npy_close(npy_file_t *file);

/* Creates (or replaces) a file of this shape, all elements 0. One rank does this; then every rank opens it. */
int npy_create(const char *path, const npy_shape_t *shape, char *error, size_t error_size);
/* Whether npy_create could create or replace the file. Leaves it as it is. */
int npy_check_writable(const char *path, char *error, size_t error_size);

/*
 * Move a block between the file and a buffer. Element (i, j) of the block is buffer[i * ld + j], or
 * buffer[j * ld + i] if column_major; ld is counted in elements. Several ranks may write different blocks at once.
 */
int npy_read(const npy_file_t *file, const npy_block_t *block, double *buffer, int64_t ld, int column_major,
             char *error, size_t error_size);
int npy_write(const npy_file_t *file, const npy_block_t *block, const double *buffer, int64_t ld, int column_major,
              char *error, size_t error_size);

#endif
