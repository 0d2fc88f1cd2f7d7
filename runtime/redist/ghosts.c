/* epop_halo_start, epop_halo_finish and epop_halo_exchange. */
#include <stdlib.h>

#include "interpose/interpose.h"
#include "runtime/redist/halo.h"

/* Arguments are alike on all ranks, and so are their faults. */
static redist_fault make(const epop_blocks_t *blocks, MPI_Datatype type, const void *array, MPI_Comm comm,
                         struct epop_halo **halo)
{
    struct redist_layout layout;
    redist_element element;
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    redist_fault fault = redist_layout_of_blocks(&layout, blocks, size);
    if (fault == REDIST_FINE)
        fault = redist_layout_ghosts(&layout);
    if (fault == REDIST_FINE && redist_element_of(type, &element))
        fault = REDIST_BAD_TYPE;
    if (fault == REDIST_FINE && !array && redist_layout_part(&layout, rank).elements > 0)
        fault = REDIST_NO_BLOCK;
    return fault == REDIST_FINE ? redist_halo_make(halo, &layout, rank, &element, comm, NULL) : fault;
}

static int start(const char *function, const epop_blocks_t *blocks, MPI_Datatype type, void *array,
                 struct epop_halo **halo)
{
    MPI_Comm comm = epop_world();
    int rank = 0;
    *halo = NULL;
    if (comm != MPI_COMM_NULL)
        MPI_Comm_rank(comm, &rank);
    redist_fault fault = comm == MPI_COMM_NULL ? REDIST_NO_WORLD : make(blocks, type, array, comm, halo);
    if (fault == REDIST_FINE && redist_halo_post(*halo, array) == MPI_SUCCESS)
        return EPOP_OK;
    bool mine = fault == REDIST_NO_MEMORY || fault == REDIST_NO_BLOCK || fault == REDIST_FINE;
    redist_halo_free(*halo);
    *halo = NULL;
    return redist_refuse(function, fault == REDIST_FINE ? REDIST_MPI_FAILED : fault, mine || rank == 0);
}

static int finish(const char *function, struct epop_halo **halo)
{
    int error = redist_halo_wait(*halo);
    redist_halo_free(*halo);
    *halo = NULL;
    return redist_refuse(function, error == MPI_SUCCESS ? REDIST_FINE : REDIST_MPI_FAILED, true);
}

int epop_halo_start(const epop_blocks_t *blocks, MPI_Datatype type, void *array, epop_halo_t **halo)
{
    INTERPOSE_CALL(epop_halo_start);
    if (!halo)
        return EPOP_ERR_ARGUMENT;
    return start("epop_halo_start", blocks, type, array, halo);
}

int epop_halo_finish(epop_halo_t **halo)
{
    INTERPOSE_CALL(epop_halo_finish);
    if (!halo || !*halo)
        return EPOP_OK;
    return finish("epop_halo_finish", halo);
}

int epop_halo_exchange(const epop_blocks_t *blocks, MPI_Datatype type, void *array)
{
    INTERPOSE_CALL(epop_halo_exchange);
    struct epop_halo *halo;
    int result = start("epop_halo_exchange", blocks, type, array, &halo);
    return result == EPOP_OK ? finish("epop_halo_exchange", &halo) : result;
}
