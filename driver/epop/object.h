/*
 * Opens a shared object, a program's or a driver's, after a look at its file and at the libraries that it
 * would bring in: a second MPI library in the process is refused before any of its code runs.
 */
#ifndef DRIVER_OBJECT_H
#define DRIVER_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/error.h"

/* What a shared object, or a library that it needs, refers to. */
struct object_uses {
    int mpi;            /* MPI, or the elastic interface */
    int error_handlers; /* functions that make error handlers of MPI */
};

/* The handle of dlopen, or NULL with one line of text in error. `kind` ("program", "driver") is for the text. */
void *object_open(const char *kind, const char *path, struct object_uses *uses, struct error *error);

/* Closes it; 1 if it stayed mapped all the same, 0 otherwise. */
int object_close(void *handle, const char *path);

/* Has it a main() of its own, and may be run? A program for epop names no interpreter of the dynamic linker; an
 * executable does, or is a script. */
bool object_is_executable(const char *path);

/* Why it stays in memory after it is closed, as far as its file tells, and what helps. A line without an end: "it
 * defines GNU-unique symbols (...): ...". Of a file that can be read. Local. */
void object_why_it_stays(const char *path, char *text, size_t size);

#endif
