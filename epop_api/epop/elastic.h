/*
 * The elastic interface: the present world, the window in which an adapt block moves its
 * data, and requests for another size.
 *
 * Source: Compres 2017, chapter 6 (the four elastic MPI calls) and 7.
 */
#ifndef EPOP_ELASTIC_H
#define EPOP_ELASTIC_H

#include <mpi.h>

#include <epop/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum epop_status {
    EPOP_NEW = 0,
    EPOP_JOINING = 1,
    EPOP_STAYING = 2,
    EPOP_LEAVING = 3,
    EPOP_RESTARTING = 4 /* in INIT: the job goes on from a checkpoint */
} epop_status_t;

/* The communicator of all ranks that now run the program. Owned by the runtime: do not free it,
 * and drop what was derived from it before epop_adapt_commit. In INIT of a joining process it is
 * the joiners' own group. Local, but the first call may initialize MPI. */
EPOP_API MPI_Comm epop_world(void);

/* EPOP_NEW, EPOP_JOINING or EPOP_RESTARTING in INIT; later the status of the last window. Local. */
EPOP_API epop_status_t epop_status(void);

/*
 * What an adapt block is given. Ranks are numbered
 *   in before:  old ranks 0 .. old_size-1 (a joining rank has the joiners' group here)
 *   in after:   staying ranks in their old order, then the joining ones
 *   in all:     old ranks in their order, then the joining ones
 *
 *             before          after          all   intercomm
 *   staying   old world       new world      yes   old <-> joining, MPI_COMM_NULL when nobody joins
 *   leaving   old world       MPI_COMM_NULL  yes   same
 *   joining   joiners' world  new world      yes   same
 *
 * The communicators and the array belong to the runtime and are valid until commit.
 */
typedef struct epop_window {
    epop_status_t status;          /* EPOP_JOINING, EPOP_STAYING or EPOP_LEAVING */
    int old_rank, old_size;        /* old_rank -1 on joining ranks */
    int new_rank, new_size;        /* new_rank -1 on leaving ranks */
    int staying, leaving, joining; /* how many of each */
    MPI_Comm before, after, all, intercomm;
    const int *new_ranks; /* for each rank of `all`: its new rank, or -1 if it leaves */
} epop_window_t;

/*
 * Opens the window; only in an adapt block, once. Collective over staying, leaving and joining ranks.
 * EPOP_ERR_STATE outside an adapt block or when the window is open already; then *window has the status EPOP_NEW, and
 * zeros and MPI_COMM_NULL.
 */
EPOP_API int epop_adapt_begin(epop_window_t *window);

/*
 * Closes the window: from here on epop_world() is the new world (MPI_COMM_NULL on leaving ranks, whose
 * process is gone from the program when its adapt block returns). Collective over the same ranks.
 * EPOP_ERR_STATE when no window is open.
 */
EPOP_API int epop_adapt_commit(void);

/*
 * Asks for a world of `size` ranks. Local and asynchronous: the answer is an adaptation at a later
 * iteration, or a line in `epopctl watch` that says why not. Any rank may ask; the same request from
 * several ranks counts once. EPOP_ERR_ARGUMENT for size < 1, EPOP_ERR_STATE where the job cannot resize.
 */
EPOP_API int epop_request_resize(int size);

/* A request in full: drain a node, or migrate. Zero-initialize it and set what matters. */
typedef struct epop_request {
    int size;                  /* the world size wanted; 0: what adding and releasing gives */
    const char *add_hosts;     /* take joining ranks from these hosts only, comma-separated; NULL: any */
    const char *release_hosts; /* the ranks on these hosts leave; NULL: none named */
    const int *release_ranks;  /* and these ranks leave; rank 0 cannot where others stay */
    int release_count;         /* length of release_ranks */
} epop_request_t;

/* As epop_request_resize; the strings and the array are copied. */
EPOP_API int epop_request(const epop_request_t *request);

/*
 * Asks for a checkpoint at a later iteration, at which all ranks come together. Local and asynchronous; any rank may
 * ask, and the same request from several ranks counts once. What comes of it `epopctl watch` shows, and a failure is a
 * line on stderr too. EPOP_OK; EPOP_ERR_STATE where there is no job that could make one; EPOP_ERR_SYSTEM when it could
 * not be sent.
 */
EPOP_API int epop_request_checkpoint(void);

#ifdef __cplusplus
}
#endif
#endif
