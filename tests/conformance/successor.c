/* The conformance suite's program, by process sets: the successor's operations, which the system proposes. */
#include <epop/mpi_psets.h>

#include "ring.h"

static MPI_Session session;
static MPI_Comm comm;
static char main_pset[MPI_MAX_PSET_NAME_LEN] = "mpi://WORLD";

static int is(const char *pset, const char *key)
{
    MPI_Info info;
    char text[16] = "";
    int flag;
    MPI_Session_get_pset_info(session, pset, &info);
    MPI_Info_get(info, key, 15, text, &flag);
    MPI_Info_free(&info);
    return flag && !strcmp(text, "True");
}

static void make_comm(void)
{
    MPI_Group group;
    MPI_Group_from_session_pset(session, main_pset, &group);
    MPI_Comm_create_from_group(group, "ring", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Group_free(&group);
}

static void free_names(char **names, int count)
{
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

/* The set that the others have made, which is in the dictionary of that one. */
static void get_main(const char *coll, const char *from)
{
    char key[] = "main_pset", *keys[] = {key};
    int flag;
    MPI_Info info;
    MPI_Session_get_pset_data(session, coll, from, keys, 1, 1, &info);
    MPI_Info_get(info, key, MPI_MAX_PSET_NAME_LEN, main_pset, &flag);
    MPI_Info_free(&info);
    if (!flag)
        ring_wrong("no main set", 0);
}

static void publish(const char *on, const char *name)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "main_pset", name);
    MPI_Session_set_pset_data(session, on, info);
    MPI_Info_free(&info);
}

/* True: this process is taken out. */
static int change(struct ring *ring)
{
    char **sets = NULL, old[MPI_MAX_PSET_NAME_LEN];
    int type = MPI_PSETOP_NULL, count = 0, held = 0, rank;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0)
        held = ring_is(".hold");
    MPI_Bcast(&held, 1, MPI_INT, 0, comm);
    if (held)
        return 0;
    MPI_Session_dyn_v2a_query_psetop(session, main_pset, main_pset, &type, &sets, &count);
    if (type == MPI_PSETOP_NULL)
        return 0;
    const char *grown = sets[count - 1], *added = type == MPI_PSETOP_REPLACE ? sets[1] : sets[0];
    if (is(main_pset, "mpi_primary"))
        publish(added, grown);
    ring_gather(ring, comm);
    strcpy(old, main_pset);
    get_main(old, added);
    int stays = is(main_pset, "mpi_included");
    free_names(sets, count);
    MPI_Comm_disconnect(&comm);
    if (!stays)
        return 1;
    make_comm();
    ring_spread(ring, comm);
    if (is(main_pset, "mpi_primary"))
        MPI_Session_dyn_finalize_psetop(session, old);
    MPI_Barrier(comm); /* nobody asks for the next one before this one is through */
    ring_changed(comm);
    return 0;
}

int main(int argc, char **argv)
{
    struct ring ring = {0};
    int goes_on = 1, joined = 0;
    ring_file = argc > 1 ? argv[1] : "end";
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    if (is(main_pset, "mpi_dyn")) {
        ring_joins();
        joined = 1;
        get_main(main_pset, main_pset);
        make_comm();
        ring_spread(&ring, comm);
        MPI_Barrier(comm);
    } else {
        make_comm();
        ring_begin(&ring, comm);
    }
    while (goes_on && (joined || !change(&ring))) { /* one that joined goes on behind the change */
        joined = 0;
        goes_on = ring_step(&ring, comm);
    }
    if (!goes_on) {
        ring_end(comm);
        MPI_Comm_disconnect(&comm);
    }
    MPI_Session_finalize(&session);
    return 0;
}
