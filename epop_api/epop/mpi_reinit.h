/*
 * Re-initialization: a program that has MPI sessions alone gets other processes by finalizing its sessions and
 * initializing a new one, in one call. It also spawns the processes that come. Link it with libepop_mpi, before MPI, or
 * preload that. All return MPI error codes. docs/reference/elastic_mpi.md.
 *
 * A program says that it is of this sort when it initializes its first session, with the key "malleable" and the value
 * "1" in info. A spawned process waits in that call until the others have re-initialized: mpi://WORLD is all of them.
 *
 * Source: S. Happ (ParTec), Malleability with MPI Sessions: Extensions for ParaStation MPI (MPI Forum, May 2024).
 */
#ifndef EPOP_MPI_REINIT_H
#define EPOP_MPI_REINIT_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Called with each session before it is finalized, in its program's thread: what is derived from it is freed here, and
 * data moves while all are still there. rank and size are those of mpi://WORLD; leave: this process does. Anything but
 * MPI_SUCCESS ends the job, with a line. */
typedef int(MPIX_Session_reinit_preparation_function)(MPI_Session session, int rank, int size, int leave,
                                                      void *userdata);
/* Called with the new session in processes that stay. */
typedef int(MPIX_Session_reinit_resume_function)(MPI_Session session, int old_rank, int old_size, int new_rank,
                                                 int new_size, void *userdata);
#define MPIX_SESSION_REINIT_PREP_FN_NULL   ((MPIX_Session_reinit_preparation_function *)0)
#define MPIX_SESSION_REINIT_RESUME_FN_NULL ((MPIX_Session_reinit_resume_function *)0)

/*
 * Finalizes the `count` sessions, which are all that the process has, and initializes *session_out by info and
 * errhandler, among the processes that there are then: without those that say leave, of which there are nleave, and
 * with those that have been spawned. In a process that leaves it does not return; the process ends as by exit(0).
 * resize_allocation: what is free then goes back to who gave it (1), or stays the job's (0), where a resource manager
 * listens. Collective over all processes of the job. MPI_ERR_ARG: they do not say the same; MPI_ERR_SESSION: others
 * than the sessions given are initialized; the job goes on as it was then. Rank 0 cannot leave.
 */
int MPIX_Session_reinit(int count, MPI_Session **session_array_in, MPI_Session *session_out, MPI_Info info,
                        MPIX_Session_reinit_preparation_function *prep_fn, void *prep_userdata,
                        MPIX_Session_reinit_resume_function *resume_fn, void *resume_userdata, int leave,
                        MPI_Count nleave, int resize_allocation, MPI_Errhandler errhandler);

/*
 * Has maxprocs processes of this program started, and does not wait for it. The arguments are those of MPI_Comm_spawn,
 * and count at root, the rank in mpi://WORLD; command is this executable (others are MPI_ERR_SPAWN), argv is
 * MPI_ARGV_NULL: they get the job's arguments. The key "hosts" of info says on which hosts. *status becomes an info
 * object as MPIX_Spawn_status makes it; the caller frees it. At most one at a time: MPI_ERR_SPAWN. Collective in the
 * sense that all processes call it; none waits for another.
 */
int MPIX_Spawn_async(const char *command, char *argv[], int maxprocs, MPI_Info info, int root, int resize_allocation,
                     MPI_Info *status);

/*
 * How far it is, into *status, which is an info object from MPIX_Spawn_async, or MPI_INFO_NULL and is made then:
 * spawn_x_status       "requested" (root has not called yet), "running", "complete" (re-initialize!), "failed", "none"
 * spawn_x_available    "1": another one can be asked for
 * spawn_x_maxprocs     how many processes
 * spawn_x_reason       why it failed
 * resize_x_requested   "1": somebody else, a scheduler or epopctl, wants the job to have
 * resize_x_size        so many processes;
 * resize_x_nleave, resize_x_leave   and that so many leave, this one among them ("1")
 * The program decides when, and whether: what it says to MPIX_Session_reinit counts. Local.
 */
int MPIX_Spawn_status(MPI_Info *status);

#ifdef __cplusplus
}
#endif
#endif
