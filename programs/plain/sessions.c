/*
 * A loop whose processes change by process sets, in the shape of listing 6.7 of D. Huber (TU Muenchen 2021): it has MPI
 * sessions, and no MPI_COMM_WORLD. Each process counts the points of its part of a parabola that are in a box.
 *     mpiexec -n 2 ./sessions [STEPS [POINTS]]        epopctl resize 4        epopctl psets
 */
#include <epop/mpi_psets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long points = 1000000, first, end;

/* The load is the points: each process takes as many as the others. */
static void rebalance_step(int rank, int size)
{
    first = points / size * rank;
    end = rank + 1 == size ? points : points / size * (rank + 1);
}

static long work_step(void)
{
    long inside = 0;
    for (long i = first; i < end; i++) {
        double t = 20.0 * (double)i / (double)points, x = 3 * t + 1, y = -0.5 * t * t + 9 * t;
        inside += x > 10 && x < 50 && y > 5 && y < 30;
    }
    return inside;
}

static void make_comm(MPI_Session session, const char *pset, MPI_Comm *comm, int *rank, int *size)
{
    MPI_Group group;
    MPI_Group_from_session_pset(session, pset, &group);
    MPI_Comm_create_from_group(group, "org.epop.sessions", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(*comm, rank);
    MPI_Comm_size(*comm, size);
}

int main(int argc, char **argv)
{
    const int root = 0;
    long steps = argc > 1 ? atol(argv[1]) : 1000, step = 0, inside = 0, sum;
    char main_pset[MPI_MAX_PSET_NAME_LEN] = "mpi://WORLD", delta_pset[MPI_MAX_PSET_NAME_LEN] = "",
         new_pset[MPI_MAX_PSET_NAME_LEN] = "";
    int rank, size, terminate = 0, rc_status;
    bool incl;
    MPI_Session session;
    MPI_Comm comm;
    MPI_rc_type rc_type;
    if (argc > 2)
        points = atol(argv[2]);

    /* A process that was added finds itself in the delta process set, and confirms the change. One that is here from
     * the start may find itself there, too, where a change wants to take it already: that is accepted later, as any
     * other. */
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_get_res_change(session, &rc_type, delta_pset, &incl, &rc_status, NULL);
    if (rc_type != MPI_RC_NULL && rc_type != MPI_RC_SUB && incl)
        MPI_Session_confirm_res_change(session, MPI_INFO_NULL, delta_pset, main_pset);
    make_comm(session, main_pset, &comm, &rank, &size);
    MPI_Bcast(&step, 1, MPI_LONG, root, comm);

    while (step < steps) {
        rebalance_step(rank, size);
        inside = work_step();
        step++;

        /* Phase 1: is there a change? Phase 2: what becomes of the set. */
        if (rank == root) {
            MPI_Session_get_res_change(session, &rc_type, delta_pset, &incl, &rc_status, NULL);
            if (rc_type != MPI_RC_NULL && rc_status == MPI_RC_ANNOUNCED) {
                int op = rc_type == MPI_RC_ADD ? MPI_PSETOP_UNION : MPI_PSETOP_DIFFERENCE;
                MPI_Session_pset_create_op(session, MPI_INFO_NULL, op, main_pset, delta_pset, new_pset);
            }
        }
        MPI_Bcast(&rc_status, 1, MPI_INT, root, comm);
        if (rc_status != MPI_RC_ANNOUNCED && rc_status != MPI_RC_PENDING)
            continue;

        /* Phase 3: all accept it. While the new processes have not confirmed it, the loop goes on. */
        int rc = MPI_Session_accept_res_change(session, MPI_INFO_NULL, delta_pset, new_pset, root, comm, &terminate);
        if (rc == MPI_SUCCESS) {
            if (terminate)
                break;
            strcpy(main_pset, new_pset);
            make_comm(session, main_pset, &comm, &rank, &size);
            MPI_Bcast(&step, 1, MPI_LONG, root, comm);
        }
    }
    if (!terminate) {
        MPI_Reduce(&inside, &sum, 1, MPI_LONG, MPI_SUM, root, comm);
        if (rank == root)
            printf("%ld of %ld points inside after %ld steps, %d processes\n", sum, points, step, size);
        MPI_Comm_free(&comm);
    }
    MPI_Session_finalize(&session);
    return 0;
}
