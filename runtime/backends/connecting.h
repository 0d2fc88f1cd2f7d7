/* The window of processes that come from several launches: its communicators are connected and disconnected. */
#ifndef EPOP_CONNECTING_H
#define EPOP_CONNECTING_H

#include "runtime/base/error.h"
#include "runtime/world/world.h"

/* Can processes be connected here, and leave one by one? 0, or -1 with the reason. MPI is up. Local. */
int connecting_available(struct error *reason);

/*
 * A new port, or NULL; the caller frees it. number: of this port among those of its process, below CONNECTING_PORTS.
 * MPICH uses no other mark for the messages of a connect: one that was given up must not get those of another. Local.
 */
#define CONNECTING_PORTS 64
char *connecting_port(int number);

/* Joining ranks accept at `port` (significant on rank 0), old ranks connect: makes the window's intercomm between the
 * communicators that stand in `before`. seconds: MPI's own time limit on the ranks' side; 0: as it is. Collective over
 * both. 0, or -1 with one line of text. */
int connecting_connect(epop_window_t *window, const char *port, int seconds, struct error *error);

/* Makes the window's all of its intercomm. Collective over both sides. */
void connecting_merge(epop_window_t *window);

/* connecting_connect, then connecting_merge, while all ranks hold at the gate. */
int connecting_meet(struct world *world, const char *port, struct error *error);

/* Makes `after` out of `all`. Collective over `all`. */
void connecting_make_after(epop_window_t *window);

/* Disconnects it; where that would wait for those that leave, who may come late, frees it. Collective over its ranks.
 */
void connecting_part(MPI_Comm *comm);

/* Disconnects all that the window has but `after`. Collective over its ranks. */
void connecting_commit(struct world *world);

#endif
