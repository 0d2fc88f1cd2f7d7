/* Trying one thing: see trial.h. */
#include "driver/epop/trial.h"

#include <limits.h>
#include <mpi.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "driver/epop/launch.h"
#include "driver/epop/probe_mpi.h"
#include "runtime/base/error.h"
#include "runtime/hydra/pmi.h"
#include "runtime/job/job.h"
#include "runtime/world/backend.h"

#define LEAVE_MS 3000

/* Rank 1 ends without MPI_Finalize, which would wait for rank 0. A launcher that does not allow it ends both. */
static int try_leave(int rank)
{
    int pid = (int)getpid();
    if (!pmi_can_leave()) {
        if (rank == 0)
            printf("leave no: the launcher is not Hydra's mpiexec\n");
        return 0;
    }
    if (rank == 1) {
        MPI_Send(&pid, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        pmi_leave(0);
    }
    MPI_Recv(&pid, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    struct pollfd process = {.fd = pidfd_open(pid, 0), .events = POLLIN};
    bool gone = process.fd < 0 || poll(&process, 1, LEAVE_MS) > 0;
    poll(NULL, 0, 100); /* for a launcher that ends all then to do so */
    printf(gone ? "leave yes\n" : "leave no: the process did not end\n");
    pmi_leave(0);
}

static int print_backend(void)
{
    struct error why = {0};
    const char *name = epop__backend_auto(&why);
    printf("backend %s\nreason %s\n", name, why.text);
    return 0;
}

int trial_main(int argc, char **argv)
{
    char self[PATH_MAX], *child[] = {TRIAL_ARGUMENT, "child", NULL};
    int rank, status, provided = probe_mpi_begin();
    const char *thing = argc > 0 ? argv[0] : "";
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    launch_self(self, sizeof self, "epop");
    if (!strcmp(thing, "leave"))
        status = try_leave(rank);
    else if (!strcmp(thing, "backend"))
        status = print_backend();
    else
        status = probe_mpi(thing, argc > 1 ? argv[1] : NULL, self, child, provided);
    MPI_Finalize();
    return status;
}
