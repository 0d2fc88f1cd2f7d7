/*
 * Watches what the program does in MPI and sums it up (runtime/member/stretch.h): by whom a message is to be received,
 * by how many a collective call is to be made. Any thread of the program may call MPI meanwhile.
 */
#ifndef EPOP_ADAPT_WITNESS_H
#define EPOP_ADAPT_WITNESS_H

#include <mpi.h>

#include "runtime/member/stretch.h"

/* Which functions are which; once, before the first call of the others. */
void witness_init(void);

/* From here on, of a world with this communicator. Local, as all here. */
void witness_begin(MPI_Comm world);
/* What was done so far. */
struct stretch witness_read(void);
void witness_end(void);

#endif
