/* A session that is not finalized. */
#include <mpi.h>

int main(void)
{
    MPI_Session session;
    return MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
}
