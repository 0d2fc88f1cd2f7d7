/*
 * Process sets: resource changes for programs that have MPI sessions and no MPI_COMM_WORLD.
 *
 * There are two generations of calls, of which a program uses one. Both are in libepop_mpi, which has to be linked
 * before MPI or preloaded, and in `epop`. They return MPI error codes: MPI_ERR_ARG for an argument, MPI_ERR_SESSION for
 * what is no session, MPI_ERR_OTHER in a program of another kind. An error prints a line and calls the error handler of
 * the session. Arrays for names have MPI_MAX_PSET_NAME_LEN bytes. docs/reference/elastic_mpi.md has the names and
 * attributes of sets, and how a change proceeds.
 *
 * Source: D. Huber, "Dynamic Processes Management in MPI and PMIx", TU Munich 2021, chapter 6; D. Huber et al.,
 * "Towards Dynamic Resource Management with MPI Sessions and PMIx", EuroMPI 2022, version 2a.
 */
#ifndef EPOP_MPI_PSETS_H
#define EPOP_MPI_PSETS_H

#include <mpi.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* In C files that include this header arguments of other types are errors, as they are to newer compilers. */
#ifndef __cplusplus
#pragma GCC diagnostic error "-Wincompatible-pointer-types"
#pragma GCC diagnostic error "-Wint-conversion"
#ifndef __clang__
#pragma GCC diagnostic error "-Wdiscarded-qualifiers"
#endif
#endif

/* ---- Constants -------------------------------------------------------------------------------- */

/* What a change does. */
typedef int MPI_rc_type;
#define MPI_RC_NULL    0
#define MPI_RC_ADD     1
#define MPI_RC_SUB     2
#define MPI_RC_REPLACE 3 /* both */

/* How far a change is. */
typedef int MPI_rc_status_t;
#define MPI_RC_STATUS_NULL      0 /* there is none */
#define MPI_RC_STATUS_ANNOUNCED 1 /* to be accepted */
#define MPI_RC_STATUS_PENDING   2 /* accepted; new processes have not confirmed it */
#define MPI_RC_STATUS_FINALIZED 3
#define MPI_RC_STATUS_ABORTED   4
/* Other names of these. */
#define MPI_RC_ANNOUNCED MPI_RC_STATUS_ANNOUNCED
#define MPI_RC_PENDING   MPI_RC_STATUS_PENDING
#define MPI_RC_FINALIZED MPI_RC_STATUS_FINALIZED
#define MPI_RC_ABORTED   MPI_RC_STATUS_ABORTED

/* Operations on sets. MALLEABLE and MULTI are names without a meaning. */
typedef int MPI_pset_op;
#define MPI_PSETOP_NULL         0
#define MPI_PSETOP_ADD          1
#define MPI_PSETOP_SUB          2
#define MPI_PSETOP_REPLACE      3
#define MPI_PSETOP_MALLEABLE    4
#define MPI_PSETOP_GROW         5
#define MPI_PSETOP_SHRINK       6
#define MPI_PSETOP_UNION        7
#define MPI_PSETOP_DIFFERENCE   8
#define MPI_PSETOP_INTERSECTION 9
#define MPI_PSETOP_MULTI        10
#define MPI_PSETOP_SPLIT        11
#define MPI_PSETOP_CANCEL       12

/* Keys of info objects. */
#define MPI_RC_BOUND_PSET "MPI_RC_BOUND_PSET" /* get: of this set; mpi://SELF: taking this process */
#define MPI_RC_TIMEOUT    "MPI_RC_TIMEOUT"    /* accept: seconds to wait for new processes */
#define MPI_RC_ADD_PSET   "MPI_RC_ADD_PSET"   /* from get: what a replacement adds */
#define MPI_RC_SUB_PSET   "MPI_RC_SUB_PSET"   /* from get: what it takes */
#define MPI_PSET_TARGET   "MPI_PSET_TARGET"   /* create_op: name of the result */

/* ---- Resource changes -------------------------------------------------------------------------- */

/* Asks whether there is a change of the application, or of the set that `info` (may be NULL) names. `*rc_type` is what
 * it does, `*status` how far it is, `delta_pset` the processes that come or go, and `*incl` whether this is one of
 * them. Local. */
int MPI_Session_get_res_change(MPI_Session session, MPI_rc_type *rc_type, char delta_pset[], bool *incl,
                               MPI_rc_status_t *status, MPI_Info *info);

/* Makes a set, which must not be empty, from two: MPI_PSETOP_UNION, MPI_PSETOP_DIFFERENCE or MPI_PSETOP_INTERSECTION.
 * Its name goes to `pset_result`, and can be chosen by MPI_PSET_TARGET in `info`; that of `pset1` makes a new version
 * of it. Keys `mpi_ps_active` and `mpi_ps_sched_...` in `info` become attributes; MPI_PSETOP_NULL sets only these.
 * Local. */
