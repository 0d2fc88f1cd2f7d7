/* The header of a .npy file: a magic number, a version, and a Python dictionary as text. Internal to npy.c. */
#ifndef EXAMPLES_NPY_HEADER_H
#define EXAMPLES_NPY_HEADER_H

#include "common/npy.h"

#define NPY_HEADER_MAX 4096 /* longer ones are refused; numpy writes 128 bytes */

/*
 * Reads the header from the file. 0 with the shape and the position of the first element, or -1 with a reason
 * (without the file's name) in error.
 */
int npy_header_read(int fd, npy_shape_t *shape, int64_t *data, char *error, size_t error_size);

/* Puts the header of a version 1.0 file into text; returns its length, a multiple of 64. */
int npy_header_format(const npy_shape_t *shape, char text[NPY_HEADER_MAX]);

#endif
