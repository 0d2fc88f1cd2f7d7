/*
 * What all ranks of a window do together for described data: agree whether to go on, add up, hand round, read from a
 * checkpoint. All of it is collective over window->all unless it says local, and gives up the processor while it waits,
 * as redistributions do. Functions that return int give EPOP_OK or an EPOP_ERR_, the same on all ranks; those that take
 * an error for its text, 0 or -1.
 */
#ifndef EPOP_DESCRIBE_COLLECTIVE_H
#define EPOP_DESCRIBE_COLLECTIVE_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/describe/describe.h"

/* ---- Numbers and bytes -------------------------------------------------------------------------- */

int collective_max(const epop_window_t *window, int64_t *values, int count);
int collective_min(const epop_window_t *window, int64_t *values, int count);
int collective_or(const epop_window_t *window, uint64_t *values, int count);
int collective_sum(const epop_window_t *window, uint64_t *values, int count);
int collective_broadcast(const epop_window_t *window, void *data, size_t bytes, int root);

/* From rank 0 to all others; `count` elements. */
int describe_broadcast(const epop_window_t *window, void *data, int64_t count, MPI_Datatype type);

/* Of `mine` elements per rank, in the order of the ranks: where those of this rank start, and all of them. 0, or -1. */
int describe_place(const epop_window_t *window, int64_t mine, int64_t *first, int64_t *total, struct error *error);

/* ---- Faults ------------------------------------------------------------------------------------- */

/* A line on stderr by rank 0; nobody goes on before it is out. EPOP_ERR_ARGUMENT. */
int collective_refuse(const epop_window_t *window, const char *text);

/* Is `text`, unless NULL, an error on any rank? 0, or -1 with the text of the first rank that has one. */
int describe_all_well(const epop_window_t *window, const char *text, struct error *error);

/* Do all ranks go on? `error` is what is the matter here (ERROR_NONE: nothing), and afterwards what is with the first
 * rank that cannot. EPOP_OK, or the same result on all. */
int describe_settle(const epop_window_t *window, struct error *error);
/* Then, where nobody else says it: a line on stderr, from rank 0. */
void describe_say(const epop_window_t *window, const struct error *error);
/* Both. */
int describe_settle_and_say(const epop_window_t *window, struct error *error);

/* ---- Reading from a checkpoint ------------------------------------------------------------------ */

/* Reads slab->count elements into new memory, slab->data: NULL where it fails. 0, or -1 on all ranks alike. */
int describe_read_part(const epop_window_t *window, const struct slab_reader *reader, struct slab *slab,
                       struct error *error);

/* The same of a slab that has one dimension of `extent` elements, or is refused. */
int describe_read(const epop_window_t *window, const struct slab_reader *reader, struct slab *slab, int64_t extent,
                  struct error *error);

/* ---- Windows ------------------------------------------------------------------------------------ */

/* The rank in window->all of each new rank. From malloc(); NULL: out of memory. Local. */
int *describe_new_ranks(const epop_window_t *window);

/* A window of comm in which nobody comes or goes, by which checkpoints and restarts use redistribution: status STAYING,
 * new_ranks the identity. Local; freed by describe_still_free. */
int describe_still(MPI_Comm comm, epop_window_t *window);
void describe_still_free(epop_window_t *window);

#endif
