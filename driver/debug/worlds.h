/* The worlds that come and go: which communicators come from which, and who uses one that is gone. */
#ifndef DRIVER_DEBUG_WORLDS_H
#define DRIVER_DEBUG_WORLDS_H

#include <mpi.h>

#include "driver/debug/debug.h"
#include "interpose/interpose.h"

void worlds_start(struct debug *debug);
void worlds_stop(void);
void worlds_reset(void);

/* The number of the world that a communicator comes from, or ROOT_NONE. */
int worlds_root(MPI_Comm comm);
/* An MPI call uses, or frees, this communicator. */
void worlds_check_use(const struct debug *debug, enum interpose_function function, MPI_Comm comm);
void worlds_check_free(const struct debug *debug, enum interpose_function function, MPI_Comm comm);
/* A new communicator has this handle. */
void worlds_forget(MPI_Comm comm);
/* The program keeps attributes on communicators: what they hold may be freed with these. */
void worlds_note_attribute(void);

#endif
