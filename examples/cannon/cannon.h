/*
 * C = A * B by Cannon's algorithm, panel by panel of the inner dimension: the data of the program, and what
 * its source files share. `c` is the program's data everywhere.
 */
#ifndef CANNON_H
#define CANNON_H

#include <stddef.h>
#include <stdint.h>

#include <epop/epop.h>

#include "common/npy.h"

#define CANNON_TEXT        1024 /* for one line of error text */
#define CANNON_REPEATS_MAX 100
#define CANNON_WIDTH_MAX   1000000000 /* of a panel: wider than any matrix */

typedef struct cannon_options {
    const char *a, *b, *c; /* files; NULL where none is given */
    int random;            /* generate A (m x k) and B (k x n) */
    int64_t m, k, n;
    uint64_t seed;
    int64_t width; /* inner indices of one block: a panel is `width` times the grid's side */
    int repeats;
    int save, verify, json, help;
} cannon_options_t;

/* Where A or B comes from. Any block can be had at any time, on any rank, without communication. */
typedef struct cannon_source {
    int64_t rows, cols;
    npy_file_t file; /* unless it is generated */
    int random;
    uint64_t key; /* of the generator */
} cannon_source_t;

/* The square grid of the world; rank r stands at row r / side, column r % side. */
typedef struct cannon_grid {
    MPI_Comm comm; /* periodic, MPI_COMM_NULL while there is none */
    int side, row, col;
} cannon_grid_t;

enum { CANNON_A = 0, CANNON_B = 1 }; /* what the arrays of two are indexed with */

/* The blocks that are multiplied now, and those that travel meanwhile. */
typedef struct cannon_pipeline {
    const double *now[2], *next[2]; /* in `stored` or in one of the buffers */
    double *buffers[2][2];          /* [A or B][turn] */
    MPI_Datatype line[2];           /* one inner index of a block: a column of A, a row of B */
    MPI_Request requests[4];
    int pending; /* requests under way */
    int turn;    /* which buffers the next blocks arrive in */
    int open;    /* there are buffers and types */
    int posted;  /* `next` is the first step of the next panel */
} cannon_pipeline_t;

/* What every rank knows; joining ranks get it in the window. */
typedef struct cannon_shared {
    int64_t m, k, n, width;
    int64_t done; /* inner blocks, of `width` indices each, that are in C */
    int runs;     /* multiplications done */
    int resizes;
    double seconds;        /* in the present multiplication, without windows */
    double window_seconds; /* in windows */
} cannon_shared_t;

typedef struct cannon {
    cannon_options_t options;
    cannon_source_t a_source, b_source;
    cannon_shared_t shared;
    cannon_grid_t grid;
    cannon_pipeline_t pipeline;
    /* May be tuned: the width of the next multiplication, and the rows of C between two looks at the messages. */
    int width, slice;
    /* The local blocks. A is stored by columns and B by rows, so that the part for a range of inner indices is one
     * piece of memory; C is stored by rows. */
    double *stored[2], *product;
    double *run_seconds; /* of each multiplication, slowest rank; CANNON_REPEATS_MAX of them */
    double residual;     /* what verification found; negative: not verified */
} cannon_t;

/* ---- options.c ---- */
/* 0, or -1 with text. Local. */
int cannon_options_parse(cannon_options_t *options, int argc, char **argv, char *error, size_t error_size);
void cannon_usage(void);

/* ---- source.c ---- */
/* Opens the files, or prepares the generator, and checks that the shapes fit. 0, or -1 with text. Local. */
int cannon_sources_open(cannon_t *c, char *error, size_t error_size);
void cannon_sources_close(cannon_t *c);
/* Like npy_read, from a file or the generator. */
int cannon_source_read(const cannon_source_t *source, const npy_block_t *block, double *buffer, int64_t ld,
                       int column_major, char *error, size_t error_size);
/* A well mixed 64-bit number that depends on nothing but key and index. */
uint64_t cannon_hash(uint64_t key, uint64_t index);

/* ---- layout.c ---- */
/* How A, B and C lie on the grid, whatever its side is. */
epop_dist2d_t cannon_layout_a(const cannon_t *c);
epop_dist2d_t cannon_layout_b(const cannon_t *c);
epop_dist2d_t cannon_layout_c(const cannon_t *c);
/* Rows, and columns, of C that this rank holds. */
int64_t cannon_local_rows(const cannon_t *c);
int64_t cannon_local_cols(const cannon_t *c);
/* This rank's part of C. */
npy_block_t cannon_local_block(const cannon_t *c);
void cannon_grid_close(cannon_t *c);
/* Frees the local blocks. */
void cannon_blocks_free(cannon_t *c);
/* Grid and pipeline of the present world, when the local blocks are there. */
int cannon_rebuild(void *data);
int cannon_load_exec(void *data);

/* ---- pipeline.c ---- */
/* Buffers and types for the present grid. EPOP_OK or EPOP_ERR_MEMORY. */
int cannon_pipeline_open(cannon_t *c);
/* Waits for what is under way, and drops it; every rank has posted the same. Fine when it is not open. */
void cannon_pipeline_close(cannon_t *c);
/* Lets the blocks travel for a step of the panel that begins with inner block `first`; cannon_pipeline_wait makes them
 * the present ones. */
void cannon_pipeline_post(cannon_t *c, int64_t first, int step);
void cannon_pipeline_wait(cannon_t *c);
/* Non-zero when nothing is under way (any more). */
int cannon_pipeline_test(cannon_t *c);
/* Inner indices in a step's block: `width`, fewer at the end of the matrix. */
int64_t cannon_step_width(const cannon_t *c, int64_t first, int step);

/* ---- multiply.c ---- */
int cannon_multiply_exec(void *data);
int cannon_multiply_adapt(void *data);
int cannon_multiply_loop(void *data);
void cannon_multiply_progress(void *data, epop_progress_t *progress);

/* ---- verify.c ---- */
int cannon_verify_exec(void *data);

/* ---- output.c ---- */
int cannon_measure_exec(void *data);
int cannon_write_exec(void *data);
int cannon_save_exec(void *data);
void cannon_print_json(const cannon_t *c);

/* ---- cannon.c ---- */
/* Seconds of a clock that never goes back. */
double cannon_clock(void);
/* The data, for the runtime: what moves, and what is saved. */
void cannon_describe(void *data, epop_description_t *d);
/* Collective over epop_world(): one line on stderr and the same result everywhere if a rank has an error. */
int cannon_agree(int error, const char *text);
/* Prints on rank 0, at once, unless the output is to be JSON alone. Local. */
__attribute__((format(printf, 2, 3))) void cannon_say(const cannon_t *c, const char *format, ...);

#endif
