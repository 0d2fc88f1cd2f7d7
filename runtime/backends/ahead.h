/*
 * A window's communicators made before the ranks stand still, and unmade after, by another thread of each process while
 * the program's goes on. It talks over a copy of the world. Needs MPI_THREAD_MULTIPLE, and a device whose waiting
 * processes sleep: one that spins would take the time from the ranks that it spares.
 */
#ifndef EPOP_AHEAD_H
#define EPOP_AHEAD_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "runtime/member/member.h"
#include "runtime/world.h"

/* Does the MPI library do? Then MPI is to be initialized with MPI_THREAD_MULTIPLE. Also before MPI_Init. Local. */
bool ahead_wanted(void);

/* MPI is up: takes a copy of `comm`, the first world or the joiners', if it can be done here. Collective over comm. */
void ahead_begin(struct member *member, MPI_Comm comm);

/* Can it be done here? */
bool ahead_possible(void);

/* Was it ever tried? Then MPI_Finalize would miss somebody. */
bool ahead_tried(void);

/* The coordinator's "connect", "merge" and "disconnect". On the control thread. */
void ahead_message(const cJSON *message);

/* The communicators that were made for the adaptation; they are the window's from here on. */
void ahead_take(int adaptation, epop_window_t *window);

/* In a window whose communicators were not made ahead: makes what the next one needs. Collective over `after`. */
void ahead_renew(MPI_Comm after);

/* Commit: disconnects all that the window has but `after`; in a process that stays, while that computes on. */
void ahead_commit(struct world *world);

/* Before MPI_Finalize. Collective over the launch. */
void ahead_end(void);

#endif
