/*
 * Re-initialization that goes wrong, or has more than one session; what is printed is by rank 0.
 *     reinit_calls sessions | prepare | resume | count | root | others | twice | leaves
 */
#include <epop/mpi_reinit.h>
#include <stdio.h>
#include <string.h>

static int rank, size;

static int fails(MPI_Session session, int own, int all, int leave, void *userdata)
{
    (void)session, (void)all, (void)leave, (void)userdata;
    return own == 1 ? 42 : MPI_SUCCESS;
}

static int fails_behind(MPI_Session session, int old_rank, int old_size, int new_rank, int new_size, void *userdata)
{
    (void)session, (void)old_rank, (void)old_size, (void)new_size, (void)userdata;
    return new_rank == 1 ? 43 : MPI_SUCCESS;
}

static int calls;

static int counts(MPI_Session session, int own, int all, int leave, void *userdata)
{
    (void)session, (void)own, (void)all, (void)leave, (void)userdata;
    calls++;
    return MPI_SUCCESS;
}

static void place(MPI_Session session)
{
    MPI_Group group;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Group_rank(group, &rank);
    MPI_Group_size(group, &size);
    MPI_Group_free(&group);
}

static void say(const char *what, int code)
{
    int class;
    MPI_Error_class(code, &class);
    if (rank == 0)
        printf("%s: %s\n", what,
               class == MPI_SUCCESS       ? "success"
               : class == MPI_ERR_ARG     ? "argument"
               : class == MPI_ERR_SESSION ? "session"
               : class == MPI_ERR_SPAWN   ? "spawn"
                                          : "else");
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    MPI_Session first, second, next = MPI_SESSION_NULL, *sessions[] = {&first, &second};
    MPI_Info info, status;
    int leave = 0, nleave = 0, given = 2;
    MPI_Info_create(&info);
    MPI_Info_set(info, "malleable", "1");
    MPI_Session_init(info, MPI_ERRORS_RETURN, &first);
    MPI_Session_init(info, MPI_ERRORS_RETURN, &second);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    place(first);
    if (!strcmp(mode, "twice")) {
        say("first spawn", MPIX_Spawn_async(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, 0, &status));
        if (rank == 0)
            say("second spawn", MPIX_Spawn_async(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, 0, &status));
    }
    if (!strcmp(mode, "count")) /* rank 1 leaves, and nobody has counted it */
        leave = rank == 1;
    if (!strcmp(mode, "root")) {
        leave = rank == 0;
        nleave = 1;
    }
    if (!strcmp(mode, "leaves")) {
        leave = rank == size - 1;
        nleave = 1;
    }
    if (!strcmp(mode, "others"))
        given = 1;
    int code = MPIX_Session_reinit(given, sessions, &next, info,
                                   !strcmp(mode, "prepare")    ? fails
                                   : !strcmp(mode, "sessions") ? counts
                                                               : MPIX_SESSION_REINIT_PREP_FN_NULL,
                                   NULL, !strcmp(mode, "resume") ? fails_behind : MPIX_SESSION_REINIT_RESUME_FN_NULL,
                                   NULL, leave, nleave, 1, MPI_ERRORS_RETURN);
    say(mode, code);
    if (code != MPI_SUCCESS) { /* the job goes on as it was */
        place(first);
        if (rank == 0)
            printf("%d processes\n", size);
        MPI_Session_finalize(&first);
        MPI_Session_finalize(&second);
    } else {
        place(next);
        if (rank == 0)
            printf("%d processes, %d calls\n", size, calls);
        MPI_Session_finalize(&next);
    }
    MPI_Info_free(&info);
    return 0;
}
