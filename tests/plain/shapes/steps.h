/* What a step of a loop does: see shape.h. Whatever arrives is checked. */
#ifndef STEPS_H
#define STEPS_H

#include <mpi.h>
#include <stdint.h>

#include "shape.h"

/* Communicators and more that steps need in a world, made before the first step in it and given back before commit. */
void steps_open(const struct shape *shape, MPI_Comm world);
void steps_complete(void); /* what was sent and not waited for */
void steps_close(void);

/* `where` is the iteration, the same on all ranks; the program ends with a message when it is not. */
void steps_do(const struct step *step, int64_t where);

void steps_wrong(const char *what, int64_t value, int64_t expected);
#endif
