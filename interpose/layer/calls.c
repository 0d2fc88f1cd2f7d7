/* MPI_Init_adapt, MPI_Probe_adapt, MPI_Comm_adapt_begin and MPI_Comm_adapt_commit as programs meet them, beside the
 * wrappers: the runtime does what they say. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "epop/mpi_adapt.h"
#include "interpose/instead.h"
#include "interpose/interpose.h"

#define CALL __attribute__((visibility("default")))

/* Linked behind MPI the wrappers would never be called, and MPI_COMM_WORLD would stay the old world without a word. */
static void check_order(void)
{
    void (*own)(void) = check_order;
    void *met = dlsym(RTLD_DEFAULT, "MPI_Comm_rank");
    Dl_info ours, theirs;
    if (!met || !dladdr(*(void **)&own, &ours) || !dladdr(met, &theirs) || ours.dli_fbase == theirs.dli_fbase)
        return;
    const char *rank = getenv("PMI_RANK");
    if (!rank)
        rank = getenv("PMIX_RANK");
    if (!rank || atoi(rank) == 0)
        fprintf(stderr,
                "epop: MPI_Init_adapt: MPI's functions are found in %s before libepop_mpi, so MPI_COMM_WORLD could not "
                "change; put -lepop_mpi before MPI's libraries when you link, or preload libepop_mpi.so\n",
                theirs.dli_fname);
    exit(EXIT_FAILURE);
}

CALL int MPI_Init_adapt(int *argc, char ***argv, int *local_status)
{
    INTERPOSE_CALL(MPI_Init_adapt);
    check_order();
    return epop__instead_MPI_Init_adapt(argc, argv, local_status);
}

CALL int MPI_Probe_adapt(int *pending_adaptation, int *local_status, MPI_Info *info)
{
    return epop__instead_MPI_Probe_adapt(pending_adaptation, local_status, info);
}

CALL int MPI_Comm_adapt_begin(MPI_Comm *intercomm, MPI_Comm *new_comm_world, int *staying_count, int *leaving_count,
                              int *joining_count)
{
    INTERPOSE_CALL(MPI_Comm_adapt_begin);
    return epop__instead_MPI_Comm_adapt_begin(intercomm, new_comm_world, staying_count, leaving_count, joining_count);
}

CALL int MPI_Comm_adapt_commit(void)
{
    INTERPOSE_CALL(MPI_Comm_adapt_commit);
    return epop__instead_MPI_Comm_adapt_commit();
}
