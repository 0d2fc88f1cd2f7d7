/*
 * Leaving Hydra without MPI_Finalize, which would wait for all processes of the launch: the process manager is told
 * that this process is finalized, over the connection that MPI uses for PMI-1. Found by experiment to work under
 * Hydra with ch3:sock, ch3:nemesis and ch4; then no other process of that launch may call MPI_Finalize either.
 */
#ifndef EPOP_PMI_H
#define EPOP_PMI_H

#include <stdbool.h>

/* The connection is this process's alone: neither programs that it starts have it, nor children that it forks. Local.
 */
void pmi_only_here(void);

/* To the manager; -1: there is none. Local. */
int pmi_connection(void);

/*
 * However this process ends, the connection stays open until it can be waited for: for an mpiexec that loses its status
 * else (hydra_loses_statuses), and all statuses where two connections close in one moment. So those of a host close in
 * turn, 0.1 s apart, unless the process was waited for. A process of its own, nobody's child, keeps the connection, and
 * ends with this one. Once. Any thread.
 */
void pmi_outlive(void);

/* Was this process started by a process manager that can be told? Local. */
bool pmi_can_leave(void);

/* Tells it: the process may end from here on. MPI must not be used any more. */
void pmi_finalize(void);

/* Tells it, and ends the process with `status`. Does not return. */
void pmi_leave(int status) __attribute__((noreturn));

#endif
