/*
 * Programs of the successor's interface at their edges.
 *     psets_offer offer FILE     "resize me when you want", to 2 or 3 processes, until the file is there
 *     psets_offer keeps          a process is taken, and does not finalize its session
 *     psets_offer ends           it ends while a growth that it asked for is under way
 */
#include <epop/mpi_psets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static MPI_Session session;
static MPI_Comm comm;
static char main_pset[MPI_MAX_PSET_NAME_LEN] = "mpi://WORLD";

static int is(const char *pset, const char *key)
{
    MPI_Info info;
    char text[8] = "";
    int flag;
    MPI_Session_get_pset_info(session, pset, &info);
    MPI_Info_get(info, key, 7, text, &flag);
    MPI_Info_free(&info);
    return flag && !strcmp(text, "True");
}

static void make_comm(void)
{
    MPI_Group group;
    MPI_Group_from_session_pset(session, main_pset, &group);
    MPI_Comm_create_from_group(group, "offer", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
}

static void say_size(void)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank == 0)
        printf("%d processes\n", size);
    fflush(stdout);
}

static void publish(const char *on, const char *name)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "next", name);
    MPI_Session_set_pset_data(session, on, info);
    MPI_Info_free(&info);
}

static void look_up(const char *coll, const char *on)
{
    char key[] = "next", *keys[] = {key};
    int flag;
    MPI_Info info;
    MPI_Session_get_pset_data(session, coll, on, keys, 1, 1, &info);
    MPI_Info_get(info, key, MPI_MAX_PSET_NAME_LEN - 1, main_pset, &flag);
    MPI_Info_free(&info);
}

/* Of the primary process: what it was asked for, and where the names come. */
static struct {
    int op, count;
    char **sets;
    MPI_Request request;
} offered = {.request = MPI_REQUEST_NULL};

static void ask(int op, const char *const keys[], const char *const values[])
{
    char *in[] = {main_pset};
    MPI_Info info;
    MPI_Info_create(&info);
    for (int i = 0; keys[i]; i++)
        MPI_Info_set(info, keys[i], values[i]);
    offered.op = op;
    MPI_Session_dyn_v2a_psetop_nb(session, &offered.op, in, 1, &offered.sets, &offered.count, info, &offered.request);
    MPI_Info_free(&info);
}

static void offer(void)
{
    static const char *const keys[] = {"mpi_num_procs_min", "mpi_num_procs_max", "mpi_num_procs_pref", NULL};
    static const char *const values[] = {"2", "3", "3"};
    if (offered.request == MPI_REQUEST_NULL && is(main_pset, "mpi_primary"))
        ask(MPI_PSETOP_REPLACE, keys, values);
}

static void free_names(char **names, int count)
{
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

/* False: this process is taken. The names that the offer has are there as soon as somebody finds the change. */
static int change(void)
{
    char **sets = NULL, old[MPI_MAX_PSET_NAME_LEN];
    int type = MPI_PSETOP_NULL, count = 0;
    MPI_Session_dyn_v2a_query_psetop(session, main_pset, main_pset, &type, &sets, &count);
    if (type == MPI_PSETOP_NULL)
        return 1;
    if (type != MPI_PSETOP_REPLACE || count != 3)
        MPI_Abort(MPI_COMM_SELF, 3);
    const char *delta = sets[1][0] ? sets[1] : sets[0];
    if (is(main_pset, "mpi_primary")) {
        publish(delta, offered.sets[2]);
        MPI_Request_free(&offered.request);
        free_names(offered.sets, offered.count);
    }
    strcpy(old, main_pset);
    look_up(old, delta);
    char *taken[] = {sets[0]};
    int stays = is(main_pset, "mpi_included");
    MPI_Comm_disconnect(&comm);
    if (!stays)
        MPI_Session_pset_barrier(session, taken, 1, MPI_INFO_NULL);
    free_names(sets, count);
    if (!stays)
        return 0;
    make_comm();
    say_size();
    if (is(main_pset, "mpi_primary"))
        MPI_Session_dyn_finalize_psetop(session, old);
    MPI_Barrier(comm);
    return 1;
}

static int is_over(const char *file)
{
    int over = !access(file, F_OK);
    MPI_Bcast(&over, 1, MPI_INT, 0, comm);
    return over;
}

static void be_resized(const char *file)
{
    char *in[] = {main_pset}, **out;
    int op = MPI_PSETOP_CANCEL, count, goes_on = 1;
    if (is(main_pset, "mpi_dyn")) {
        look_up(main_pset, main_pset);
        make_comm();
        MPI_Barrier(comm);
    } else {
        make_comm();
    }
    /* The end finds an offer, behind a change too. */
    for (offer(); goes_on && !is_over(file); usleep(1000))
        if ((goes_on = change()))
            offer();
    if (!goes_on)
        return;
    if (is(main_pset, "mpi_primary")) {
        MPI_Session_dyn_v2a_psetop(session, &op, in, 1, &out, &count, MPI_INFO_NULL);
        printf("called off: %s\n", op == MPI_PSETOP_CANCEL ? "yes" : "no");
        free(out);
        MPI_Wait(&offered.request, MPI_STATUS_IGNORE);
        printf("the offer: %s\n", offered.op == MPI_PSETOP_NULL && !offered.count ? "nothing" : "something");
        free(offered.sets);
    }
    MPI_Session_pset_barrier(session, in, 1, MPI_INFO_NULL);
    MPI_Comm_disconnect(&comm);
}

/* The others make the next communicator, so they are through. */
static void keep_session(void)
{
    static const char *const keys[] = {"mpi.op_info.info.num_procs", NULL}, *const values[] = {"1"};
    char **sets = NULL;
    int type = MPI_PSETOP_NULL, count = 0;
    make_comm();
    if (is(main_pset, "mpi_primary")) {
        ask(MPI_PSETOP_SHRINK, keys, values);
        MPI_Wait(&offered.request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(comm);
    while (type == MPI_PSETOP_NULL)
        MPI_Session_dyn_v2a_query_psetop(session, main_pset, main_pset, &type, &sets, &count);
    MPI_Comm_disconnect(&comm);
    if (!is(sets[0], "mpi_included")) {
        strcpy(main_pset, sets[1]);
        make_comm();
        say_size();
    }
    for (;;)
        pause();
}

static void end_early(void)
{
    static const char *const keys[] = {"mpi_num_procs_add", NULL}, *const values[] = {"1"};
    if (is(main_pset, "mpi_dyn"))
        return;
    make_comm();
    if (is(main_pset, "mpi_primary")) {
        ask(MPI_PSETOP_GROW, keys, values);
        MPI_Wait(&offered.request, MPI_STATUS_IGNORE);
        printf("asked for %d sets\n", offered.count);
    }
    MPI_Barrier(comm);
    MPI_Comm_disconnect(&comm);
}

int main(int argc, char **argv)
{
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    if (argc > 2)
        be_resized(argv[2]);
    else if (!strcmp(argv[1], "keeps"))
        keep_session();
    else
        end_early();
    MPI_Session_finalize(&session);
    return 0;
}
