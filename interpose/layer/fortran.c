/*
 * The elastic MPI calls, and those of process sets, as Fortran programs meet them: everything by reference, and the
 * error number in the last argument, which may be absent. Each by the names that Fortran compilers make of one.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "epop/mpi_adapt.h"
#include "epop/mpi_psets.h"

#define CALL __attribute__((visibility("default")))

/* The definition that follows is name_, for most compilers; the others are the same. C has MPI's names otherwise
 * spelt, but the project's own as they are. */
#define FORTRAN_BESIDE_C(lower, upper, ...)                                                                            \
    CALL void lower##_(__VA_ARGS__);                                                                                   \
    CALL void lower##__(__VA_ARGS__) __attribute__((alias(#lower "_")));                                               \
    CALL void upper(__VA_ARGS__) __attribute__((alias(#lower "_")));                                                   \
    void lower##_(__VA_ARGS__)
#define FORTRAN(lower, upper, ...)                                                                                     \
    CALL void lower(__VA_ARGS__) __attribute__((alias(#lower "_")));                                                   \
    FORTRAN_BESIDE_C(lower, upper, __VA_ARGS__)

static void tell(int error, MPI_Fint *ierror)
{
    if (ierror)
        *ierror = error;
}

FORTRAN(mpi_init_adapt, MPI_INIT_ADAPT, MPI_Fint *local_status, MPI_Fint *ierror)
{
    tell(MPI_Init_adapt(NULL, NULL, local_status), ierror);
}

FORTRAN(mpi_probe_adapt, MPI_PROBE_ADAPT, MPI_Fint *pending_adaptation, MPI_Fint *local_status, MPI_Fint *info,
        MPI_Fint *ierror)
{
    MPI_Info description = MPI_INFO_NULL;
    int error = MPI_Probe_adapt(pending_adaptation, local_status, &description);
    if (error == MPI_SUCCESS)
        *info = MPI_Info_c2f(description);
    tell(error, ierror);
}

FORTRAN_BESIDE_C(epop_mpi_probe_fault, EPOP_MPI_PROBE_FAULT, MPI_Fint *pending_adaptation, MPI_Fint *local_status,
                 MPI_Fint *info, MPI_Fint *nfailed, MPI_Fint *failed_ranks, MPI_Fint *ierror)
{
    MPI_Info description = MPI_INFO_NULL;
    int error = epop_mpi_probe_fault(pending_adaptation, local_status, &description, nfailed, failed_ranks);
    if (error == MPI_SUCCESS)
        *info = MPI_Info_c2f(description);
    tell(error, ierror);
}

FORTRAN(mpi_comm_adapt_begin, MPI_COMM_ADAPT_BEGIN, MPI_Fint *intercomm, MPI_Fint *new_comm_world,
        MPI_Fint *staying_count, MPI_Fint *leaving_count, MPI_Fint *joining_count, MPI_Fint *ierror)
{
    MPI_Comm between, after;
    int error = MPI_Comm_adapt_begin(&between, &after, staying_count, leaving_count, joining_count);
    if (error == MPI_SUCCESS) {
        *intercomm = MPI_Comm_c2f(between);
        *new_comm_world = MPI_Comm_c2f(after);
    }
    tell(error, ierror);
}

FORTRAN(mpi_comm_adapt_commit, MPI_COMM_ADAPT_COMMIT, MPI_Fint *ierror)
{
    tell(MPI_Comm_adapt_commit(), ierror);
}

FORTRAN_BESIDE_C(epop_mpi_first_probe, EPOP_MPI_FIRST_PROBE, const MPI_Fint *what, MPI_Fint *ierror)
{
    tell(epop_mpi_first_probe((epop_mpi_first_probe_t)*what), ierror);
}

FORTRAN_BESIDE_C(epop_mpi_leave, EPOP_MPI_LEAVE, const MPI_Fint *how, MPI_Fint *ierror)
{
    tell(epop_mpi_leave((epop_mpi_leave_t)*how), ierror);
}

FORTRAN_BESIDE_C(epop_mpi_progress, EPOP_MPI_PROGRESS, const int64_t *iteration, const int64_t *bound, MPI_Fint *ierror)
{
    tell(epop_mpi_progress(*iteration, *bound), ierror);
}

/* ---- Texts: each has its length, which is behind all other arguments --------------------------------------------- */

/* Without the blanks at its end; NULL: out of memory. */
static char *text_of(const char *text, size_t length)
{
    while (length && text[length - 1] == ' ')
        length--;
    char *copy = malloc(length + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

FORTRAN_BESIDE_C(epop_mpi_sizes, EPOP_MPI_SIZES, const char *rule, MPI_Fint *ierror, size_t length)
{
    char *text = text_of(rule, length);
    tell(epop_mpi_sizes(text), ierror);
    free(text);
}

/* With blanks behind it. */
static int give_text(const char *name, char *text, size_t length)
{
    size_t size = strlen(name);
    memset(text, ' ', length);
    memcpy(text, name, size < length ? size : length);
    return size > length ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

/* ---- Process sets ------------------------------------------------------------------------------- */

static void free_texts(char **texts, int count)
{
    for (int i = 0; texts && i < count; i++)
        free(texts[i]);
    free(texts);
}

static char **texts_of(const char *texts, int count, size_t length)
{
    char **all = calloc((size_t)(count > 0 ? count : 0) + 1, sizeof *all);
    for (int i = 0; all && i < count; i++)
        all[i] = text_of(texts + (size_t)i * length, length);
    return all;
}

/* Those that have room, with blanks behind them. Takes the names. */
static int give_texts(char **names, int count, char *texts, MPI_Fint *room, size_t length)
{
    int error = count > *room ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
    for (int i = 0; i < count && i < *room; i++)
        if (give_text(names[i], texts + (size_t)i * length, length))
            error = MPI_ERR_TRUNCATE;
    free_texts(names, count);
    *room = count;
    return error;
}

/* A variable for a name, as C has it. */
static void take_name(char name[MPI_MAX_PSET_NAME_LEN], const char *text, size_t length)
{
    char *copy = text_of(text, length);
    snprintf(name, MPI_MAX_PSET_NAME_LEN, "%s", copy ? copy : "");
    free(copy);
}

/* ---- The first generation: what is asked for in info is told there, too, unless there is none ---- */

FORTRAN(mpi_session_get_res_change, MPI_SESSION_GET_RES_CHANGE, const MPI_Fint *session, MPI_Fint *rc_type,
        char *delta_pset, MPI_Fint *incl, MPI_Fint *status, const MPI_Fint *info, MPI_Fint *ierror, size_t length)
{
    char delta[MPI_MAX_PSET_NAME_LEN];
    MPI_Info keys = MPI_Info_f2c(*info);
    bool included;
    int error = MPI_Session_get_res_change(MPI_Session_f2c(*session), rc_type, delta, &included, status,
                                           keys == MPI_INFO_NULL ? NULL : &keys);
    if (error == MPI_SUCCESS) {
        *incl = included;
        error = give_text(delta, delta_pset, length);
    }
    tell(error, ierror);
}

FORTRAN(mpi_session_pset_create_op, MPI_SESSION_PSET_CREATE_OP, const MPI_Fint *session, const MPI_Fint *info,
        const MPI_Fint *op, const char *pset1, const char *pset2, char *pset_result, MPI_Fint *ierror, size_t length1,
        size_t length2, size_t result_length)
{
    char *one = text_of(pset1, length1), *two = text_of(pset2, length2), name[MPI_MAX_PSET_NAME_LEN] = "";
    int error = MPI_Session_pset_create_op(MPI_Session_f2c(*session), MPI_Info_f2c(*info), *op, one, two, name);
    free(one);
    free(two);
    tell(error ? error : give_text(name, pset_result, result_length), ierror);
}

FORTRAN(mpi_session_accept_res_change, MPI_SESSION_ACCEPT_RES_CHANGE, const MPI_Fint *session, const MPI_Fint *info,
        char *delta_pset, char *new_pset, const MPI_Fint *root, const MPI_Fint *comm, MPI_Fint *terminate,
        MPI_Fint *ierror, size_t delta_length, size_t new_length)
{
    char delta[MPI_MAX_PSET_NAME_LEN], next[MPI_MAX_PSET_NAME_LEN];
    take_name(delta, delta_pset, delta_length);
    take_name(next, new_pset, new_length);
    int error = MPI_Session_accept_res_change(MPI_Session_f2c(*session), MPI_Info_f2c(*info), delta, next, *root,
                                              MPI_Comm_f2c(*comm), terminate);
    int cut = give_text(delta, delta_pset, delta_length) | give_text(next, new_pset, new_length);
    tell(error ? error : cut, ierror);
}

FORTRAN(mpi_session_confirm_res_change, MPI_SESSION_CONFIRM_RES_CHANGE, const MPI_Fint *session, const MPI_Fint *info,
        const char *delta_pset, char *new_pset, MPI_Fint *ierror, size_t delta_length, size_t new_length)
{
    char *delta = text_of(delta_pset, delta_length), next[MPI_MAX_PSET_NAME_LEN] = "";
    int error = MPI_Session_confirm_res_change(MPI_Session_f2c(*session), MPI_Info_f2c(*info), delta, next);
    free(delta);
    tell(error ? error : give_text(next, new_pset, new_length), ierror);
}

/* ---- The successor -------------------------------------------------------------------------------- */

FORTRAN(mpi_session_dyn_v2a_psetop, MPI_SESSION_DYN_V2A_PSETOP, const MPI_Fint *session, MPI_Fint *op,
        const char *input_sets, const MPI_Fint *ninput, char *output_psets, MPI_Fint *noutput, const MPI_Fint *info,
        MPI_Fint *ierror, size_t input_length, size_t output_length)
{
    char **in = texts_of(input_sets, *ninput, input_length), **out = NULL;
    int count = 0;
    int error =
        MPI_Session_dyn_v2a_psetop(MPI_Session_f2c(*session), op, in, *ninput, &out, &count, MPI_Info_f2c(*info));
    free_texts(in, *ninput);
    tell(error ? error : give_texts(out, count, output_psets, noutput, output_length), ierror);
}

FORTRAN(mpi_session_dyn_v2a_query_psetop, MPI_SESSION_DYN_V2A_QUERY_PSETOP, const MPI_Fint *session,
        const char *coll_pset, const char *input_pset, MPI_Fint *type, char *output_psets, MPI_Fint *noutput,
        MPI_Fint *ierror, size_t coll_length, size_t input_length, size_t output_length)
{
    char *coll = text_of(coll_pset, coll_length), *input = text_of(input_pset, input_length), **out = NULL;
    int count = 0;
    int error = MPI_Session_dyn_v2a_query_psetop(MPI_Session_f2c(*session), coll, input, type, &out, &count);
    free(coll);
    free(input);
    tell(error ? error : give_texts(out, count, output_psets, noutput, output_length), ierror);
}

FORTRAN(mpi_session_pset_barrier, MPI_SESSION_PSET_BARRIER, const MPI_Fint *session, const char *pset_names,
        const MPI_Fint *num_psets, const MPI_Fint *info, MPI_Fint *ierror, size_t length)
{
    char **names = texts_of(pset_names, *num_psets, length);
    tell(MPI_Session_pset_barrier(MPI_Session_f2c(*session), names, *num_psets, MPI_Info_f2c(*info)), ierror);
    free_texts(names, *num_psets);
}

FORTRAN(mpi_session_pset_barrier_nb, MPI_SESSION_PSET_BARRIER_NB, const MPI_Fint *session, const char *pset_names,
        const MPI_Fint *num_psets, const MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror, size_t length)
{
    char **names = texts_of(pset_names, *num_psets, length);
    MPI_Request later;
    int error = MPI_Session_pset_barrier_nb(MPI_Session_f2c(*session), names, *num_psets, MPI_Info_f2c(*info), &later);
    if (error == MPI_SUCCESS)
        *request = MPI_Request_c2f(later);
    free_texts(names, *num_psets);
    tell(error, ierror);
}

FORTRAN(mpi_session_dyn_finalize_psetop, MPI_SESSION_DYN_FINALIZE_PSETOP, const MPI_Fint *session,
        const char *pset_name, MPI_Fint *ierror, size_t length)
{
    char *name = text_of(pset_name, length);
    tell(MPI_Session_dyn_finalize_psetop(MPI_Session_f2c(*session), name), ierror);
    free(name);
}

FORTRAN(mpi_session_set_pset_data, MPI_SESSION_SET_PSET_DATA, const MPI_Fint *session, const char *pset_name,
        const MPI_Fint *info, MPI_Fint *ierror, size_t length)
{
    char *name = text_of(pset_name, length);
    tell(MPI_Session_set_pset_data(MPI_Session_f2c(*session), name, MPI_Info_f2c(*info)), ierror);
    free(name);
}

FORTRAN(mpi_session_get_pset_data, MPI_SESSION_GET_PSET_DATA, const MPI_Fint *session, const char *coll_pset,
        const char *pset_name, const char *keys, const MPI_Fint *nkeys, const MPI_Fint *wait, MPI_Fint *info_used,
        MPI_Fint *ierror, size_t coll_length, size_t length, size_t key_length)
{
    char *coll = text_of(coll_pset, coll_length), *name = text_of(pset_name, length);
    char **texts = texts_of(keys, *nkeys, key_length);
    MPI_Info info;
    int error = MPI_Session_get_pset_data(MPI_Session_f2c(*session), coll, name, texts, *nkeys, *wait, &info);
    if (error == MPI_SUCCESS)
        *info_used = MPI_Info_c2f(info);
    free(coll);
    free(name);
    free_texts(texts, *nkeys);
    tell(error, ierror);
}

/* It is set when the request is complete: MPICH's handles are Fortran's. */
_Static_assert(sizeof(MPI_Info) == sizeof(MPI_Fint), "an MPI_Info is no number of Fortran");

FORTRAN(mpi_session_get_pset_data_nb, MPI_SESSION_GET_PSET_DATA_NB, const MPI_Fint *session, const char *coll_pset,
        const char *pset_name, const char *keys, const MPI_Fint *nkeys, const MPI_Fint *wait, MPI_Info *info_used,
        MPI_Fint *request, MPI_Fint *ierror, size_t coll_length, size_t length, size_t key_length)
{
    char *coll = text_of(coll_pset, coll_length), *name = text_of(pset_name, length);
    char **texts = texts_of(keys, *nkeys, key_length);
    MPI_Request later;
    int error =
        MPI_Session_get_pset_data_nb(MPI_Session_f2c(*session), coll, name, texts, *nkeys, *wait, info_used, &later);
    if (error == MPI_SUCCESS)
        *request = MPI_Request_c2f(later);
    free(coll);
    free(name);
    free_texts(texts, *nkeys);
    tell(error, ierror);
}
