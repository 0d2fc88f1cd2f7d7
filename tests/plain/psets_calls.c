/*
 * What sessions and process sets say, a line for each, by rank 0; and what is wrong, by its error class.
 *     psets_calls [world]      with MPI_Init first: there is no job then
 */
#include <epop/mpi_adapt.h>
#include <epop/mpi_psets.h>
#include <epop/mpi_reinit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MPI_Session session;
static int rank;

static void say(const char *what, const char *text)
{
    if (rank == 0)
        printf("%s: %s\n", what, text);
    fflush(stdout);
}

static void result(const char *what, int code)
{
    int class;
    MPI_Error_class(code, &class);
    say(what, class == MPI_SUCCESS       ? "success"
              : class == MPI_ERR_ARG     ? "argument"
              : class == MPI_ERR_SESSION ? "session"
              : class == MPI_ERR_SPAWN   ? "spawn"
              : class == MPI_ERR_OTHER   ? "other"
                                         : "else");
}

static void clock_goes_on(double begin, double tick)
{
    double passed = MPI_Wtime() - begin;
    say("clock", passed > 0 && passed < 3600 && tick > 0 && tick < 1 && tick == MPI_Wtick() ? "goes on" : "WRONG");
}

static void attributes(const char *set)
{
    static const char *const keys[] = {"mpi_size",     "mpi_ps_version", "mpi_ps_epoch", "mpi_ps_active",
                                       "mpi_included", "mpi_primary",    "mpi_dyn",      "mpi_ps_sched_opt"};
    char text[600] = "", value[64];
    MPI_Info info;
    int flag;
    if (MPI_Session_get_pset_info(session, set, &info) != MPI_SUCCESS)
        return;
    for (int i = 0; i < 8; i++) {
        MPI_Info_get(info, keys[i], 63, value, &flag);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "", flag ? value : "-");
    }
    MPI_Info_free(&info);
    say(set, text);
}

static void names(void)
{
    int count, length;
    char text[2000] = "", name[MPI_MAX_PSET_NAME_LEN];
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
    for (int i = 0; i < count; i++) {
        length = 0;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL);
        if (length > (int)sizeof name)
            abort();
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "", name);
    }
    say("names", text);
}

