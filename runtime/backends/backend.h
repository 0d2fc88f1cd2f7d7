/*
 * A backend: how processes come and go. One table per way, chosen at the start; another way is one file more.
 * Every backend gives the same window (epop/elastic.h).
 */
#ifndef EPOP_BACKEND_H
#define EPOP_BACKEND_H

#include "runtime/backends/gathering.h"
#include "runtime/coordinator/state.h"
#include "runtime/world.h"

/* Flags */
#define BACKEND_LENDS 1u /* only processes of the launch join: more than start can be launched, the others stand by */
#define BACKEND_ASKED 4u /* taken only when it is asked for by name */
#define BACKEND_PARKS 8u /* with BACKEND_ENDS: they can also stand by and join again, where that is wanted */
#define BACKEND_ENDS  2u /* processes that leave end, and so do all at the end of the job, without MPI_Finalize */

/* Seconds after which joiners that do not answer a connect are ended. MPI's own limit is one more, so the ranks have to
 * be back some time after that. */
#define BACKEND_CONNECT_TIMEOUT 2
#define BACKEND_CONNECT_MORE    2

struct backend {
    /* The half on the coordinator's thread, and the name. */
    struct coordinator_backend coordinator;
    unsigned flags;
    const char *merit; /* what is true where auto takes it, as a line of text; NULL with BACKEND_ASKED */

    /* Does it work here? 0, or -1 with the reason. MPI is up. Local. */
    int (*available)(char *reason, size_t reason_size);

    /* The half on every process's own thread. All mandatory; all collective over the processes named. */

    /* The world of the first ranks: processes 0 .. size-1. Collective over those. */
    MPI_Comm (*first_world)(struct world *world, int size);

    /* The joiners' own world, or that of those of this launch where they come from several: these are connected then
     * (gathering.h). Collective over those. */
    MPI_Comm (*joiners_world)(struct world *world, const struct gathering *joiners);

    /* Where the joiners can be connected to, for the plan, or NULL; on their first rank. The caller frees it. Local. */
    char *(*port)(void);

    /*
     * Makes all, after and intercomm of world->window by world->plan. Collective over old and joining ranks.
     * 0, or -1 with one line of text; then nothing was made and the adaptation is off on every rank.
     */
    int (*connect)(struct world *world, char *error, size_t error_size);

    /* Frees what connect made and the old world, but not `after`. Cannot fail. */
    void (*commit)(struct world *world);

    /* The rest may be NULL. */

    /* A message of the coordinator that is not the member's: "connect", "merge" and "disconnect" where its half
     * connects ahead, and ops that begin with the backend's name. On the control thread; must not block. */
    void (*message)(const cJSON *message);

    /* A joiner whose joining is off ends: lets go of what holds it. Collective over the joiners and who started them.
     */
    void (*abandon)(void);
};

extern const struct backend backend_pool;
extern const struct backend backend_join;
extern const struct backend backend_spawn;
extern const struct backend backend_shrink;

/* What is wanted of a backend. */
struct backend_wish {
    const char *name;  /* of one, or "auto" for the best that does the rest */
    bool lends;        /* not all processes of the launch are to start */
    const char *leave; /* what becomes of processes that leave: "exit", "park", or "auto" */
};

/* The one that does, with one line that says why this one; or NULL, with why there is none. MPI is up. Local. */
const struct backend *backend_find(const struct backend_wish *wish, char *reason, size_t size);

#endif
