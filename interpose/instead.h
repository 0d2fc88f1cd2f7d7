/* What the wrappers call instead of MPI's own function, where that alone would not do. */
#ifndef EPOP_INTERPOSE_INSTEAD_H
#define EPOP_INTERPOSE_INSTEAD_H

#include <mpi.h>

#include "epop/mpi_psets.h"
#include "epop/mpi_reinit.h"
#include "epop/visibility.h"

/* The life of the job: as struct interpose_life has it. To abort the present world, or no communicator, is to abort
 * MPI_COMM_WORLD: the job. */
EPOP_API int epop__instead_MPI_Init(int *argc, char ***argv);
EPOP_API int epop__instead_MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
EPOP_API int epop__instead_MPI_Initialized(int *flag);
EPOP_API int epop__instead_MPI_Finalize(void);
EPOP_API int epop__instead_MPI_Finalized(int *flag);
EPOP_API int epop__instead_MPI_Abort(MPI_Comm comm, int code);

/* Also before MPI is up, where MPICH aborts: by a clock of our own then, which goes on behind that. Any thread. */
EPOP_API double epop__instead_MPI_Wtime(void);
EPOP_API double epop__instead_MPI_Wtick(void);

/* Ends the process as _exit does, with what interpose_life makes of the status. */
EPOP_API void epop__instead__exit(int status) __attribute__((noreturn));

/* The present world is no more the program's to free than MPI_COMM_WORLD is: MPI_ERR_COMM, by its error handler. */
EPOP_API int epop__instead_MPI_Comm_free(MPI_Comm *comm);
EPOP_API int epop__instead_MPI_Comm_disconnect(MPI_Comm *comm);

/* Errors that belong to no communicator go to the real MPI_COMM_WORLD's error handler, so it is set as well. */
EPOP_API int epop__instead_MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler);
EPOP_API int epop__instead_MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler handler);

/* MPI does not tell what attributes a communicator has, so their keys are noted down when they are made. */
EPOP_API int epop__instead_MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy,
                                                  MPI_Comm_delete_attr_function *free_attribute, int *keyval,
                                                  void *extra_state);
EPOP_API int epop__instead_MPI_Comm_free_keyval(int *keyval);
EPOP_API int epop__instead_MPI_Keyval_create(MPI_Copy_function *copy, MPI_Delete_function *free_attribute, int *keyval,
                                             void *extra_state);
EPOP_API int epop__instead_MPI_Keyval_free(int *keyval);

/* A key that a Fortran program made: how MPICH calls its copy function, and keeps its attributes, with a number for the
 * type of the value. A key that is no communicator's is left alone. */
typedef int epop__copy_proxy(MPI_Comm_copy_attr_function *copy, MPI_Comm comm, int keyval, void *extra_state, int type,
                             void *value, void **copied, int *copies);
typedef int epop__set_attribute(MPI_Comm comm, int keyval, void *value, int type);
typedef int epop__get_attribute(MPI_Comm comm, int keyval, void *value, int *flag, int type);
struct epop__fortran_keyval {
    epop__copy_proxy *copy;
    epop__set_attribute *set;
    epop__get_attribute *get;
};
EPOP_API void epop__instead_fortran_keyval(int keyval, const struct epop__fortran_keyval *how);

/* The four elastic calls of epop/mpi_adapt.h; the runtime has them. */
EPOP_API int epop__instead_MPI_Init_adapt(int *argc, char ***argv, int *local_status);
EPOP_API int epop__instead_MPI_Probe_adapt(int *pending_adaptation, int *local_status, MPI_Info *info);
EPOP_API int epop__instead_MPI_Comm_adapt_begin(MPI_Comm *intercomm, MPI_Comm *new_comm_world, int *staying_count,
                                                int *leaving_count, int *joining_count);
EPOP_API int epop__instead_MPI_Comm_adapt_commit(void);

/* Sessions know the job's process sets; the runtime has these, and those of epop/mpi_psets.h and epop/mpi_reinit.h. */
EPOP_API int epop__instead_MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session);
EPOP_API int epop__instead_MPI_Session_finalize(MPI_Session *session);
EPOP_API int epop__instead_MPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int *npset_names);
EPOP_API int epop__instead_MPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int *pset_len,
                                                    char *pset_name);
