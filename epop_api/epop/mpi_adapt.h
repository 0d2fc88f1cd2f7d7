/*
 * The elastic MPI calls: four calls that make an MPI program malleable. After a commit MPI_COMM_WORLD is the new world.
 *
 * The calls are in libepop_mpi, which has to be linked before MPI or preloaded, and in `epop` for the programs that it
 * loads. They return MPI error codes: MPI_ERR_ARG for an argument, MPI_ERR_OTHER for a call in the wrong place. An
 * error prints a line and calls the error handler of MPI_COMM_WORLD. docs/reference/elastic_mpi.md has more.
 *
 * Source: Compres Urena 2017, chapter 6.
 */
#ifndef EPOP_MPI_ADAPT_H
#define EPOP_MPI_ADAPT_H

#include <mpi.h>

#include <epop/elastic.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Constants -------------------------------------------------------------- */

/* Values of `*pending_adaptation`. */
#define MPI_ADAPT_FALSE 0
#define MPI_ADAPT_TRUE  1
#define MPI_ADAPT_FAULT 2 /* from the probe with faults alone */

/* Values of `*local_status`. The numbers are those of the first elastic MPI. */
#define MPI_ADAPT_STATUS_NEW     2 /* started with the job; from MPI_Init_adapt only */
#define MPI_ADAPT_STATUS_JOINING 3 /* started for an adaptation, until its commit */
#define MPI_ADAPT_STATUS_STAYING 4
#define MPI_ADAPT_STATUS_LEAVING 5

/* In a job that goes on from a checkpoint: epop_mpi_describe brings the data. */
#define MPI_ADAPT_STATUS_RESTARTING 6

/* A key of `*info` in the first probe of a process that was started again after a fault: how many times the job was. It
 * is there even if nothing is pending. */
#define MPI_ADAPT_FAULT_KEY "mpi_adapt_fault"

/* ---- The four calls ----------------------------------------------------------- */

/* Replaces MPI_Init, or comes after it. `*local_status` is NEW, JOINING or RESTARTING. In a joining process
 * MPI_COMM_WORLD is the processes that join, until commit. `argc` and `argv` may be NULL. Ends a program that cannot be
 * made elastic. Collective over the processes that start together. */
int MPI_Init_adapt(int *argc, char ***argv, int *local_status);

/*
 * Asks whether an adaptation is pending. If so `*pending_adaptation` is MPI_ADAPT_TRUE, `*local_status` is STAYING,
 * LEAVING or JOINING, and MPI_Comm_adapt_begin must follow. Otherwise the status is STAYING, or LEAVING in a process
 * that has left. A joining process waits in its first probe. Local, but all processes of the world must call it equally
 * often.
 *
 * `*info`, unless `info` is NULL, has the keys epop_from and epop_to (sizes), epop_adaptation (number) and
 * epop_iteration (of the probe), and is freed by the caller; it is MPI_INFO_NULL if nothing is pending.
 */
int MPI_Probe_adapt(int *pending_adaptation, int *local_status, MPI_Info *info);

/* The probe with two parameters more. The first one of a process that was started again after a fault (`epop
 * --recover`) answers MPI_ADAPT_FAULT: `failed_ranks`, which has room for as many as MPI_COMM_WORLD has now, gets the
 * `*nfailed` ranks of the last world that are known to have died. There is no window for that; one that is pending is
 * told of by the next probe. Every other answer is as above, with `*nfailed` 0. With EPOP_MPI_ADAPT_FAULT defined
 * before this header it is called MPI_Probe_adapt. Local as above. */
EPOP_API int epop_mpi_probe_fault(int *pending_adaptation, int *local_status, MPI_Info *info, int *nfailed,
                                  int failed_ranks[]);
#ifdef EPOP_MPI_ADAPT_FAULT
#define MPI_Probe_adapt epop_mpi_probe_fault
#ifndef __cplusplus
#pragma GCC diagnostic error "-Wincompatible-pointer-types"
#endif
#endif

/* Opens the window. `*intercomm` is between old and joining processes, or MPI_COMM_NULL if none joins.
 * `*new_comm_world` is the MPI_COMM_WORLD to be, or MPI_COMM_NULL in leaving processes. Both belong to the runtime and
 * are valid until commit. Collective over staying, leaving and joining processes. */
int MPI_Comm_adapt_begin(MPI_Comm *intercomm, MPI_Comm *new_comm_world, int *staying_count, int *leaving_count,
                         int *joining_count);

