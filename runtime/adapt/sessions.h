/* MPI's sessions in a job: how many this process has, and of what sort its program is. */
#ifndef EPOP_ADAPT_SESSIONS_H
#define EPOP_ADAPT_SESSIONS_H

#include <mpi.h>
#include <stdbool.h>

/* An error of this class in a call with that session: a line, and its error handler. A fatal one ends the job. Returns
 * the class. */
int sessions_wrong(MPI_Session session, const char *function, int class, const char *why);

/* May this process ask for changes, and accept them, by this session? MPI_SUCCESS, or the error that was raised. */
int sessions_may_change(MPI_Session session, const char *function);

/* How many are initialized now. */
int sessions_open(void);

/* Is it one of them? */
bool sessions_has(MPI_Session session);

/* This process leaves, and all its sessions are finalized: it ends, as by exit(0). */
void sessions_leave(void) __attribute__((noreturn));

#endif
