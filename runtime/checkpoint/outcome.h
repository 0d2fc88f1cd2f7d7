/*
 * One result for all ranks: what one of them cannot do, none has done, and all have the same words for it. Collective
 * over comm. Waiting gives up the processor.
 */
#ifndef EPOP_CHECKPOINT_OUTCOME_H
#define EPOP_CHECKPOINT_OUTCOME_H

#include <mpi.h>
#include <stdint.h>

#include "runtime/base/error.h"

/* result: 0, or -1 with this rank's text. 0 if it is that on all ranks; else -1, with the text of the first that
 * failed. */
int outcome_of_all(MPI_Comm comm, int result, struct error *error);

/* What rank 0 had: its result and text; and its `bytes` at data, if that was 0. */
int outcome_of_first(MPI_Comm comm, int result, void *data, int64_t bytes, struct error *error);

#endif
