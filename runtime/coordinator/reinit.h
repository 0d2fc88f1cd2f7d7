/*
 * What is asked for re-initialization: that the job is of programs which call for it, that processes be spawned and how
 * far that is, and that all re-initialize. The last word is the program's: connecting, too, waits for it.
 *
 * Source: S. Happ, Malleability with MPI Sessions: Extensions for ParaStation MPI (MPI Forum, May 2024).
 */
#ifndef EPOP_COORDINATOR_REINIT_H
#define EPOP_COORDINATOR_REINIT_H

#include "runtime/coordinator/inquiries.h"

/* Each: the answer, or NULL while it waits. */
inquiry_answer reinit_malleable;
inquiry_answer reinit_begin;   /* by all processes of the world */
inquiry_answer reinit_spawn;   /* by the root of a spawn */
inquiry_answer reinit_spawned; /* how far is it, and does anybody ask for another size? */

#endif
