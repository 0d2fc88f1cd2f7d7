/*
 * Dynamic process sets: resource changes for programs that have MPI sessions and no MPI_COMM_WORLD. Two generations of
 * the interface: get, accept and confirm of resource changes, and the set operations of its successor, by which a
 * program also asks for changes. A program uses one of them. Link it with libepop_mpi, before MPI, or preload that.
 *
 * MPI-4's own functions of sessions know the sets: MPI_Session_get_num_psets, _get_nth_pset, _get_pset_info,
 * MPI_Group_from_session_pset and MPI_Comm_create_from_group. Names: mpi://WORLD (the present world; for processes that
 * were started to join, these, until the others have them in theirs), mpi://SELF, mpi://app/NAME (the program as it
 * started), mpi://app/NAME/... (made by the program), mpi://rte/NAME/rc/... (delta process sets, of changes).
 *
 * All return MPI error codes, and call the error handler of the session. docs/reference/elastic_mpi.md.
 *
 * Source: D. Huber, Dynamic Processes Management in MPI and PMIx (TU Muenchen 2021), chapter 6; the successor: D. Huber
 * et al., Towards Dynamic Resource Management with MPI Sessions and PMIx (EuroMPI 2022), version 2a.
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

/* ---- Resource changes -------------------------------------------------------------------------------- */

/* What a change does. */
typedef int MPI_rc_type;
#define MPI_RC_NULL    0
#define MPI_RC_ADD     1
#define MPI_RC_SUB     2
#define MPI_RC_REPLACE 3 /* both in one */

/* How far it is. */
typedef int MPI_rc_status_t;
#define MPI_RC_STATUS_NULL      0 /* there is none */
#define MPI_RC_STATUS_ANNOUNCED 1 /* it is to be accepted */
#define MPI_RC_STATUS_PENDING   2 /* accepted, and the new processes have not confirmed it yet */
#define MPI_RC_STATUS_FINALIZED 3
#define MPI_RC_STATUS_ABORTED   4
/* As they are written, too. */
#define MPI_RC_ANNOUNCED MPI_RC_STATUS_ANNOUNCED
#define MPI_RC_PENDING   MPI_RC_STATUS_PENDING
#define MPI_RC_FINALIZED MPI_RC_STATUS_FINALIZED
#define MPI_RC_ABORTED   MPI_RC_STATUS_ABORTED

/* Operations on process sets. */
typedef int MPI_pset_op;
#define MPI_PSETOP_NULL         0
#define MPI_PSETOP_ADD          1 /* from here to SHRINK, and CANCEL: of the successor alone */
#define MPI_PSETOP_SUB          2
#define MPI_PSETOP_REPLACE      3
#define MPI_PSETOP_MALLEABLE    4
#define MPI_PSETOP_GROW         5
#define MPI_PSETOP_SHRINK       6
#define MPI_PSETOP_UNION        7
#define MPI_PSETOP_DIFFERENCE   8
#define MPI_PSETOP_INTERSECTION 9
#define MPI_PSETOP_MULTI        10
#define MPI_PSETOP_SPLIT        11 /* of the successor; "mpi_part_sizes" says how */
#define MPI_PSETOP_CANCEL       12

/* Keys of info objects. Attributes of sets besides: "mpi_size", "mpi_ps_version", "mpi_ps_epoch", "mpi_ps_active",
 * "mpi_ps_sched_*", and of the process that asks "mpi_included", "mpi_primary", "mpi_dyn" ("True" or "False"). */
#define MPI_RC_BOUND_PSET "MPI_RC_BOUND_PSET" /* get, accept: of which set; mpi://self: in which this process is */
#define MPI_RC_TIMEOUT    "MPI_RC_TIMEOUT"    /* accept: seconds to wait for the new processes' confirmation */
#define MPI_RC_ADD_PSET   "MPI_RC_ADD_PSET"   /* get gives the two sets of a replacement by these */
#define MPI_RC_SUB_PSET   "MPI_RC_SUB_PSET"
#define MPI_PSET_TARGET   "MPI_PSET_TARGET" /* pset_create_op: the name of the result, mpi://app/NAME/... */

/*
 * Is there a resource change, of the whole application, or of the set that info names? *rc_type says what, *status how
 * far it is, delta_pset (of MPI_MAX_PSET_NAME_LEN) which processes it adds or takes, *incl whether this process is one
 * of them: one that was started for it is. *info may be NULL, as info; the keys of a replacement are set in it. Local:
 * one process may ask, and tell the others.
 */
int MPI_Session_get_res_change(MPI_Session session, MPI_rc_type *rc_type, char delta_pset[], bool *incl,
                               MPI_rc_status_t *status, MPI_Info *info);

/*
 * A new set from two: their union, difference or intersection, which must not be empty; its name into pset_result (of
 * MPI_MAX_PSET_NAME_LEN). With MPI_PSET_TARGET in info it gets that name: where that is pset1's, as a new version. Keys
 * mpi_ps_active and mpi_ps_sched_* in info are set on it; others are as on pset1. MPI_PSETOP_NULL sets them alone.
 * Where pset2 is a delta process set, those sets that are not active and are affected follow. MPI_ERR_ARG otherwise.
 * Local.
 */
