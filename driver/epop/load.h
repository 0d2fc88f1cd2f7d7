/*
 * Loads a program: finds its shared object, looks at it before any of its code runs, opens it, calls
 * get_program and validates the result.
 */
#ifndef DRIVER_LOAD_H
#define DRIVER_LOAD_H

#include <stddef.h>

#include <epop/program.h>

#include "driver/epop/object.h"
#include "runtime/base/error.h"

struct loaded_program {
    void *handle;            /* of dlopen */
    epop_program_t *program; /* its name is set, to the file's name if the program has none */
    char *path;              /* the file that was opened */
    struct object_uses uses; /* it, or a library that came in with it */
    char *given_name;        /* internal: the name that was put into the program; NULL if it had one */
};

/*
 * Loads the program `path`: a path, or a bare name of a file in the current directory or of one of the
 * installed programs and examples. 0, or -1 with one line of text in error and *out all zero. Local.
 */
int load_program(const char *path, struct loaded_program *out, struct error *error);

/*
 * Frees the program if it came from one of libepop's constructors, and closes the shared object. *p is all zero
 * then. Returns 1 if the object stayed mapped (its statics keep their values), 0 otherwise. Local.
 */
int unload_program(struct loaded_program *p);

#endif
