/*
 * Files that processes of MPICH leave in shared memory (/dev/shm/mpich_shar_tmp*). Most of its devices make one in
 * MPI_Init, and with some communicators, for the processes of a host, and remove it when all have it: a process that is
 * killed in between leaves it for good.
 */
#ifndef EPOP_LEFTOVERS_H
#define EPOP_LEFTOVERS_H

/* Removes those of this user which no process has open or mapped: the name does not say whose it was. Any thread. */
void leftovers_remove(void);

#endif
