/*
 * The exchange: sends what this rank gives away, receives what it gets, copies what it keeps. All ranks of a
 * window take part; nothing goes through a root.
 */
#ifndef REDIST_EXCHANGE_H
#define REDIST_EXCHANGE_H

#include "runtime/redist/element.h"
#include "runtime/redist/stream.h"

/* On window->all, the runtime's own communicator. A user's message there must not carry it. */
#define REDIST_TAG 32001

/* The largest message of packed elements, and of elements sent from where they are; bytes. Variables, so that
 * tests can cut small data into many messages. The same on every rank. */
extern int64_t redist_staged_bytes, redist_direct_bytes;

typedef struct redist_exchange {
    const redist_plan *plan;
    const redist_rows *rows; /* NULL: elements of a matrix */
    redist_element element;
    const void *before; /* the old block */
    void *after;        /* the new one; the same: what this rank keeps is in place */
    char *staging;      /* redist_staging_bytes of them */
} redist_exchange;

/* What an exchange needs besides the blocks. */
int64_t redist_staging_bytes(const redist_element *element);

/* Collective over window->all. Goes through to the end in any case, so that no rank waits for one that failed.
 * MPI_SUCCESS, or the first MPI error here. */
int redist_exchange_run(const redist_exchange *exchange);

#endif