/* How large a communicator of that set is, and which rank 0 has in it. */
static void communicator(const char *set)
{
    MPI_Group group;
    MPI_Comm comm;
    char text[64];
    int size, own, sum;
    if (MPI_Group_from_session_pset(session, set, &group) != MPI_SUCCESS)
        return;
    MPI_Group_rank(group, &own);
    if (own != MPI_UNDEFINED) {
        MPI_Comm_create_from_group(group, "test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
        MPI_Comm_size(comm, &size);
        MPI_Comm_rank(comm, &own);
        MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
        MPI_Comm_free(&comm);
        snprintf(text, sizeof text, "%d processes, sum of ranks %d", size, sum);
        say(set, text);
    }
    MPI_Group_free(&group);
}

static void operations(void)
{
    char made[MPI_MAX_PSET_NAME_LEN], **out = NULL, world[] = "mpi://WORLD", *in[] = {world, world};
    int op = MPI_PSETOP_SPLIT, count = 0;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_part_sizes", "1,2");
    MPI_Session_dyn_v2a_psetop(session, &op, in, 1, &out, &count, info);
    if (count != 2)
        abort();
    MPI_Info_delete(info, "mpi_part_sizes");
    MPI_Info_set(info, MPI_PSET_TARGET, "mpi://app/psets_calls/rest");
    MPI_Info_set(info, "mpi_ps_active", "false");
    MPI_Info_set(info, "mpi_ps_sched_opt", "16");
    MPI_Session_pset_create_op(session, info, MPI_PSETOP_DIFFERENCE, world, out[0], made);
    attributes(made);
    MPI_Session_pset_create_op(session, info, MPI_PSETOP_UNION, made, world, made);
    attributes(made);
    result("nothing left",
           MPI_Session_pset_create_op(session, MPI_INFO_NULL, MPI_PSETOP_INTERSECTION, out[0], out[1], made));
    result("no such set",
           MPI_Session_pset_create_op(session, MPI_INFO_NULL, MPI_PSETOP_UNION, world, "mpi://app/none", made));
    MPI_Info_set(info, MPI_PSET_TARGET, "mpi://rte/mine");
    result("the runtime's name", MPI_Session_pset_create_op(session, info, MPI_PSETOP_UNION, world, out[0], made));
    MPI_Info_set(info, MPI_PSET_TARGET, "mpi://app/psets_calls/rest");
    MPI_Info_set(info, "mpi_ps_sched_priority", "5");
    result("a priority", MPI_Session_pset_create_op(session, info, MPI_PSETOP_NULL, NULL, NULL, made));
    op = MPI_PSETOP_SHRINK;
    MPI_Info_set(info, "mpi_num_procs_sub", "17");
    MPI_Session_dyn_v2a_psetop(session, &op, in, 1, &out, &count, info);
    say("too many", op == MPI_PSETOP_NULL && count == 0 && !out[0][0] && !out[2][0] ? "null" : "WRONG");
    free(out);
    MPI_Info_free(&info);
}

/* What the process is to the set, by its dictionary; and what nobody sets, as all wait for it. */
static void keys(void)
{
    char dynamic[] = "mpi_dyn", primary[] = "mpi_primary", included[] = "mpi_included", never[] = "never", text[3][8];
    char *known[] = {dynamic, primary, included}, *unknown[] = {never}, all[32];
    MPI_Info info;
    int flag;
    MPI_Session_get_pset_data(session, "mpi://WORLD", "mpi://WORLD", known, 3, 1, &info);
    for (int i = 0; i < 3; i++)
        MPI_Info_get(info, known[i], 7, text[i], &flag);
    MPI_Info_free(&info);
    snprintf(all, sizeof all, "%s %s %s", text[0], text[1], text[2]);
    say("known keys", all);
    result("a key that nobody sets",
           MPI_Session_get_pset_data(session, "mpi://WORLD", "mpi://WORLD", unknown, 1, 1, &info));
}

/* All do it; two sets of rank 0's, and what is in neither. */
static void barrier(void)
{
    char world[] = "mpi://WORLD", app[] = "mpi://app/psets_calls", none[] = "mpi://app/none";
    char *both[] = {world, app}, *wrong[] = {none};
    MPI_Request request;
    int error = MPI_Session_pset_barrier(session, both, 2, MPI_INFO_NULL);
    MPI_Session_pset_barrier_nb(session, both, 1, MPI_INFO_NULL, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    result("barrier", error);
    if (rank == 0)
        result("barrier of no set", MPI_Session_pset_barrier(session, wrong, 1, MPI_INFO_NULL));
}

/* Of three sets, each of one process. */
static void several(void)
{
    char made[3][MPI_MAX_PSET_NAME_LEN], *in[] = {made[0], made[1], made[2]}, world[] = "mpi://WORLD",
                                         *whole[] = {world};
    char **out = NULL, size[8];
    static const int ops[] = {MPI_PSETOP_UNION, MPI_PSETOP_DIFFERENCE, MPI_PSETOP_INTERSECTION};
    MPI_Info info;
    int flag, count, op = MPI_PSETOP_SPLIT;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_part_sizes", "1,1,1");
    MPI_Session_dyn_v2a_psetop(session, &op, whole, 1, &out, &count, info);
    MPI_Info_free(&info);
    for (int i = 0; i < 3; i++)
        strcpy(made[i], out[i]);
    for (int i = 0; i < 3; i++) {
        op = ops[i];
        MPI_Session_dyn_v2a_psetop(session, &op, in, 3, &out, &count, MPI_INFO_NULL);
        if (count == 1)
            MPI_Session_get_pset_info(session, out[0], &info);
        if (count == 1)
            MPI_Info_get(info, "mpi_size", 7, size, &flag);
        say(i ? i == 1 ? "difference of three" : "intersection of three" : "union of three",
            count == 1 ? size : "none");
        if (count == 1)
            MPI_Info_free(&info);
    }
}

static void dictionary(void)
{
    char key[] = "answer", other[] = "question", *keys[] = {key, other}, text[64] = "";
    int flag, missing;
    MPI_Info info;
    MPI_Request request;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, "42");
    MPI_Session_set_pset_data(session, "mpi://WORLD", info);
    MPI_Info_free(&info);
    MPI_Session_get_pset_data_nb(session, "mpi://SELF", "mpi://WORLD", keys, 2, 0, &info, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Info_get(info, other, 63, text, &missing);
    MPI_Info_get(info, key, 63, text, &flag);
    say("dictionary", flag && !missing ? text : "WRONG");
    MPI_Info_free(&info);
}

static void wrong_calls(void)
{
    MPI_Session none = MPI_SESSION_NULL;
    MPI_Info status = MPI_INFO_NULL;
    MPI_Group group;
    int flag, adapt;
    char *argv[] = {"x", NULL}, name[MPI_MAX_PSET_NAME_LEN];
    result("group of no set", MPI_Group_from_session_pset(session, "mpi://app/none", &group));
    result("info of no set", MPI_Session_get_pset_info(session, "mpi://app/none", &status));
    result("no session", MPI_Session_pset_create_op(none, MPI_INFO_NULL, MPI_PSETOP_NULL, NULL, NULL, name));
    result("accept nothing", MPI_Session_confirm_res_change(session, MPI_INFO_NULL, "mpi://WORLD", name));
    result("elastic MPI besides", MPI_Init_adapt(NULL, NULL, &adapt));
    result("MPI_Init besides", MPI_Init(NULL, NULL));
    result("spawn another program", MPIX_Spawn_async("/bin/true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, 0, &status));
    result("spawn with arguments", MPIX_Spawn_async("psets_calls", argv, 1, MPI_INFO_NULL, 0, 0, &status));
    MPI_Initialized(&flag);
    say("initialized", flag ? "yes" : "no");
}

int main(int argc, char **argv)
{
    int world = argc > 1 && !strcmp(argv[1], "world");
    double tick = MPI_Wtick(), begin = MPI_Wtime(); /* before MPI is up */
    if (world)
        MPI_Init(&argc, &argv);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    if (world) {
        char **out;
        int op = MPI_PSETOP_GROW, count;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        result("change without a job", MPI_Session_dyn_v2a_psetop(session, &op, NULL, 0, &out, &count, MPI_INFO_NULL));
        MPI_Session_finalize(&session);
        MPI_Finalize();
        clock_goes_on(begin, tick);
        return 0;
    }
    MPI_Group group;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* for errors of no session */
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Group_rank(group, &rank);
    MPI_Group_free(&group);
    clock_goes_on(begin, tick);
    names();
    attributes("mpi://WORLD");
    attributes("mpi://app/psets_calls");
    communicator("mpi://WORLD");
    communicator("mpi://SELF");
    barrier();
    keys();
    if (rank == 0) {
        operations();
        several();
        dictionary();
        wrong_calls();
        names();
    }
    communicator("mpi://app/psets_calls");
    MPI_Session_finalize(&session);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session); /* once more */
    communicator("mpi://WORLD");
    MPI_Session_finalize(&session);
    return 0;
}
