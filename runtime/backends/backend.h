/*
 * A backend: how processes come and go. One table per way, chosen at the start; another way is one file more.
 * Every backend gives the same window (epop/elastic.h).
 */
#ifndef EPOP_BACKEND_H
#define EPOP_BACKEND_H

#include "runtime/coordinator/state.h"
#include "runtime/world.h"

/* Flags */
#define BACKEND_SHARES_LAUNCH 1u /* joining processes were launched with the others: a death ends the job */

struct backend {
    /* The half on the coordinator's thread, and the name. */
    struct coordinator_backend coordinator;
    unsigned flags;

    /* The half on every process's own thread. All mandatory; all collective over the processes named. */

    /* The world of the first ranks: processes 0 .. size-1. Collective over those. */
    MPI_Comm (*first_world)(struct world *world, int size);

    /* The joiners' own world, of `count` process numbers. Collective over those. */
    MPI_Comm (*joiners_world)(struct world *world, const int *processes, int count, int adaptation);

    /*
     * Makes all, after and intercomm of world->window by world->plan. Collective over old and joining ranks.
     * 0, or -1 with one line of text; then nothing was made and the adaptation is off on every rank.
     */
    int (*connect)(struct world *world, char *error, size_t error_size);

    /* Frees what connect made and the old world, but not `after`. Cannot fail. */
    void (*commit)(struct world *world);
};

extern const struct backend backend_pool;

/* The backend of that name, "auto" for the best that works here; NULL with one line of text if there is none. */
const struct backend *backend_find(const char *name, char *error, size_t error_size);

#endif
