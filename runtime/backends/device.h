/* What has to be known about the device of the MPI library. */
#ifndef EPOP_DEVICE_H
#define EPOP_DEVICE_H

#include <stdbool.h>

/* Do waiting processes sleep? Of MPICH's devices only that of sockets lets them; the others spin. Also before MPI_Init.
 */
bool device_sleeps(void);

#endif