EPOP_API int epop__instead_MPI_Session_get_pset_info(MPI_Session session, const char *pset_name, MPI_Info *info);
EPOP_API int epop__instead_MPI_Group_from_session_pset(MPI_Session session, const char *pset_name, MPI_Group *newgroup);
EPOP_API int epop__instead_MPI_Comm_create_from_group(MPI_Group group, const char *stringtag, MPI_Info info,
                                                      MPI_Errhandler errhandler, MPI_Comm *newcomm);
EPOP_API int epop__instead_MPI_Session_get_res_change(MPI_Session session, MPI_rc_type *rc_type, char delta_pset[],
                                                      bool *incl, MPI_rc_status_t *status, MPI_Info *info);
EPOP_API int epop__instead_MPI_Session_pset_create_op(MPI_Session session, MPI_Info info, MPI_pset_op op,
                                                      const char *pset1, const char *pset2, char *pset_result);
EPOP_API int epop__instead_MPI_Session_accept_res_change(MPI_Session session, MPI_Info info, char *delta_pset,
                                                         char *new_pset, int root, MPI_Comm comm, int *terminate);
EPOP_API int epop__instead_MPI_Session_confirm_res_change(MPI_Session session, MPI_Info info, const char *delta_pset,
                                                          char *new_pset);
EPOP_API int epop__instead_MPI_Session_dyn_v2a_psetop(MPI_Session session, int *op, char **input_sets, int ninput,
                                                      char ***output_sets, int *noutput, MPI_Info info);
EPOP_API int epop__instead_MPI_Session_dyn_v2a_psetop_nb(MPI_Session session, int *op, char **input_sets, int ninput,
                                                         char ***output_sets, int *noutput, MPI_Info info,
                                                         MPI_Request *request);
EPOP_API int epop__instead_MPI_Session_dyn_v2a_query_psetop(MPI_Session session, const char *coll_pset,
                                                            const char *input_pset, int *type, char ***output_psets,
                                                            int *noutput);
EPOP_API int epop__instead_MPI_Session_dyn_v2a_query_psetop_nb(MPI_Session session, const char *coll_pset,
                                                               const char *input_pset, int *type, char ***output_psets,
                                                               int *noutput, MPI_Request *request);
EPOP_API int epop__instead_MPI_Session_pset_barrier(MPI_Session session, char **pset_names, int num_psets,
                                                    MPI_Info info);
EPOP_API int epop__instead_MPI_Session_pset_barrier_nb(MPI_Session session, char **pset_names, int num_psets,
                                                       MPI_Info info, MPI_Request *request);
EPOP_API int epop__instead_MPI_Session_dyn_finalize_psetop(MPI_Session session, const char *pset_name);
EPOP_API int epop__instead_MPI_Session_set_pset_data(MPI_Session session, const char *pset_name, MPI_Info info);
EPOP_API int epop__instead_MPI_Session_get_pset_data(MPI_Session session, const char *coll_pset, const char *pset_name,
                                                     char **keys, int nkeys, int wait, MPI_Info *info_used);
EPOP_API int epop__instead_MPI_Session_get_pset_data_nb(MPI_Session session, const char *coll_pset,
                                                        const char *pset_name, char **keys, int nkeys, int wait,
                                                        MPI_Info *info_used, MPI_Request *request);
EPOP_API int epop__instead_MPIX_Session_reinit(int count, MPI_Session **session_array_in, MPI_Session *session_out,
                                               MPI_Info info, MPIX_Session_reinit_preparation_function *prep_fn,
                                               void *prep_userdata, MPIX_Session_reinit_resume_function *resume_fn,
                                               void *resume_userdata, int leave, MPI_Count nleave,
                                               int resize_allocation, MPI_Errhandler errhandler);
EPOP_API int epop__instead_MPIX_Spawn_async(const char *command, char *argv[], int maxprocs, MPI_Info info, int root,
                                            int resize_allocation, MPI_Info *status);
EPOP_API int epop__instead_MPIX_Spawn_status(MPI_Info *status);

#endif
