/* What an executable's data is, and where it goes on from a checkpoint. The program's thread alone. */
#ifndef EPOP_ADAPT_RESTART_H
#define EPOP_ADAPT_RESTART_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/describe/describe.h"
#include "runtime/job/elastic.h"

/* In MPI_Init_adapt of a job that goes on: its first probe is that of the checkpoint. Local. */
void restart_begin(const struct elastic *e);
/* The probes that were before the first one: 0 in a job that begins anew. */
int64_t restart_count(void);

/* Registers the block; and fills the data in, if it is not there. joins: it comes in the window. Collective over the
 * world where it fills. */
void restart_describe(const struct elastic *e, void (*block)(void *data, epop_description_t *d), void *data,
                      bool joins);
/* Is the data missing? */
bool restart_waits(void);

/* In each probe, behind what else is in *info (NULL: nobody asks): in the first one of a process that was started again
 * after a fault, how often that was. Where nothing else is in it, *info is made, and the caller's. */
void restart_tell_fault(MPI_Info *info);

#endif
