/*
 * Two tasks with a process set each, split from the job's (figure 6.3, Huber 2021): the first half of the processes
 * waits for a file and calls nothing, while the other half goes on, and is what changes; or (both) both look for
 * changes. Each says what it sees. psets_bound FILE [both]
 */
#include <epop/mpi_psets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static MPI_Session session;

static MPI_Comm make(const char *set, const char *tag)
{
    MPI_Group group;
    MPI_Comm comm;
    MPI_Group_from_session_pset(session, set, &group);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    return comm;
}

static void line(const char *what, MPI_Comm comm)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank == 0)
        printf("%s %d\n", what, size);
    fflush(stdout);
}

/* A task that changes: by changes of its own set. True: this process is taken out. */
static int look(char *set, const char *name, MPI_Comm *comm)
{
    char delta[MPI_MAX_PSET_NAME_LEN] = "", next[MPI_MAX_PSET_NAME_LEN] = "";
    MPI_rc_type type = MPI_RC_NULL;
    MPI_rc_status_t status = MPI_RC_STATUS_NULL;
    int rank, terminate;
    bool incl;
    MPI_Info info;
    MPI_Comm_rank(*comm, &rank);
    MPI_Info_create(&info);
    MPI_Info_set(info, MPI_RC_BOUND_PSET, set);
    if (rank == 0) {
        MPI_Session_get_res_change(session, &type, delta, &incl, &status, &info);
        if (type != MPI_RC_NULL && status == MPI_RC_STATUS_ANNOUNCED) {
            MPI_Info target;
            MPI_Info_create(&target);
            MPI_Info_set(target, MPI_PSET_TARGET, set); /* a new version of it */
            MPI_Session_pset_create_op(session, target, type == MPI_RC_ADD ? MPI_PSETOP_UNION : MPI_PSETOP_DIFFERENCE,
                                       set, delta, next);
            MPI_Info_free(&target);
        } else {
            strcpy(next, set);
        }
    }
    MPI_Info_set(info, MPI_RC_TIMEOUT, "5");
    MPI_Bcast(&status, 1, MPI_INT, 0, *comm);
    int accepted = (status == MPI_RC_STATUS_ANNOUNCED || status == MPI_RC_STATUS_PENDING) &&
                   MPI_Session_accept_res_change(session, info, delta, next, 0, *comm, &terminate) == MPI_SUCCESS;
    MPI_Info_free(&info);
    if (!accepted)
        return 0;
    if (terminate)
        return 1;
    *comm = make(set, name);
    line(name, *comm);
    return 0;
}

static int is_there(const char *file, MPI_Comm comm)
{
    int rank, there = access(file, F_OK) == 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Bcast(&there, 1, MPI_INT, 0, comm);
    return there;
}

/* By rank 0 of all: two parts of the set, under names that all know. */
static void split(MPI_Comm all)
{
    char world[] = "mpi://WORLD", *in[] = {world}, **out, made[MPI_MAX_PSET_NAME_LEN];
    static const char *const names[] = {"mpi://app/psets_bound/still", "mpi://app/psets_bound/moving"};
    int op = MPI_PSETOP_SPLIT, count = 0, rank;
    MPI_Info info;
    MPI_Comm_rank(all, &rank);
    MPI_Info_create(&info);
    if (rank == 0) {
        MPI_Info_set(info, "mpi_part_sizes", "2,2");
        MPI_Session_dyn_v2a_psetop(session, &op, in, 1, &out, &count, info);
        for (int i = 0; i < count; i++) {
            MPI_Info_set(info, MPI_PSET_TARGET, names[i]);
            MPI_Session_pset_create_op(session, info, MPI_PSETOP_UNION, out[i], out[i], made);
            MPI_Info_set(info, MPI_PSET_TARGET, out[i]); /* it is only a step on the way */
            MPI_Info_set(info, "mpi_ps_active", "false");
            MPI_Session_pset_create_op(session, info, MPI_PSETOP_NULL, NULL, NULL, made);
            MPI_Info_delete(info, "mpi_ps_active");
        }
        MPI_Info_set(info, MPI_PSET_TARGET, "mpi://app/psets_bound");
        MPI_Info_set(info, "mpi_ps_active", "false"); /* the runtime's from here on */
        MPI_Session_pset_create_op(session, info, MPI_PSETOP_NULL, NULL, NULL, made);
    }
    MPI_Info_free(&info);
    MPI_Barrier(all);
}

int main(int argc, char **argv)
{
    char set[MPI_MAX_PSET_NAME_LEN] = "mpi://app/psets_bound/moving", delta[MPI_MAX_PSET_NAME_LEN];
    MPI_rc_type type;
    MPI_rc_status_t status;
    bool incl;
    const char *name = "moving";
    int rank, gone = 0;
    MPI_Comm all = MPI_COMM_NULL, comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_get_res_change(session, &type, delta, &incl, &status, NULL);
    if (type != MPI_RC_NULL && type != MPI_RC_SUB && incl) { /* not one that a change wants to take already */
        MPI_Session_confirm_res_change(session, MPI_INFO_NULL, delta, set);
        comm = make(set, "moving");
    } else {
        all = make("mpi://WORLD", "all");
        MPI_Comm_rank(all, &rank);
        split(all);
        MPI_Comm_disconnect(&all);
        if (rank < 2) {
            strcpy(set, "mpi://app/psets_bound/still");
            name = "still";
        }
        comm = make(set, name);
        line(name, comm);
    }
    int looks = argc > 2 || !strcmp(name, "moving");
    while (!is_there(argv[1], comm) && !(looks && (gone = look(set, name, &comm))))
        usleep(1000);
    if (!gone) {
        line("at the end", comm);
        MPI_Comm_disconnect(&comm);
    }
    MPI_Session_finalize(&session);
    return 0;
}
