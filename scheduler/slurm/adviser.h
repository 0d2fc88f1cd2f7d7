/*
 * The adviser beside an unmodified Slurm: it reads the queue, lets a policy decide, and asks the jobs that
 * it is connected to to take nodes, as companions of their own, and to give them back. It allocates nothing, and
 * keeps no more than a record of what happened and what was measured of programs; it may die at any moment, and a new
 * one goes on.
 */
#ifndef SCHEDULER_SLURM_ADVISER_H
#define SCHEDULER_SLURM_ADVISER_H

#include "runtime/base/error.h"

struct slurm_options {
    const char *directory;    /* its state: socket and lock */
    const char *policy;       /* NULL: gain */
    int port;                 /* for jobs; 0: any */
    const char *address_file; /* where it says where it listens; NULL: the usual place */
    const char *reader;       /* "libslurm", "squeue"; NULL: the best that is there */
};

/* Its whole life, in this process: `ready` is called when it takes requests. -1: a line says why it could not begin, or
 * could not go on. */
int slurm_run(const struct slurm_options *options, void (*ready)(void *context), void *context, struct error *error);

#endif