int MPI_Session_pset_create_op(MPI_Session session, MPI_Info info, MPI_pset_op op, const char *pset1, const char *pset2,
                               char *pset_result);

/*
 * Accepts the change `delta_pset`, of which `new_pset` results; both count at `root` and are given to the others.
 *
 * - MPI_SUCCESS: it is done, and a communicator can be made of `new_pset`. If `*terminate` is set, this process has to
 *   finalize its sessions and end. If processes leave, `comm` has been disconnected.
 * - MPI_ERR_PENDING: new processes have not confirmed, or other sets not accepted it yet; call again.
 * - MPI_ERR_PORT: it was aborted.
 *
 * The last two call no error handler. Collective over `comm`.
 */
int MPI_Session_accept_res_change(MPI_Session session, MPI_Info info, char *delta_pset, char *new_pset, int root,
                                  MPI_Comm comm, int *terminate);

/* For processes that were started for a change: waits until it is accepted, and gives the set of which to make a
 * communicator. MPI_ERR_PORT if it was aborted. Collective over `delta_pset`. */
int MPI_Session_confirm_res_change(MPI_Session session, MPI_Info info, const char *delta_pset, char *new_pset);

/* ---- The successor ------------------------------------------------------------------------------ */

/*
 * Ask for an operation. The caller frees `*output_sets` and the `*noutput` names in it. If the operation is not
 * possible `*op` becomes MPI_PSETOP_NULL, and there is no error.
 *
 * - UNION, DIFFERENCE, INTERSECTION: of two or more sets, one set.
 * - SPLIT: a set for each of the sizes in `mpi_part_sizes` ("2,2").
 * - ADD, SUB: changes a set by `mpi_num_procs_add` or `mpi_num_procs_sub` processes; gives the delta set. GROW, SHRINK:
 *   also the set that results.
 * - REPLACE: gives what leaves, what comes ("" for none), and what results. With `mpi_num_procs_min`, `_max` or `_pref`
 *   instead of numbers others choose the size, later; the request is complete then.
 * - CANCEL: withdraws a change.
 *
 * Local. Calls that end in `_nb` give a request, which is complete when the result is there.
 */
int MPI_Session_dyn_v2a_psetop(MPI_Session session, int *op, char **input_sets, int ninput, char ***output_sets,
                               int *noutput, MPI_Info info);
int MPI_Session_dyn_v2a_psetop_nb(MPI_Session session, int *op, char **input_sets, int ninput, char ***output_sets,
                                  int *noutput, MPI_Info info, MPI_Request *request);

/* Ask whether there is a change of `input_pset` that is not finalized, whoever started it. `*type` is its operation or
 * MPI_PSETOP_NULL; the sets are as above. Collective over `coll_pset`; local for mpi://SELF. */
int MPI_Session_dyn_v2a_query_psetop(MPI_Session session, const char *coll_pset, const char *input_pset, int *type,
                                     char ***output_psets, int *noutput);
int MPI_Session_dyn_v2a_query_psetop_nb(MPI_Session session, const char *coll_pset, const char *input_pset, int *type,
                                        char ***output_psets, int *noutput, MPI_Request *request);

/* Wait until all processes of the sets have called this with the same names; an error if one has ended. `info` is
 * ignored. Collective over the processes of all the sets. */
int MPI_Session_pset_barrier(MPI_Session session, char **pset_names, int num_psets, MPI_Info info);
int MPI_Session_pset_barrier_nb(MPI_Session session, char **pset_names, int num_psets, MPI_Info info,
                                MPI_Request *request);

/* Says that the program is done with the change of a set: it is not found any more, and mpi://WORLD follows. Local. */
int MPI_Session_dyn_finalize_psetop(MPI_Session session, const char *pset_name);

/* Puts the keys of `info` into the dictionary of a set. Local. */
int MPI_Session_set_pset_data(MPI_Session session, const char *pset_name, MPI_Info info);

/* Look up keys and attributes of a set; with `wait` not before all are there. The caller frees `*info_used`.
 * MPI_ERR_ARG if nobody can set a key any more. Collective over `coll_pset`, except for processes that leave; local for
 * mpi://SELF. */
int MPI_Session_get_pset_data(MPI_Session session, const char *coll_pset, const char *pset_name, char **keys, int nkeys,
                              int wait, MPI_Info *info_used);
int MPI_Session_get_pset_data_nb(MPI_Session session, const char *coll_pset, const char *pset_name, char **keys,
                                 int nkeys, int wait, MPI_Info *info_used, MPI_Request *request);

#ifdef __cplusplus
}
#endif
#endif
