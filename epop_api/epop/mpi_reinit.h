/*
 * Re-initialization: a program that has MPI sessions alone changes its processes by finalizing its sessions and
 * initializing a new one, in one call.
 *
 * Such a program initializes its first session with the key "malleable" and the value "1". The calls are in
 * libepop_mpi, which has to be linked before MPI or preloaded, and in `epop`. They return MPI error codes.
 * docs/reference/elastic_mpi.md has more.
 *
 * Source: S. Happ (ParTec), "Malleability with MPI Sessions: Extensions for ParaStation MPI", MPI Forum, May 2024.
 */
#ifndef EPOP_MPI_REINIT_H
#define EPOP_MPI_REINIT_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In C files that include this header arguments of other types are errors, as they are to newer compilers. */
#ifndef __cplusplus
#pragma GCC diagnostic error "-Wincompatible-pointer-types"
#pragma GCC diagnostic error "-Wint-conversion"
#endif

/* Called with each session before it is finalized, while all processes are there: moves data, and frees what is derived
 * from the session. `rank` and `size` are those in mpi://WORLD. Anything but MPI_SUCCESS ends the job. */
typedef int(MPIX_Session_reinit_preparation_function)(MPI_Session session, int rank, int size, int leave,
                                                      void *userdata);
/* Called with the new session in processes that stay. Anything but MPI_SUCCESS ends the job. */
typedef int(MPIX_Session_reinit_resume_function)(MPI_Session session, int old_rank, int old_size, int new_rank,
                                                 int new_size, void *userdata);
/* No callback. */
#define MPIX_SESSION_REINIT_PREP_FN_NULL   ((MPIX_Session_reinit_preparation_function *)0)
#define MPIX_SESSION_REINIT_RESUME_FN_NULL ((MPIX_Session_reinit_resume_function *)0)

/* Finalizes the `count` sessions, which must be all that the process has, and initializes `*session_out` with `info`
 * and `errhandler` in the new mpi://WORLD: without the `nleave` processes that say `leave`, which end here as by
 * exit(0), and with those that were spawned, which wait in MPI_Session_init. Rank 0 cannot leave. `resize_allocation`
 * is ignored: whoever gave a host decides what becomes of it when the last process has left. MPI_ERR_ARG if the
 * processes disagree, MPI_ERR_SESSION if other sessions are open; the job then goes on as it was. Collective over all
 * processes of the job. */
int MPIX_Session_reinit(int count, MPI_Session **session_array_in, MPI_Session *session_out, MPI_Info info,
                        MPIX_Session_reinit_preparation_function *prep_fn, void *prep_userdata,
                        MPIX_Session_reinit_resume_function *resume_fn, void *resume_userdata, int leave,
                        MPI_Count nleave, int resize_allocation, MPI_Errhandler errhandler);

/* Starts `maxprocs` processes of this program without waiting for them. Arguments count at `root`, a rank of
 * mpi://WORLD: `command` is this executable, `argv` is MPI_ARGV_NULL, `info` may have the key "hosts"; without it they
 * start on the hosts that the job has. `resize_allocation` is ignored: no hosts are allocated. `*status` is as from
 * MPIX_Spawn_status; the caller frees it. MPI_ERR_SPAWN if another change is under way, or it is not possible.
 * Collective over all processes, but none waits for another. */
int MPIX_Spawn_async(const char *command, char *argv[], int maxprocs, MPI_Info info, int root, int resize_allocation,
                     MPI_Info *status);

/*
 * Tells how far the spawn is, and what others ask for, by keys of `*status` (made if it is MPI_INFO_NULL). Local.
 *
 * - `spawn_x_status`: "requested" (root has not called yet), "running", "complete" (re-initialize now), "failed" or
 *   "none"; `spawn_x_maxprocs`: how many processes; `spawn_x_reason`: why it failed; `spawn_x_available`: "1" if there
 *   can be another one.
 * - `resize_x_requested`: "1" if a scheduler or epopctl asks for `resize_x_size` processes. `resize_x_nleave` should
 *   leave, this one if `resize_x_leave` is "1". The program decides.
 */
int MPIX_Spawn_status(MPI_Info *status);

#ifdef __cplusplus
}
#endif
#endif
