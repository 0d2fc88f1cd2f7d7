/*
 * MPICH has hwloc look at the whole host while it begins, which takes half of MPI_Init, and so of a resize; sockets
 * need little of that. What users set stays, and the program's own hwloc sees all.
 */
#ifndef EPOP_JOB_HWLOC_H
#define EPOP_JOB_HWLOC_H

/* Before MPI_Init: what is left out, by variables of the environment. For hwloc_look_at_all. Local. */
unsigned hwloc_look_less(void);

/* After it: takes these variables back. Local. */
void hwloc_look_at_all(unsigned left_out);

#endif
