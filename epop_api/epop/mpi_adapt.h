/*
 * Elastic MPI: four calls that make any MPI program malleable, executables too. After a commit MPI_COMM_WORLD is the
 * new world. Link an executable with libepop_mpi, before MPI, or preload it; a program under epop finds it there.
 * They return MPI error codes and call the error handler of MPI_COMM_WORLD, as MPI's own functions do.
 *
 * Source: Compres 2017, chapter 6.
 */
#ifndef EPOP_MPI_ADAPT_H
#define EPOP_MPI_ADAPT_H

#include <mpi.h>

#include <epop/elastic.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What *pending_adaptation is. */
#define MPI_ADAPT_FALSE 0
#define MPI_ADAPT_TRUE  1

/*
 * What *local_status is: of this process, at its start or in the adaptation that is pending. The numbers are those of
 * the mpi.h that had the calls at first: a program that has them again, or the prototypes, is right.
 */
#define MPI_ADAPT_STATUS_NEW     2 /* started with the job; from MPI_Init_adapt alone */
#define MPI_ADAPT_STATUS_JOINING 3 /* started for an adaptation of the running job, until its commit */
#define MPI_ADAPT_STATUS_STAYING 4
#define MPI_ADAPT_STATUS_LEAVING 5

/* As NEW, in a job that goes on from a checkpoint: epop_mpi_describe has to come, and brings the data. */
#define MPI_ADAPT_STATUS_RESTARTING 6

/* A key of *info in the first probe of a process that was started again after a fault, from a checkpoint or not: how
 * often the job was. A probe that has it gives an *info also where nothing is pending. */
#define MPI_ADAPT_FAULT "mpi_adapt_fault"

/*
 * Instead of MPI_Init, or behind it. NEW, or JOINING: then MPI_COMM_WORLD is the group of the joining processes until
 * commit, the others compute on, and this process goes on to MPI_Comm_adapt_begin, or to a probe. Collective over the
 * processes that start together. argc and argv may be NULL.
 */
int MPI_Init_adapt(int *argc, char ***argv, int *local_status);

/*
 * Is an adaptation to be made now? Costs some nanoseconds as long as none is. All processes of the world call it
 * equally often. When it answers MPI_ADAPT_TRUE all processes are connected, and begin has to follow; a joining one
 * waits in its first probe for that. *info then says what is pending (epop_from and epop_to, the
 * sizes; epop_adaptation, its number; epop_iteration, that of the probe) and is the caller's to free with
 * MPI_Info_free; else it becomes MPI_INFO_NULL. info may be NULL. *local_status is STAYING when nothing is pending, on
 * processes that joined too, once they have committed; LEAVING on one that left. Not collective.
 */
int MPI_Probe_adapt(int *pending_adaptation, int *local_status, MPI_Info *info);

/*
 * Opens the window in which data moves. *intercomm is between the old processes and the joining ones (MPI_COMM_NULL
 * when none joins), *new_comm_world is what MPI_COMM_WORLD will be (MPI_COMM_NULL in a leaving process); both are valid
 * until commit and not to be freed. The counts are processes. Collective over staying, leaving and joining processes.
 */
int MPI_Comm_adapt_begin(MPI_Comm *intercomm, MPI_Comm *new_comm_world, int *staying_count, int *leaving_count,
                         int *joining_count);

/*
 * Closes the window: MPI_COMM_WORLD is the new world. In a leaving process it is no communicator from here on, and
 * the process may do what needs no MPI_COMM_WORLD, call MPI_Finalize and return from main while the others run on.
 * With EPOP_MPI_LEAVE_COMMIT it does not return there. Collective as begin.
 */
int MPI_Comm_adapt_commit(void);

/*
 * Says what this executable's data is, once, in each process, behind MPI_Init_adapt (epop/describe.h): so that it can
 * be saved, which is done in probes. Restarting, it fills the data in as it was in the probe that comes next: values
 * while the block runs, then the arrays, which it allocates. Collective over the world then, else local. `data` stays
 * the caller's. MPI_ERR_ARG for NULL, MPI_ERR_OTHER at another time. In a program under epop, which has a describe
 * block for that, it does nothing. Data that does not fit ends the job.
 */
EPOP_API int epop_mpi_describe(void (*describe)(void *data, epop_description_t *d), void *data);

