/* No program, but a library to be preloaded: MPI says that it is the version EPOP_TEST_VERSION of MPICH, or the text
 * EPOP_TEST_LIBRARY, and PMIx that it is EPOP_TEST_PMIX. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int PMPI_Get_library_version(char *text, int *length)
{
    const char *version = getenv("EPOP_TEST_VERSION"), *library = getenv("EPOP_TEST_LIBRARY");
    *length = library ? snprintf(text, MPI_MAX_LIBRARY_VERSION_STRING, "%s", library)
                      : snprintf(text, MPI_MAX_LIBRARY_VERSION_STRING, "MPICH Version:\t%s\nMPICH Device:\tch4:ucx\n",
                                 version);
    return MPI_SUCCESS;
}

int MPI_Get_library_version(char *text, int *length)
{
    return PMPI_Get_library_version(text, length);
}

const char *PMIx_Get_version(void)
{
    return getenv("EPOP_TEST_PMIX");
}
