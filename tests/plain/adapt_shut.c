/* Redistributes where no window is open: before an adaptation, with what epop_mpi_window gives there, and after commit,
 * with the window that was. Begins twice, too. All of it has to be refused, and nothing else happens. */
#include <epop/mpi_adapt.h>
#include <epop/redist.h>
#include <stdio.h>
#include <unistd.h>

static int status, pending;

static int refused(const epop_window_t *window)
{
    int step = 7;
    return epop_redist_replicated(window, &step, 1, MPI_INT) == EPOP_ERR_ARGUMENT && step == 7;
}

static int adapt(void)
{
    MPI_Comm between, after;
    int staying, leaving, joining, class;
    epop_window_t window;
    MPI_Comm_adapt_begin(&between, &after, &staying, &leaving, &joining);
    MPI_Error_class(MPI_Comm_adapt_begin(&between, &after, &staying, &leaving, &joining), &class);
    epop_mpi_window(&window);
    MPI_Comm_adapt_commit();
    return class == MPI_ERR_OTHER && refused(&window);
}

int main(int argc, char **argv)
{
    epop_window_t window;
    MPI_Init_adapt(&argc, &argv, &status);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    epop_mpi_window(&window);
    int right = refused(&window) && refused(NULL);
    do {
        usleep(1000);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Probe_adapt(&pending, &status, NULL);
    } while (pending != MPI_ADAPT_TRUE);
    right = adapt() && right;
    printf("%s\n", right ? "all refused" : "wrong");
    MPI_Finalize();
    return 0;
}
