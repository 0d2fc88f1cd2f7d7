/*
 * The exchange: sends what this rank gives away, receives what it gets, copies what it keeps. All ranks of a window
 * take part; nothing goes through a root. What goes from one rank to another is a stream of elements.
 */
#ifndef REDIST_EXCHANGE_H
#define REDIST_EXCHANGE_H

#include <stdbool.h>

#include "runtime/redist/element.h"
#include "runtime/redist/plan.h"

/* ---- Streams ------------------------------------------------------------------------------------ */

/* The elements that go from one rank to another, in order: those of a cursor, of blocks, of lists, or, for rows of
 * different lengths, the values of the rows of a cursor. */

/* Where the rows of the local blocks start among their values: `count` starts, then `total`. By redist_side. */
typedef struct redist_rows {
    const int64_t *starts[2];
    int64_t count[2], total[2];
} redist_rows;

/* Copying it copies the position. */
typedef struct redist_stream {
    int64_t left;              /* elements still to come */
    int one_run;               /* they lie in one run without gaps, before and after */
    const redist_rows *rows;   /* NULL: the elements are the cursor's own */
    const redist_lists *lists; /* NULL: it is by distributions */
    int64_t listed[2];         /* lists only: how far this rank's own sides are in them */
    redist_cursor cursor;
    struct redist_boxes boxes; /* without dimensions: of a matrix */
    int known[2];              /* rows and lists: which sides are this rank's own */
    /* Rows only: what is left of the present piece of rows. */
    redist_piece row;
    int64_t row_time, at;
} redist_stream;

/* `from` or `to` is this rank, or both. */
redist_stream redist_stream_start(const redist_plan *plan, const redist_rows *rows, int from, int to);
/* As redist_cursor_take. On a side that is not this rank's own the place is meaningless. */
int redist_stream_take(redist_stream *stream, int64_t most, redist_piece *piece);
/* Skips `count` elements. The position of the first if they follow each other without gaps on `side`, else -1. */
int64_t redist_stream_skip(redist_stream *stream, int64_t count, redist_side side);

/* ---- The exchange ------------------------------------------------------------------------------- */

/* On window->all, the runtime's own communicator. A user's message there must not have this tag. */
#define REDIST_TAG 32001

/* The largest message of packed elements, and of elements sent from where they are; bytes. Variables, so that
 * tests can cut small data into many messages. The same on every rank. */
extern int64_t redist_staged_bytes, redist_direct_bytes;
extern int redist_wave_steps; /* steps of a lane that go on side by side, at most 8 */

typedef struct redist_exchange {
    const redist_plan *plan;
    const redist_rows *rows; /* NULL: elements of a matrix */
    redist_element element;
    const void *before; /* the old block */
    void *after;        /* the new one; the same: what this rank keeps is in place */
    char *staging;      /* redist_staging_bytes of them */
    /* The new block is part of the old one, and there is no way back: what stays is closed up while the rest leaves. */
    bool closes_up;
} redist_exchange;

/* What an exchange needs besides the blocks. */
int64_t redist_staging_bytes(const redist_element *element);

/* Collective over window->all. Goes through to the end in any case, so that no rank waits for one that failed.
 * MPI_SUCCESS, or the first MPI error here. */
int redist_exchange_run(const redist_exchange *exchange);

#endif
