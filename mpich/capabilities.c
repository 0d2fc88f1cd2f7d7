/* Tries what this program's MPI library can do. Run by capabilities.sh, by build.sh and by the tests. */
#include <mpi.h>
#include <stdio.h>

#include "driver/epop/probe_mpi.h"

int main(int argc, char **argv)
{
    char *child[] = {"child", NULL};
    int provided = probe_mpi_begin();
    int status = probe_mpi(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : NULL, argv[0], child, provided);
    if (status == 2)
        fprintf(stderr, "usage: capabilities version|threads|spawn|accept|connect PORT|files PATH|wait (2 ranks)\n");
    MPI_Finalize();
    return status;
}
