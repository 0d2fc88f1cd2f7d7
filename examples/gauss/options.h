/* The command line of the Gauss example. */
#ifndef GAUSS_OPTIONS_H
#define GAUSS_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

/* The strings belong to argv. */
typedef struct options {
    const char *a_path; /* NULL: a random matrix of order random_n */
    const char *b_path; /* NULL: b = A x with a known x */
    const char *output; /* NULL: x is not written */
    int64_t random_n;
    int64_t block; /* columns per block */
    int64_t width; /* columns eliminated at a time, at most a block */
    double
        tolerance; /* pivots below this times the largest entry of their column count as zero; < 0: n times epsilon */
    int json, help;
} options_t;

/* 0, or -1 with one line of text in error. */
int options_parse(options_t *options, int argc, char **argv, char *error, size_t error_size);

/* What --help shows. */
void options_usage(void);

#endif
