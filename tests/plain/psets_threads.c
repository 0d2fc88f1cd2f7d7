/*
 * Sessions and the threads beside them.
 *     psets_threads              two threads initialize a session each, at the same moment, and end
 *     psets_threads both FILE    likewise, and the job goes on when the file is there
 *     psets_threads FILE         the world changes while rank 1 is about to make a communicator; it goes on when the
 *                                file is there, and the job ends
 */
#include <dlfcn.h>
#include <epop/mpi_psets.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LARGE ((size_t)64 << 20) /* a stack that the C library does not keep, with what is the thread's own */

static MPI_Session sessions[2];
static pthread_barrier_t both;
static const char *file;
static int rank;

static void *initialize(void *session)
{
    pthread_barrier_wait(&both);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session);
    return NULL;
}

static MPI_Group group_of_world(MPI_Session session)
{
    MPI_Group group;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Group_rank(group, &rank);
    return group;
}

static void make(MPI_Group group, const char *tag)
{
    MPI_Comm comm;
    int size, sum;
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (rank == 0)
        printf("%s: %d processes, sum of ranks %d\n", tag, size, sum);
    fflush(stdout);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
}

static void two_at_once(void)
{
    pthread_t threads[2];
    pthread_attr_t large;
    pthread_attr_init(&large);
    pthread_attr_setstacksize(&large, LARGE);
    pthread_barrier_init(&both, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], &large, initialize, &sessions[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    if (file)
        fputs("both have ended\n", stdout); /* as one piece: of a process beside this one, too */
    fflush(stdout);
    while (file && access(file, F_OK))
        usleep(1000);
    for (int i = 0; i < 2; i++)
        make(group_of_world(sessions[i]), i ? "second" : "first");
    for (int i = 0; i < 2; i++)
        MPI_Session_finalize(&sessions[i]);
}

/* The runtime asks for the ranks of a group here. */
int PMPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[])
{
    int (*real)(MPI_Group, int, const int[], MPI_Group, int[]);
    *(void **)&real = dlsym(RTLD_NEXT, "PMPI_Group_translate_ranks");
    int error = real(group1, n, ranks1, group2, ranks2);
    while (file && rank == 1 && access(file, F_OK))
        usleep(1000);
    return error;
}

/* The runtime has it when somebody asks for it; a process that is started for it is ready then. */
static int is_changing(void)
{
    char **sets = NULL;
    int type = MPI_PSETOP_NULL, count = 0;
    MPI_Session_dyn_v2a_query_psetop(sessions[0], "mpi://SELF", "mpi://WORLD", &type, &sets, &count);
    for (int i = 0; i < count; i++)
        free(sets[i]);
    free(sets);
    return type != MPI_PSETOP_NULL;
}

static int is_new(void)
{
    char key[] = "any", *keys[] = {key}, text[8] = "";
    MPI_Info info;
    int flag;
    MPI_Session_get_pset_info(sessions[0], "mpi://WORLD", &info);
    MPI_Info_get(info, "mpi_dyn", 7, text, &flag);
    MPI_Info_free(&info);
    if (strcmp(text, "True"))
        return 0;
    MPI_Session_get_pset_data(sessions[0], "mpi://SELF", "mpi://WORLD", keys, 1, 0, &info);
    MPI_Info_free(&info);
    return 1;
}

int main(int argc, char **argv)
{
    file = argc > 1 ? argv[argc - 1] : NULL;
    if (argc != 2) {
        two_at_once();
        return 0;
    }
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &sessions[0]);
    if (!is_new()) {
        MPI_Group group = group_of_world(sessions[0]);
        while (rank == 0 && !is_changing())
            usleep(1000);
        make(group, "those of the start");
    }
    while (access(file, F_OK))
        usleep(1000);
    MPI_Session_finalize(&sessions[0]);
    return 0;
}
