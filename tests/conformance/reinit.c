/* The conformance suite's program, by re-initialization: it does what the system asks for, when it has seen that. */
#include <epop/mpi_reinit.h>

#include "ring.h"

static MPI_Session session;
static MPI_Comm comm = MPI_COMM_NULL;
static struct ring ring;

static void make_comm(void)
{
    MPI_Group group;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "ring", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
}

static int prepare(MPI_Session ending, int rank, int size, int leave, void *data)
{
    (void)ending;
    (void)rank;
    (void)size;
    (void)leave;
    ring_gather(data, comm);
    return MPI_Comm_disconnect(&comm);
}

static int is(MPI_Info status, const char *key, const char *value)
{
    char text[MPI_MAX_INFO_VAL + 1];
    int flag;
    MPI_Info_get(status, key, MPI_MAX_INFO_VAL, text, &flag);
    return flag && !strcmp(text, value);
}

/* Process 0 looks; what it has seen counts for all. */
static int is_ready(int rank)
{
    int ready = 0;
    MPI_Info status = MPI_INFO_NULL;
    if (rank == 0 && !ring_is(".hold")) {
        MPIX_Spawn_status(&status);
        ready = is(status, "resize_x_requested", "1") &&
                (is(status, "spawn_x_status", "complete") || is(status, "spawn_x_status", "none"));
        MPI_Info_free(&status);
    }
    MPI_Bcast(&ready, 1, MPI_INT, 0, comm);
    return ready;
}

static void change(void)
{
    char text[MPI_MAX_INFO_VAL + 1];
    int rank, flag;
    MPI_Info status = MPI_INFO_NULL, info;
    MPI_Session *sessions[] = {&session}, next;
    MPI_Comm_rank(comm, &rank);
    if (!is_ready(rank))
        return;
    MPIX_Spawn_status(&status);
    int leave = is(status, "resize_x_leave", "1");
    MPI_Info_get(status, "resize_x_nleave", MPI_MAX_INFO_VAL, text, &flag);
    MPI_Info_free(&status);
    MPI_Info_create(&info);
    MPI_Info_set(info, "malleable", "1");
    MPIX_Session_reinit(1, sessions, &next, info, prepare, &ring, MPIX_SESSION_REINIT_RESUME_FN_NULL, NULL, leave,
                        atoi(text), 1, MPI_ERRORS_ARE_FATAL);
    MPI_Info_free(&info);
    session = next;
    make_comm();
    ring_spread(&ring, comm);
    ring_changed(comm);
}

static int is_spawned(void)
{
    MPI_Info info;
    MPI_Session_get_pset_info(session, "mpi://WORLD", &info);
    int spawned = is(info, "mpi_dyn", "True");
    MPI_Info_free(&info);
    return spawned;
}

int main(int argc, char **argv)
{
    int goes_on = 1, joined = 0;
    MPI_Info info;
    ring_file = argc > 1 ? argv[1] : "end";
    if (getenv("EPOP_JOIN"))
        ring_joins();
    MPI_Info_create(&info);
    MPI_Info_set(info, "malleable", "1");
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Info_free(&info);
    make_comm();
    joined = is_spawned();
    if (joined)
        ring_spread(&ring, comm);
    else
        ring_begin(&ring, comm);
    while (goes_on) {
        if (!joined) /* one that joined goes on behind the change */
            change();
        joined = 0;
        goes_on = ring_step(&ring, comm);
    }
    ring_end(comm);
    MPI_Comm_disconnect(&comm);
    MPI_Session_finalize(&session);
    return 0;
}
