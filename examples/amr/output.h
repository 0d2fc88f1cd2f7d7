/* What the solver tells of itself. Collective; rank 0 writes. */
#ifndef AMR_OUTPUT_H
#define AMR_OUTPUT_H

#include "amr/solver.h"

/* Behind a step, to the files of the options: a line of what it took, and the mesh if it is the turn of that. `asked`
 * is how many ranks the program wants. 0, or an error number on all ranks, after a message. */
int output_step(const solver_t *solver, int64_t asked);

/* A line of JSON, of ranks that changed so many times. */
void output_report(const solver_t *solver, int64_t resizes, int64_t balances);

#endif
