/*
 * Reads Matrix Market files (https://math.nist.gov/MatrixMarket/formats.html): coordinate or array, real or
 * integer, general or symmetric. Entries are handed over one by one, so that the caller stores what it wants.
 */
#ifndef GAUSS_MTX_H
#define GAUSS_MTX_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct mtx {
    int64_t rows, cols;
    int64_t stored; /* entries in the file; a symmetric one stores the lower triangle only */
    int array;      /* every entry, by columns, without indices */
    int symmetric;
    const char *path; /* the caller's; for messages */
    FILE *file;
    char *line;
    size_t line_size;
    int64_t line_number;
} mtx_t;

/* One entry, indices from 0. An entry that the file repeats comes again: the values are to be added up. */
typedef void mtx_entry_fn(void *context, int64_t row, int64_t col, double value);

/* Opens the file and reads its banner and size line. 0, or -1 with one line of text in error and nothing open. */
int mtx_open(mtx_t *mtx, const char *path, char *error, size_t error_size);

/* Reads all entries, the mirrored ones of a symmetric matrix too; once. 0, or -1 with one line of text in error. */
int mtx_entries(mtx_t *mtx, mtx_entry_fn *entry, void *context, char *error, size_t error_size);

void mtx_close(mtx_t *mtx);

#endif
