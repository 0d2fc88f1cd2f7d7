/*
 * A connection to a joining process by way of this process. In MPICH's ch3:sock a connection that is reset, because a
 * process was killed before it had read all, is an error of whatever thread is in MPI then, though only one has to do
 * with it. Through the detour it just ends, which nobody minds.
 */
#ifndef EPOP_DETOUR_H
#define EPOP_DETOUR_H

#include <stddef.h>

#include "runtime/base/error.h"

/*
 * Connects to the port, and has a thread pass on what comes: writes the name of a port here that leads to it. One
 * connection can be made to that; the thread ends when both of its sides have closed. A port whose name is not
 * understood stays as it is. 0, or -1 with one line of text.
 */
int detour_begin(const char *port, char *here, size_t size, struct error *error);

#endif
