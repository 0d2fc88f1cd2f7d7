/*
 * The ghosts of blocks: one message to and from each neighbour, with all regions that go there, diagonal ones too. Each
 * ghost is filled by who owns it, so that nothing depends on the order in which messages come.
 */
#ifndef REDIST_HALO_H
#define REDIST_HALO_H

#include "runtime/redist/element.h"
#include "runtime/redist/layout.h"

struct epop_halo;

/* On epop_world(), which is the program's as well; a message of it there must not carry this tag. */
#define REDIST_HALO_TAG 32002

/* Of `rank` in `layout`, whose ghosts fit; ranks[r] is the rank in comm of its rank r (NULL: the same). Makes all that
 * is needed, so that what follows cannot lack memory. Local. */
redist_fault redist_halo_make(struct epop_halo **halo, const struct redist_layout *layout, int rank,
                              const redist_element *element, MPI_Comm comm, const int *ranks);
/* Posts the messages from and to `array`. MPI_SUCCESS, or the first MPI error here. */
int redist_halo_post(struct epop_halo *halo, void *array);
/* Waits for them. Collective with the other ranks' redist_halo_post, as that is. */
int redist_halo_wait(struct epop_halo *halo);
void redist_halo_free(struct epop_halo *halo);

#endif
