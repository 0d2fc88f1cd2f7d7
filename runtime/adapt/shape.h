/*
 * Where in its loop does an executable probe? A joining process comes in at the others' probe, without having made it.
 * If an iteration comes next, its next probe is the next of all. But if it was behind the commit that it entered a loop
 * with the probe at its start, it meets one more before the iteration that the others are in. It is told by what
 * follows: an iteration's communication lies between its first two probes, and in the one case also before the first.
 */
#ifndef EPOP_ADAPT_SHAPE_H
#define EPOP_ADAPT_SHAPE_H

#include <stdbool.h>

/* After the commit of a joining process, which counts its first probe already: begins to look at its MPI calls. */
void shape_begin(void);

/* Still looking? */
extern bool shape_looking;

/* A probe while looking. True if it is none that counts (again). */
bool shape_passes(void);

#endif
