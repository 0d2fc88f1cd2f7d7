// A program of the sort that the successor's interface was made for: it has the calls of its mpi.h, and asks for changes
// itself: by one call after the other, or (nb) by requests. It grows by two, shrinks by one, and replaces one. With `away` who is taken
// looks into no dictionary, and numbers of processes have one key for all operations.
//     psets_grow -|nb|away [GSR...]
#include "mpi.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

static MPI_Session session = MPI_SESSION_NULL;
static MPI_Comm comm = MPI_COMM_NULL;
static char main_pset[MPI_MAX_PSET_NAME_LEN] = "mpi://WORLD";
static int steps = 0;
static bool beside = false, away = false;

static bool is(const char *pset, const char *key)
{
    MPI_Info info;
    char text[6] = "";
    int flag = 0;
    MPI_Session_get_pset_info(session, pset, &info);
    MPI_Info_get(info, key, 5, text, &flag);
    MPI_Info_free(&info);
    return flag && 0 == strcmp(text, "True");
}

static void make_comm()
{
    MPI_Group group;
    MPI_Group_from_session_pset(session, main_pset, &group);
    if (MPI_Comm_create_from_group(group, "grow", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) != MPI_SUCCESS)
        abort();
    MPI_Group_free(&group);
    MPI_Bcast(&steps, 1, MPI_INT, 0, comm);
}

static void free_strings(char **strings, int count)
{
    for (int i = 0; i < count; i++)
        free(strings[i]);
    free(strings);
}

static void get_main(const char *coll, char *from)
{
    char *keys[] = {strdup("next_main_pset")};
    int flag = 0;
    MPI_Info info;
    if (beside) {
        MPI_Request request;
        MPI_Session_get_pset_data_nb(session, (char *)coll, from, keys, 1, true, &info, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Session_get_pset_data(session, (char *)coll, from, keys, 1, true, &info);
    }
    MPI_Info_get(info, "next_main_pset", MPI_MAX_PSET_NAME_LEN - 1, main_pset, &flag);
    MPI_Info_free(&info);
    free(keys[0]);
    if (!flag)
        abort();
}

// By the primary process: the operation, and the name of what comes of it for the others.
// Was it taken? An earlier one may still be under way.
static bool ask(int op, const char *add, const char *sub)
{
    char **input = (char **)malloc(sizeof(char *)), **output = NULL;
    int count = 0;
    MPI_Info info;
    input[0] = strdup(main_pset);
    MPI_Info_create(&info);
    if (away) {
        MPI_Info_set(info, "mpi.op_info.info.num_procs", 0 == strcmp(add, "0") ? sub : add);
    } else {
        MPI_Info_set(info, "mpi_num_procs_add", add);
        MPI_Info_set(info, "mpi_num_procs_sub", sub);
    }
    if (beside) {
        MPI_Request request;
        MPI_Session_dyn_v2a_psetop_nb(session, &op, input, 1, &output, &count, info, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Session_dyn_v2a_psetop(session, &op, input, 1, &output, &count, info);
    }
    MPI_Info_free(&info);
    if (count > 0) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "next_main_pset", output[count - 1]);
        MPI_Session_set_pset_data(session, output[op == MPI_PSETOP_REPLACE ? 1 : 0], info);
        MPI_Info_free(&info);
        free_strings(output, count);
    }
    free_strings(input, 1);
    return count > 0;
}

static int query(char ***output, int *count)
{
    int type = MPI_PSETOP_NULL;
    if (beside) {
        MPI_Request request;
        MPI_Session_dyn_v2a_query_psetop_nb(session, main_pset, main_pset, &type, output, count, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Session_dyn_v2a_query_psetop(session, main_pset, main_pset, &type, output, count);
    }
    return type;
}

// False: this process is taken out.
static bool change(int op, const char *add, const char *sub)
{
    char **output = NULL, old[MPI_MAX_PSET_NAME_LEN];
    int count = 0, type = MPI_PSETOP_NULL;
    steps++;
    for (bool asked = false; type == MPI_PSETOP_NULL;) {
        if ((!asked || !beside) && is(main_pset, "mpi_primary"))
            asked = ask(op, add, sub);
        type = query(&output, &count);
    }
    strcpy(old, main_pset);
    if (away && type != MPI_PSETOP_GROW && is(output[0], "mpi_included")) {
        free_strings(output, count);
        MPI_Comm_disconnect(&comm);
        return false;
    }
    get_main(old, output[type == MPI_PSETOP_REPLACE ? 1 : 0]);
    free_strings(output, count);
    MPI_Comm_disconnect(&comm);
    if (!is(main_pset, "mpi_included"))
        return false;
    make_comm();
    if (is(main_pset, "mpi_primary")) {
        int size;
        MPI_Comm_size(comm, &size);
        printf("%d processes after change %d\n", size, steps);
        fflush(stdout);
        MPI_Session_dyn_finalize_psetop(session, old);
    }
    MPI_Barrier(comm);
    return true;
}

int main(int argc, char *argv[])
{
    beside = argc > 1 && !strcmp(argv[1], "nb");
    away = argc > 1 && !strcmp(argv[1], "away");
    const char *wishes = argc > 2 ? argv[2] : "GSR"; // it grows by two, shrinks by one, replaces one
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    if (is(main_pset, "mpi_dyn")) {
        get_main("mpi://WORLD", main_pset);
        make_comm();
        MPI_Barrier(comm);
    } else {
        make_comm();
    }
    bool stays = true;
    while (stays && wishes[steps]) {
        char wish = wishes[steps];
        stays = change(wish == 'G' ? MPI_PSETOP_GROW : wish == 'S' ? MPI_PSETOP_SHRINK : MPI_PSETOP_REPLACE,
                       wish == 'G' ? "2" : wish == 'S' ? "0" : "1", wish == 'G' ? "0" : "1");
    }
    if (stays)
        MPI_Comm_disconnect(&comm);
    MPI_Session_finalize(&session);
    return 0;
}