int MPI_Session_pset_create_op(MPI_Session session, MPI_Info info, MPI_pset_op op, const char *pset1, const char *pset2,
                               char *pset_result);

/*
 * Accepts the change: root says by which delta_pset, and new_pset, of which a communicator is to be made; the others
 * get both. MPI_SUCCESS: it is done. What was added can be reached; *terminate says that this process has been taken
 * out, and is to finalize its sessions and end. Where the change takes processes comm is disconnected. MPI_ERR_PENDING:
 * the new processes have not confirmed it yet, to be called again (with MPI_RC_TIMEOUT after that many seconds); or
 * other sets of which processes are taken have not accepted it. MPI_ERR_PORT: it is aborted. For these two no error
 * handler is called. Collective over comm.
 */
int MPI_Session_accept_res_change(MPI_Session session, MPI_Info info, char *delta_pset, char *new_pset, int root,
                                  MPI_Comm comm, int *terminate);

/*
 * By processes that were started for a change: waits until it is accepted, and gives the set of which a communicator is
 * to be made (new_pset, of MPI_MAX_PSET_NAME_LEN). MPI_ERR_PORT: it is aborted. Collective over delta_pset.
 */
int MPI_Session_confirm_res_change(MPI_Session session, MPI_Info info, const char *delta_pset, char *new_pset);

/* ---- The successor ------------------------------------------------------------------------------------- */

/*
 * Asks for an operation on the input sets. UNION, DIFFERENCE, INTERSECTION of two or more, one after the other: one
 * set. SPLIT: a set for each of the sizes
 * in "mpi_part_sizes" of info ("2,2"). ADD, SUB: a change of the first set, by "mpi_num_procs_add" or
 * "mpi_num_procs_sub" processes, or "mpi.op_info.info.num_procs"; the delta process set. GROW, SHRINK: besides, what
 * becomes of the set. REPLACE: what is taken, what is added ("" for none), and what becomes of it; with
 * "mpi_num_procs_min", "_max" or "_pref" and no number others choose that, later: the request of _nb waits for it, and
 * a query finds it. CANCEL: what has been asked for. *noutput names into *output_sets, which the caller frees, each and
 * the array. Where it cannot be, *op becomes MPI_PSETOP_NULL and *noutput 0. Local.
 */
int MPI_Session_dyn_v2a_psetop(MPI_Session session, int *op, char **input_sets, int ninput, char ***output_sets,
                               int *noutput, MPI_Info info);
int MPI_Session_dyn_v2a_psetop_nb(MPI_Session session, int *op, char **input_sets, int ninput, char ***output_sets,
                                  int *noutput, MPI_Info info, MPI_Request *request);

/*
 * Is there a change of input_pset that is not finalized? *type says what, or MPI_PSETOP_NULL; the sets are those of
 * psetop, also where the system asks for the change. Collective over coll_pset, all of which get the same; mpi://SELF:
 * local.
 */
int MPI_Session_dyn_v2a_query_psetop(MPI_Session session, const char *coll_pset, const char *input_pset, int *type,
                                     char ***output_psets, int *noutput);
int MPI_Session_dyn_v2a_query_psetop_nb(MPI_Session session, const char *coll_pset, const char *input_pset, int *type,
                                        char ***output_psets, int *noutput, MPI_Request *request);

/*
 * Waits until all processes of these sets have called it with the same names. info is not looked at. An error where one
 * of them has ended. Collective over the processes of all sets together.
 */
int MPI_Session_pset_barrier(MPI_Session session, char **pset_names, int num_psets, MPI_Info info);
int MPI_Session_pset_barrier_nb(MPI_Session session, char **pset_names, int num_psets, MPI_Info info,
                                MPI_Request *request);

/* The program is through with the change of that set: it is not found any more, and mpi://WORLD follows. Local. */
int MPI_Session_dyn_finalize_psetop(MPI_Session session, const char *pset_name);

/*
 * The dictionary of a set: texts by keys. get looks up nkeys of them, attributes of the set among them, into an info
 * object which the caller frees; with `wait` it waits until all are there. MPI_ERR_ARG: nobody can set one any more, as
 * all processes wait. Collective over coll_pset, all of which get the same, but for those of it that a change takes:
 * these may call it. mpi://SELF: local.
 */
int MPI_Session_set_pset_data(MPI_Session session, const char *pset_name, MPI_Info info);
int MPI_Session_get_pset_data(MPI_Session session, const char *coll_pset, const char *pset_name, char **keys, int nkeys,
                              int wait, MPI_Info *info_used);
int MPI_Session_get_pset_data_nb(MPI_Session session, const char *coll_pset, const char *pset_name, char **keys,
                                 int nkeys, int wait, MPI_Info *info_used, MPI_Request *request);

#ifdef __cplusplus
}
#endif
#endif
