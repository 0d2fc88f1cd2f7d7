/* An MPI datatype in the terms of a file. */
#ifndef EPOP_CHECKPOINT_ELEMENT_TYPE_H
#define EPOP_CHECKPOINT_ELEMENT_TYPE_H

#include <mpi.h>

#include "runtime/checkpoint/layout.h"

/* Local. What cannot be told as numbers, or has too many members, is opaque. 0, or -1 if MPI does not know the type. */
int element_type_of(MPI_Datatype type, struct layout_type *layout);

#endif
