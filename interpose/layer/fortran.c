/*
 * The elastic MPI calls as Fortran programs meet them: everything by reference, and the error number in the last
 * argument, which may be absent. Each by the names that Fortran compilers make of one.
 */
#include <stddef.h>

#include "epop/mpi_adapt.h"

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
