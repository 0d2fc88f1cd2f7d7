/* The conformance suite's program, by process sets: changes that are announced, and accepted. */
#include <epop/mpi_psets.h>

#include "ring.h"

static MPI_Session session;
static MPI_Comm comm;
static char main_pset[MPI_MAX_PSET_NAME_LEN] = "mpi://WORLD", delta[MPI_MAX_PSET_NAME_LEN], next[MPI_MAX_PSET_NAME_LEN];

static void make_comm(void)
{
    MPI_Group group;
    MPI_Group_from_session_pset(session, main_pset, &group);
    MPI_Comm_create_from_group(group, "ring", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
}

/* By root: what becomes of the set. A replacement names both of its parts. */
static void prepare(MPI_rc_type type, MPI_Info info)
{
    char part[MPI_MAX_INFO_VAL + 1], between[MPI_MAX_PSET_NAME_LEN];
    int flag;
    if (type != MPI_RC_REPLACE) {
        MPI_Session_pset_create_op(session, MPI_INFO_NULL,
                                   type == MPI_RC_ADD ? MPI_PSETOP_UNION : MPI_PSETOP_DIFFERENCE, main_pset, delta,
                                   next);
        return;
    }
    MPI_Info_get(info, MPI_RC_SUB_PSET, MPI_MAX_INFO_VAL, part, &flag);
    MPI_Session_pset_create_op(session, MPI_INFO_NULL, MPI_PSETOP_DIFFERENCE, main_pset, part, between);
    MPI_Info_get(info, MPI_RC_ADD_PSET, MPI_MAX_INFO_VAL, part, &flag);
    MPI_Session_pset_create_op(session, MPI_INFO_NULL, MPI_PSETOP_UNION, between, part, next);
}

/* Phase 1 and 2. */
static MPI_rc_status_t look(int rank)
{
    MPI_rc_type type = MPI_RC_NULL;
    MPI_rc_status_t status = MPI_RC_STATUS_NULL;
    MPI_Info info = MPI_INFO_NULL;
    bool incl;
    if (rank == 0 && !ring_is(".hold")) {
        MPI_Session_get_res_change(session, &type, delta, &incl, &status, &info);
        if (type != MPI_RC_NULL && status == MPI_RC_STATUS_ANNOUNCED)
            prepare(type, info);
        if (info != MPI_INFO_NULL)
            MPI_Info_free(&info);
    }
    MPI_Bcast(&status, 1, MPI_INT, 0, comm);
    return status;
}

/* Phase 3. True: this process is taken out. */
static int change(struct ring *ring)
{
    int rank, terminate = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_rc_status_t status = look(rank);
    if (status != MPI_RC_STATUS_ANNOUNCED && status != MPI_RC_STATUS_PENDING)
        return 0;
    struct ring all = *ring;
    ring_gather(&all, comm); /* those that leave are still here */
    if (MPI_Session_accept_res_change(session, MPI_INFO_NULL, delta, next, 0, comm, &terminate) != MPI_SUCCESS)
        return 0;
    if (terminate)
        return 1;
    *ring = all;
    strcpy(main_pset, next);
    make_comm();
    ring_spread(ring, comm);
    ring_changed(comm);
    return 0;
}

int main(int argc, char **argv)
{
    struct ring ring = {0};
    MPI_rc_type type;
    MPI_rc_status_t status;
    bool incl;
    int goes_on = 1, joined = 0;
    ring_file = argc > 1 ? argv[1] : "end";
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_get_res_change(session, &type, delta, &incl, &status, NULL);
    if (type != MPI_RC_NULL && type != MPI_RC_SUB && incl) { /* not one that a change wants to take already */
        ring_joins();
        joined = 1;
        MPI_Session_confirm_res_change(session, MPI_INFO_NULL, delta, main_pset);
        make_comm();
        ring_spread(&ring, comm);
    } else {
        make_comm();
        ring_begin(&ring, comm);
    }
    while (goes_on && (joined || !change(&ring))) { /* one that joined goes on behind the change */
        joined = 0;
        goes_on = ring_step(&ring, comm);
    }
    if (!goes_on)
        ring_end(comm);
    MPI_Session_finalize(&session);
    return 0;
}