/*
 * Sets the block that puts what this executable has in structures of its own into what that block lists (NULL: none):
 * called with the data of epop_mpi_describe before it is described, in probes for a checkpoint, and in
 * epop_mpi_adapt_described on staying and leaving processes. 0, or an error number, which is the end of the checkpoint,
 * or of epop_mpi_adapt_described. Local, behind MPI_Init_adapt; MPI_ERR_OTHER at another time. In a program under epop,
 * which has a pack block for that, it does nothing.
 */
EPOP_API int epop_mpi_pack(int (*pack)(void *data));

/*
 * A whole adaptation of described data: MPI_Comm_adapt_begin, all that the block of epop_mpi_describe lists (under
 * epop, that of the program), MPI_Comm_adapt_commit. On leaving processes the described pointers are NULL behind it.
 * Collective as begin. Errors as of the two; MPI_ERR_OTHER also where nothing is described, or it did not move.
 */
EPOP_API int epop_mpi_adapt_described(void);

/* Where a leaving process goes in commit. */
typedef enum epop_mpi_leave {
    EPOP_MPI_LEAVE_RETURN = 0, /* back into the program; the default */
    EPOP_MPI_LEAVE_COMMIT = 1  /* nowhere: commit does what MPI_Finalize and exit(0) do */
} epop_mpi_leave_t;

/*
 * Chooses that for the calling process, from now on; $EPOP_LEAVE, "return" or "commit", is what holds before. Local, at
 * any time between MPI_Init_adapt and MPI_Finalize. MPI_ERR_OTHER at another time, MPI_ERR_ARG for what is none of the
 * two. In a program under epop it does nothing: leaving processes go by the walk there.
 */
EPOP_API int epop_mpi_leave(epop_mpi_leave_t how);

/*
 * The window that MPI_Comm_adapt_begin opened: what the functions of epop/redist.h take, to move the data. Its
 * communicators and its array belong to the runtime, and are valid until commit. *window is the caller's, a copy; its
 * status is an epop_status_t, whose numbers are not MPI_ADAPT_STATUS_*. Local. EPOP_OK; EPOP_ERR_STATE when no window
 * is open, and then *window has the status EPOP_NEW, and zeros and MPI_COMM_NULL; EPOP_ERR_ARGUMENT for NULL.
 */
EPOP_API int epop_mpi_window(epop_window_t *window);

/*
 * Which probe is the first one that a joining process makes after its commit? The next one of all processes, as at the
 * end of a loop (COUNTS); or that of the commit once more, where the process enters a loop that begins with a probe
 * (REPEATS). EPOP finds that out by itself (FIND, the default), but where nothing is communicated it can only guess by
 * the time. A program that knows says so, any time between MPI_Init_adapt and that probe; what a joining process says
 * counts, and it is stronger than EPOP_FIRST_PROBE (find, counts, repeats) in the environment. MPI_ERR_ARG: no such
 * value. Local.
 */
typedef enum epop_mpi_first_probe {
    EPOP_MPI_FIRST_PROBE_FIND,
    EPOP_MPI_FIRST_PROBE_COUNTS,
    EPOP_MPI_FIRST_PROBE_REPEATS
} epop_mpi_first_probe_t;
EPOP_API int epop_mpi_first_probe(epop_mpi_first_probe_t what);

/*
 * With EPOP_MPI_ADAPT_2015 defined before this header (-DEPOP_MPI_ADAPT_2015) begin and commit are what they were in
 * 2015: begin takes two numbers, which are ignored, and does not count processes; what commit's argument points to
 * stays as it is, and it may be NULL. LEAVING was called RETREATING. All else is as above.
 */
#ifdef EPOP_MPI_ADAPT_2015
#define MPI_ADAPT_STATUS_RETREATING 5

static inline int epop_mpi_begin_2015(MPI_Comm *intercomm, MPI_Comm *new_comm_world, int unused, int unused_too)
{
    int staying, leaving, joining;
    (void)unused;
    (void)unused_too;
    return MPI_Comm_adapt_begin(intercomm, new_comm_world, &staying, &leaving, &joining);
}

static inline int epop_mpi_commit_2015(int *phase_index)
{
    (void)phase_index;
    return MPI_Comm_adapt_commit();
}

#define MPI_Comm_adapt_begin  epop_mpi_begin_2015
#define MPI_Comm_adapt_commit epop_mpi_commit_2015
#endif

#ifdef __cplusplus
}
#endif
#endif
