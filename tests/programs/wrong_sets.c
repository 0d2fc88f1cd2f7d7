/*
 * Makes a group and a communicator of a process set in INIT, and keeps one of them over its resize: "group", "comm",
 * "session" (one that leaves has not finalized it), or "right". With "asks" it asks for a change by the session, which
 * is not for a program that adapts by its blocks.
 */
#include <epop/mpi_psets.h>

#include "scenario.h"

static const char *way = "right";
static MPI_Session session;
static MPI_Group group = MPI_GROUP_NULL;
static MPI_Comm comm = MPI_COMM_NULL;

static void make(void)
{
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "sets", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
}

static int init(int *argc, char ***argv, void **data)
{
    (void)data;
    way = *argc > 1 ? (*argv)[1] : way;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    if (!strcmp(way, "asks")) {
        char world[] = "mpi://WORLD", *in[] = {world}, **out;
        int op = MPI_PSETOP_GROW, count;
        MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN);
        printf("%s\n", MPI_Session_dyn_v2a_psetop(session, &op, in, 1, &out, &count, MPI_INFO_NULL) == MPI_ERR_OTHER
                           ? "refused"
                           : "WRONG");
    }
    if (epop_status() == EPOP_NEW)
        make();
    return 0;
}

static int iterations;

static int work(void *data)
{
    int size, all;
    (void)data;
    MPI_Comm_size(comm, &size);
    MPI_Comm_size(epop_world(), &all);
    if (rank_in(epop_world()) == 0 && size == all && ++iterations == 3)
        epop_request_resize(all == 1 ? 2 : 1);
    return 0;
}

static int more(void *data)
{
    (void)data;
    MPI_Bcast(&iterations, 1, MPI_INT, 0, epop_world());
    return iterations < 100;
}

static int adapt(void *data)
{
    epop_window_t window;
    (void)data;
    if (epop_adapt_begin(&window))
        return EPOP_ERR_STATE;
    if (window.status != EPOP_JOINING && strcmp(way, "group"))
        MPI_Group_free(&group);
    if (window.status != EPOP_JOINING && strcmp(way, "comm"))
        MPI_Comm_free(&comm);
    if (window.status == EPOP_LEAVING && strcmp(way, "session"))
        MPI_Session_finalize(&session);
    epop_adapt_commit();
    if (window.status != EPOP_LEAVING)
        make();
    return 0;
}

static int fini(void *data)
{
    (void)data;
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return 0;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("wrong_sets");
    epop_add_init(program, "init", init);
    epop_add_elastic(program, "work", work, adapt, more);
    epop_add_rigid(program, "end", fini, NULL);
    return program;
}
