/* The calls of process sets and of re-initialization as programs meet them: the runtime does what they say. */
#include "epop/mpi_psets.h"
#include "epop/mpi_reinit.h"
#include "interpose/instead.h"
#include "interpose/interpose.h"

#define CALL __attribute__((visibility("default")))

CALL int MPI_Session_get_res_change(MPI_Session session, MPI_rc_type *rc_type, char delta_pset[], bool *incl,
                                    MPI_rc_status_t *status, MPI_Info *info)
{
    return epop__instead_MPI_Session_get_res_change(session, rc_type, delta_pset, incl, status, info);
}

CALL int MPI_Session_pset_create_op(MPI_Session session, MPI_Info info, MPI_pset_op op, const char *pset1,
                                    const char *pset2, char *pset_result)
{
    return epop__instead_MPI_Session_pset_create_op(session, info, op, pset1, pset2, pset_result);
}

CALL int MPI_Session_accept_res_change(MPI_Session session, MPI_Info info, char *delta_pset, char *new_pset, int root,
                                       MPI_Comm comm, int *terminate)
{
    INTERPOSE_CALL(MPI_Session_accept_res_change);
    return epop__instead_MPI_Session_accept_res_change(session, info, delta_pset, new_pset, root, comm, terminate);
}

CALL int MPI_Session_confirm_res_change(MPI_Session session, MPI_Info info, const char *delta_pset, char *new_pset)
{
    INTERPOSE_CALL(MPI_Session_confirm_res_change);
    return epop__instead_MPI_Session_confirm_res_change(session, info, delta_pset, new_pset);
}

CALL int MPI_Session_dyn_v2a_psetop(MPI_Session session, int *op, char **input_sets, int ninput, char ***output_sets,
                                    int *noutput, MPI_Info info)
{
    return epop__instead_MPI_Session_dyn_v2a_psetop(session, op, input_sets, ninput, output_sets, noutput, info);
}

CALL int MPI_Session_dyn_v2a_psetop_nb(MPI_Session session, int *op, char **input_sets, int ninput, char ***output_sets,
                                       int *noutput, MPI_Info info, MPI_Request *request)
{
    return epop__instead_MPI_Session_dyn_v2a_psetop_nb(session, op, input_sets, ninput, output_sets, noutput, info,
                                                       request);
}

CALL int MPI_Session_dyn_v2a_query_psetop(MPI_Session session, const char *coll_pset, const char *input_pset, int *type,
                                          char ***output_psets, int *noutput)
{
    INTERPOSE_CALL(MPI_Session_dyn_v2a_query_psetop);
    return epop__instead_MPI_Session_dyn_v2a_query_psetop(session, coll_pset, input_pset, type, output_psets, noutput);
}

CALL int MPI_Session_dyn_v2a_query_psetop_nb(MPI_Session session, const char *coll_pset, const char *input_pset,
                                             int *type, char ***output_psets, int *noutput, MPI_Request *request)
{
    return epop__instead_MPI_Session_dyn_v2a_query_psetop_nb(session, coll_pset, input_pset, type, output_psets,
                                                             noutput, request);
}

CALL int MPI_Session_pset_barrier(MPI_Session session, char **pset_names, int num_psets, MPI_Info info)
{
    INTERPOSE_CALL(MPI_Session_pset_barrier);
    return epop__instead_MPI_Session_pset_barrier(session, pset_names, num_psets, info);
}

CALL int MPI_Session_pset_barrier_nb(MPI_Session session, char **pset_names, int num_psets, MPI_Info info,
                                     MPI_Request *request)
{
    return epop__instead_MPI_Session_pset_barrier_nb(session, pset_names, num_psets, info, request);
}

CALL int MPI_Session_dyn_finalize_psetop(MPI_Session session, const char *pset_name)
{
    return epop__instead_MPI_Session_dyn_finalize_psetop(session, pset_name);
}

CALL int MPI_Session_set_pset_data(MPI_Session session, const char *pset_name, MPI_Info info)
{
    return epop__instead_MPI_Session_set_pset_data(session, pset_name, info);
}

CALL int MPI_Session_get_pset_data(MPI_Session session, const char *coll_pset, const char *pset_name, char **keys,
                                   int nkeys, int wait, MPI_Info *info_used)
{
    INTERPOSE_CALL(MPI_Session_get_pset_data);
    return epop__instead_MPI_Session_get_pset_data(session, coll_pset, pset_name, keys, nkeys, wait, info_used);
}

CALL int MPI_Session_get_pset_data_nb(MPI_Session session, const char *coll_pset, const char *pset_name, char **keys,
                                      int nkeys, int wait, MPI_Info *info_used, MPI_Request *request)
{
    return epop__instead_MPI_Session_get_pset_data_nb(session, coll_pset, pset_name, keys, nkeys, wait, info_used,
                                                      request);
}

CALL int MPIX_Session_reinit(int count, MPI_Session **session_array_in, MPI_Session *session_out, MPI_Info info,
                             MPIX_Session_reinit_preparation_function *prep_fn, void *prep_userdata,
                             MPIX_Session_reinit_resume_function *resume_fn, void *resume_userdata, int leave,
                             MPI_Count nleave, int resize_allocation, MPI_Errhandler errhandler)
{
    INTERPOSE_CALL(MPIX_Session_reinit);
    return epop__instead_MPIX_Session_reinit(count, session_array_in, session_out, info, prep_fn, prep_userdata,
                                             resume_fn, resume_userdata, leave, nleave, resize_allocation, errhandler);
}

CALL int MPIX_Spawn_async(const char *command, char *argv[], int maxprocs, MPI_Info info, int root,
                          int resize_allocation, MPI_Info *status)
{
    return epop__instead_MPIX_Spawn_async(command, argv, maxprocs, info, root, resize_allocation, status);
}

CALL int MPIX_Spawn_status(MPI_Info *status)
{
    return epop__instead_MPIX_Spawn_status(status);
}
