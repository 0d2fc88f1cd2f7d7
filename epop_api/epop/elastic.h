/*
 * The elastic interface: the present world, the window in which data moves, and requests.
 *
 * Source: Compres Urena 2017, chapters 6 and 7.
 */
#ifndef EPOP_ELASTIC_H
#define EPOP_ELASTIC_H

#include <mpi.h>

#include <epop/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The world ----------------------------------------------------------- */

/* What a process is to the job. */
typedef enum epop_status {
    EPOP_NEW = 0,       /* started with the job */
    EPOP_JOINING = 1,   /* started for an adaptation */
    EPOP_STAYING = 2,   /* a rank before and after it */
    EPOP_LEAVING = 3,   /* a rank before it alone */
    EPOP_RESTARTING = 4 /* started with a job that goes on from a checkpoint */
} epop_status_t;

/* Returns the communicator of all ranks that now run the program. In INIT of a joining process these are the ones that
 * join with it; on a leaving rank it is MPI_COMM_NULL after commit. It belongs to the runtime: do not free it, ask for
 * it again after each adaptation, and free what is derived from it before epop_adapt_commit. Outside a job it is
 * MPI_COMM_WORLD, and MPI is initialized if necessary. Local. */
EPOP_API MPI_Comm epop_world(void);

/* Returns EPOP_NEW, EPOP_JOINING or EPOP_RESTARTING in INIT, and later the status in the last window. Local. */
EPOP_API epop_status_t epop_status(void);

/* Returns how many threads this rank may have, so that the ranks of its host share the cores on which they may run: 1
 * or more. Ask again in the rebuild block. Collective over epop_world(). */
EPOP_API int epop_threads(void);

/* ---- The window ---------------------------------------------------------- */

/* What an adapt block is given. All of it belongs to the runtime and is valid until commit. Rank 0 always stays, unless
 * `--spawn-method baseline` replaces all ranks. */
typedef struct epop_window {
    epop_status_t status;          /* EPOP_JOINING, EPOP_STAYING or EPOP_LEAVING */
    int old_rank, old_size;        /* rank -1 if joining */
    int new_rank, new_size;        /* rank -1 if leaving */
    int staying, leaving, joining; /* numbers of ranks */
    /* before: the old world; on joining ranks those that join. after: staying ranks in their old order, then joining
     * ones; MPI_COMM_NULL on leaving ranks. all: old ranks in their order, then joining ones. intercomm: between old
     * and joining ranks; MPI_COMM_NULL if none joins. */
    MPI_Comm before, after, all, intercomm;
    const int *new_ranks; /* for each rank of `all`: its new rank, or -1 */
} epop_window_t;

/* Opens the window, once in an adapt block. Collective over staying, leaving and joining ranks. EPOP_ERR_STATE anywhere
 * else; then the status is EPOP_NEW, and all else 0 or MPI_COMM_NULL. */
EPOP_API int epop_adapt_begin(epop_window_t *window);

/* Closes the window: epop_world() is the new world, and leaving ranks leave when their adapt block returns. Collective
 * as epop_adapt_begin. EPOP_ERR_STATE if no window is open. An adapt block that returns without commit ends the job. */
EPOP_API int epop_adapt_commit(void);

/* In the window of a balance, in which nobody comes or goes: for each rank how long it has computed lately, as a part
 * of what the longest has, which is 1. `loads` has room for all ranks. EPOP_ERR_STATE if the window is no balance's, or
 * none is open. Local. */
EPOP_API int epop_balance_loads(double *loads);

/* ---- Requests ------------------------------------------------------------ */

/* Asks for a world of `size` ranks. Local, on any rank; the same request from several ranks counts once. What follows
 * is an adaptation at a later iteration, or an event in `epopctl watch` that says why not. EPOP_ERR_STATE if the job
 * cannot resize, EPOP_ERR_SYSTEM if the request could not be sent. */
EPOP_API int epop_request_resize(int size);

/* A request in full. Ranks that are not named leave from the highest downwards. */
typedef struct epop_request {
    int size;                  /* 0: what releasing gives */
    const char *add_hosts;     /* joining ranks start on these hosts, separated by commas; NULL: on any */
    const char *release_hosts; /* all ranks on these hosts leave; NULL: none */
    const int *release_ranks;  /* these ranks leave; not rank 0 */
    int release_count;         /* of release_ranks */
} epop_request_t;

/* As epop_request_resize, with a copy of `*request`. Local. */
EPOP_API int epop_request(const epop_request_t *request);

/* Asks for a balance in the same way: the data is dealt out anew by what each rank has to compute, which is measured in
 * the next iterations. Local. */
EPOP_API int epop_request_balance(void);

/* Asks for a checkpoint in the same way. If it fails, there is an event and a line on standard error, and the job goes
 * on. Local. */
EPOP_API int epop_request_checkpoint(void);

#ifdef __cplusplus
}
#endif
#endif
