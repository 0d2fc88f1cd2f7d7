/*
 * What the start of a process takes that EPOP cannot do without: prints when main() began and when MPI was up, as a
 * process that joins has it. Seconds since 1970.
 *     start [all]       all: hwloc looks at what EPOP has it leave out, too
 */
#include <mpi.h>
#include <stdio.h>

#include "runtime/base/clock.h"
#include "runtime/job/hwloc.h"

int main(int argc, char **argv)
{
    double begin = wall_seconds();
    int provided;
    unsigned left_out = argc > 1 ? 0 : hwloc_look_less();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    double up = wall_seconds();
    hwloc_look_at_all(left_out);
    printf("%.6f %.6f\n", begin, up);
    return MPI_Finalize();
}