/* Closes the window. A leaving process has left the job, and has no MPI_COMM_WORLD any more. Collective as begin. */
int MPI_Comm_adapt_commit(void);

/* ---- Data of executables ------------------------------------------------------ */

/* Says what the data is, once in each process after MPI_Init_adapt, for checkpoints and epop_mpi_adapt_described.
 * `data` stays the caller's. Local; in a restarting process it fills in the data, collective over the world. No effect
 * in a program under `epop`. */
EPOP_API int epop_mpi_describe(void (*describe)(void *data, epop_description_t *d), void *data);

/* Sets the block that copies what the executable keeps in other structures into what it describes, before a checkpoint
 * or a window; NULL for none. If it returns non-zero, the checkpoint is given up, or epop_mpi_adapt_described fails. No
 * effect in a program under `epop`. Local. */
EPOP_API int epop_mpi_pack(int (*pack)(void *data));

/* Makes a whole adaptation: begin, pack, move all that is described, commit. MPI_ERR_OTHER also if nothing is
 * described, or it could not be moved. Collective as begin. */
EPOP_API int epop_mpi_adapt_described(void);

/* ---- Choices, and the window ---------------------------------------------------- */

/* For interpreters: says before MPI_Init_adapt that the executable interprets a script. The job, its checkpoints and
 * its process sets are called `name`, which is copied, and not as the executable. The probe in which the job is told to
 * stop ends MPI, but not the process: it answers MPI_ADAPT_FALSE with the status LEAVING. No effect in a program under
 * `epop`. Local. */
EPOP_API int epop_mpi_script(const char *name);

/* Says which numbers of ranks the executable accepts, instead of the environment's EPOP_SIZES, on all processes before
 * MPI_Init_adapt. Requests are rounded down to one of them, and a job that is started with another number is refused.
 * `rule`: items separated by commas: of any, even, odd, square, power-of-two and multiple:N at most one; numbers and
 * ranges as 2,4,8 or 4-64 or 4-, of which one has to contain the number; and preferred=N, a hint for schedulers.
 * MPI_ERR_ARG for anything else. No effect in a program under `epop`. Local. */
EPOP_API int epop_mpi_sizes(const char *rule);

/* What a leaving process does in commit. */
typedef enum epop_mpi_leave {
    EPOP_MPI_LEAVE_RETURN = 0, /* returns; the default */
    EPOP_MPI_LEAVE_COMMIT = 1  /* ends, as by MPI_Finalize and exit(0) */
} epop_mpi_leave_t;

/* Chooses this for the calling process, instead of the environment's EPOP_LEAVE, at any time between MPI_Init_adapt and
 * MPI_Finalize. No effect in a program under `epop`. Local. */
EPOP_API int epop_mpi_leave(epop_mpi_leave_t how);

/* Gives the open window as the functions of <epop/redist.h> take it. Returns an epop_result: EPOP_ERR_STATE if none is
 * open, with `*window` as after epop_adapt_begin. Local. */
EPOP_API int epop_mpi_window(epop_window_t *window);

/* Says how far the program is: `iteration` of `bound` iterations are done, counted as the program likes; bound 0: how
 * many there will be is not known. Rank 0's counts, and says how much time is left, to users and to schedulers. It only
 * notes the numbers, so it may be called in every iteration. MPI_ERR_ARG unless 0 <= iteration, and iteration <= bound
 * or bound is 0. No effect in a program under `epop`. Local. */
EPOP_API int epop_mpi_progress(int64_t iteration, int64_t bound);

/* What the first probe of a joining process after its commit is. */
typedef enum epop_mpi_first_probe {
    EPOP_MPI_FIRST_PROBE_FIND,   /* EPOP finds out; the default */
    EPOP_MPI_FIRST_PROBE_COUNTS, /* the next one of all: the probe ends the loop */
    EPOP_MPI_FIRST_PROBE_REPEATS /* the one of the commit again: the probe begins the loop */
} epop_mpi_first_probe_t;

/* Chooses this on a joining process before that probe, instead of the environment's EPOP_FIRST_PROBE. Local. */
EPOP_API int epop_mpi_first_probe(epop_mpi_first_probe_t what);

/* ---- The form of 2015 --------------------------------------------------------------- */

/* With EPOP_MPI_ADAPT_2015 defined before this header, begin and commit have their form of 2015. The numbers are
 * ignored, and `*phase_index` (`phase_index` may be NULL) is left alone. Collective as above. */
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
