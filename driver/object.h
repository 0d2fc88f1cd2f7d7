/*
 * Opens a shared object, a program's or a driver's, after a look at its file and at the libraries that it
 * would bring in: a second MPI library in the process is refused before any of its code runs.
 */
#ifndef DRIVER_OBJECT_H
#define DRIVER_OBJECT_H

#include <stddef.h>

/* The handle of dlopen, or NULL with one line of text in error. *uses_mpi: it, or a library that it needs, refers
 * to MPI or to the elastic interface. `kind` ("program", "driver") is for the text. */
void *object_open(const char *kind, const char *path, int *uses_mpi, char *error, size_t error_size);

/* Closes it; 1 if it stayed mapped all the same, 0 otherwise. */
int object_close(void *handle, const char *path);

#endif
