/* The keys of communicators' attributes that this process has made: for what an adaptation carries over. */
#ifndef EPOP_INTERPOSE_KEYVALS_H
#define EPOP_INTERPOSE_KEYVALS_H

#include <mpi.h>

#include "interpose/instead.h"

void keyvals_add(int keyval, MPI_Comm_copy_attr_function *copy, void *extra_state);
void keyvals_remove(int keyval);

/* One of these keys is Fortran's. */
void keyvals_by_fortran(int keyval, const struct epop__fortran_keyval *how);

/* Copies attributes from `before` to `after`, as far as their copy functions say so. */
void keyvals_copy(MPI_Comm before, MPI_Comm after);

/* Deletes the attributes of `comm`, which calls their delete functions. */
void keyvals_delete(MPI_Comm comm);

#endif
