/* The elastic calls in the wrong place, or with wrong arguments: prints the error classes. */
#include <epop/mpi_adapt.h>
#include <stdio.h>

static void say(const char *what, int error)
{
    int class;
    MPI_Error_class(error, &class);
    printf("%s: %s\n", what,
           class == MPI_SUCCESS     ? "success"
           : class == MPI_ERR_OTHER ? "other"
           : class == MPI_ERR_ARG   ? "argument"
                                    : "?");
}

static void describe(void *data, epop_description_t *d)
{
    (void)data, (void)d;
}

int main(int argc, char **argv)
{
    int status, pending, n;
    MPI_Comm comm;
    say("probe before init", MPI_Probe_adapt(&pending, &status, NULL));
    say("begin before init", MPI_Comm_adapt_begin(&comm, &comm, &n, &n, &n));
    say("init", MPI_Init_adapt(&argc, &argv, &status));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    say("init again", MPI_Init_adapt(&argc, &argv, &status));
    say("probe without a status", MPI_Probe_adapt(&pending, NULL, NULL));
    say("probe", MPI_Probe_adapt(&pending, &status, NULL));
    say("begin without an adaptation", MPI_Comm_adapt_begin(&comm, &comm, &n, &n, &n));
    say("begin without a place", MPI_Comm_adapt_begin(NULL, &comm, &n, &n, &n));
    say("commit without begin", MPI_Comm_adapt_commit());
    say("described without a description", epop_mpi_adapt_described());
    say("description without a block", epop_mpi_describe(NULL, NULL));
    say("description", epop_mpi_describe(describe, NULL));
    say("described without an adaptation", epop_mpi_adapt_described());
    say("progress before the begin", epop_mpi_progress(-1, 0));
    say("progress behind the end", epop_mpi_progress(3, 2));
    say("progress", epop_mpi_progress(3, 0));
    printf("pending %d, status %d\n", pending, status);
    MPI_Finalize();
    say("probe after the end", MPI_Probe_adapt(&pending, &status, NULL));
    return 0;
}
