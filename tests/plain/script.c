/* An interpreter, as it were: its job has the script's name, and it goes on where the job is told to stop. */
#include <epop/mpi_adapt.h>
#include <stdio.h>
#include <string.h>

/* The name is copied. */
static int name_it(void)
{
    char name[] = "simulation";
    if (epop_mpi_script(name) != MPI_SUCCESS)
        return 1;
    memset(name, 'x', sizeof name - 1);
    return 0;
}

int main(int argc, char **argv)
{
    int pending, status, finalized;
    if (name_it())
        return 1;
    MPI_Init_adapt(&argc, &argv, &status);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (argc > 1 && epop_mpi_script("late") != MPI_ERR_OTHER)
        return 2;
    do
        MPI_Probe_adapt(&pending, &status, NULL);
    while (pending == MPI_ADAPT_FALSE && status == MPI_ADAPT_STATUS_STAYING);
    MPI_Finalized(&finalized);
    if (pending == MPI_ADAPT_FALSE && status == MPI_ADAPT_STATUS_LEAVING && finalized)
        fputs("it goes on to its end\n", stdout); /* in one piece */
    return 0;
}
