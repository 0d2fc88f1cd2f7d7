/* Errors that only some ranks see: all ranks of a phase must return the same, and the user wants one line. */
#ifndef EXAMPLES_AGREE_H
#define EXAMPLES_AGREE_H

#include <mpi.h>

/*
 * Collective over comm. `error` is 0 on ranks where all is well. The lowest rank with an error prints
 * "PROGRAM: TEXT" to stderr, and every rank returns that rank's error; 0 if there is none.
 */
int agree_on_error(MPI_Comm comm, int error, const char *program, const char *text);

#endif
