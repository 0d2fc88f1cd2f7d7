/*
 * A window's communicators made before the ranks stand still, and unmade after, by another thread of each process while
 * the program's goes on. It talks over a copy of the world. Needs MPI_THREAD_MULTIPLE, and a device whose waiting
 * processes sleep: one that spins would take the time from the ranks that it spares.
 */
#ifndef EPOP_PRECONNECT_H
#define EPOP_PRECONNECT_H

#include <stdbool.h>

#include "runtime/member/member.h"
#include "runtime/wire/messages.h"
#include "runtime/world/world.h"

/* Does the MPI library support it? Then MPI is to be initialized with MPI_THREAD_MULTIPLE. Also before MPI_Init. Local.
 */
bool preconnect_wanted(void);

/* Takes a copy of the world, the first one or the joiners', if communicators can be made ahead here. Collective over
 * that. */
void preconnect_begin(struct world *world);

/* Can communicators be made ahead here? */
bool preconnect_possible(void);

/* Was it ever tried? Then MPI_Finalize would miss somebody. */
bool preconnect_tried(void);

/* The coordinator's "connect", "merge" and "disconnect". On the control thread. */
void preconnect_connect(void *context, const struct order_connect *order);
void preconnect_merge(void *context, const struct order_merge *order);
void preconnect_disconnect(void *context, const struct order_disconnect *order);

/* The communicators that were made for the adaptation; they are the window's from here on. */
void preconnect_take(int adaptation, epop_window_t *window);

/* In a window whose communicators were not preconnected: makes what the next one needs. Collective over `after`. */
void preconnect_renew(MPI_Comm after);

/* Commit: disconnects all that the window has but `after`; in a process that stays, while that computes on. */
void preconnect_commit(struct world *world);

/* Before MPI_Finalize. Collective over the launch. */
void preconnect_end(void);

#endif
