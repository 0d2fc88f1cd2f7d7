/*
 * A program that re-initializes, in the shapes of S. Happ's examples (ParTec, 2024): it decides itself when to have
 * other processes. It spawns two, and goes on with them; then ranks 1 and 2 leave, as callbacks clean up and resume.
 *     mpiexec -n 2 ./reinit
 */
#include <epop/mpi_reinit.h>
#include <stdio.h>
#include <string.h>

struct work {
    MPI_Comm comm;
    int rank, size;
    long steps;
};

static void create(MPI_Session session, struct work *work)
{
    MPI_Group group;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "org.epop.reinit", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &work->comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(work->comm, &work->rank);
    MPI_Comm_size(work->comm, &work->size);
    MPI_Bcast(&work->steps, 1, MPI_LONG, 0, work->comm);
    if (work->rank == 0)
        printf("%d processes, %ld steps made\n", work->size, work->steps);
}

static void step(struct work *work)
{
    long least = ++work->steps;
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_LONG, MPI_MIN, work->comm);
    if (least != work->steps)
        MPI_Abort(work->comm, 1);
}

/* Called with the session that ends, and with the new one. */
static int cleanup(MPI_Session session, int rank, int size, int leave, void *userdata)
{
    struct work *work = userdata;
    (void)session, (void)rank, (void)size, (void)leave;
    return MPI_Comm_disconnect(&work->comm);
}

static int resume(MPI_Session session, int old_rank, int old_size, int new_rank, int new_size, void *userdata)
{
    (void)old_rank, (void)old_size, (void)new_rank, (void)new_size;
    create(session, userdata);
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    struct work work = {.comm = MPI_COMM_NULL};
    char text[MPI_MAX_INFO_VAL + 1] = "";
    int found;
    MPI_Session session, session_new;
    MPI_Session *sessions_for_reinit[1];
    MPI_Info sinfo, spawn_status, world;
    (void)argc;
    MPI_Info_create(&sinfo);
    MPI_Info_set(sinfo, "malleable", "1");
    MPI_Session_init(sinfo, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_get_pset_info(session, "mpi://WORLD", &world);
    MPI_Info_get(world, "mpi_dyn", MPI_MAX_INFO_VAL, text, &found);
    MPI_Info_free(&world);
    int spawned = !strcmp(text, "True");
    create(session, &work);

    if (!spawned) {
        MPIX_Spawn_async(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, 0, &spawn_status);
        do { /* the work goes on; all see at the same step that the new processes are ready */
            int complete;
            step(&work);
            MPIX_Spawn_status(&spawn_status);
            MPI_Info_get(spawn_status, "spawn_x_status", MPI_MAX_INFO_VAL, text, &found);
            complete = !strcmp(text, "complete");
            MPI_Allreduce(MPI_IN_PLACE, &complete, 1, MPI_INT, MPI_MIN, work.comm);
            if (complete)
                break;
        } while (strcmp(text, "failed"));
        MPI_Info_free(&spawn_status);
        cleanup(session, work.rank, work.size, 0, &work);
        sessions_for_reinit[0] = &session;
        MPIX_Session_reinit(1, sessions_for_reinit, &session_new, sinfo, MPIX_SESSION_REINIT_PREP_FN_NULL, NULL,
                            MPIX_SESSION_REINIT_RESUME_FN_NULL, NULL, 0, 0, 0, MPI_ERRORS_ARE_FATAL);
        session = session_new;
        create(session, &work);
    }
    step(&work);

    /* Now the ranks 1 and 2 leave, for whom this call does not return. */
    sessions_for_reinit[0] = &session;
    MPIX_Session_reinit(1, sessions_for_reinit, &session_new, sinfo, cleanup, &work, resume, &work,
                        work.rank == 1 || work.rank == 2, 2, 1, MPI_ERRORS_ARE_FATAL);
    step(&work);
    if (work.rank == 0)
        printf("right at the end, %d processes\n", work.size);
    MPI_Comm_disconnect(&work.comm);
    MPI_Info_free(&sinfo);
    MPI_Session_finalize(&session_new);
    return 0;
}
