/*
 * The backend contract: how processes come and go. One table per way, chosen at the start; another way is one file more
 * in runtime/backends/. Every backend gives the same window (epop/elastic.h).
 *
 * The first half runs on the coordinator's thread, in process 0, without a lock; none of it may block, or call MPI. (At
 * the end, when that thread has ended, the program's calls event and busy.) The second half runs in every process, on
 * the program's thread unless it says otherwise, without a lock; it calls MPI. A slot that may be NULL says what that
 * means.
 */
#ifndef EPOP_WORLD_BACKEND_H
#define EPOP_WORLD_BACKEND_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "epop/visibility.h"

#include "runtime/base/error.h"
#include "runtime/wire/messages.h"

struct adaptation;
struct coordinator;
struct gathering;
struct world;

/* What becomes of processes that leave. */
enum backend_leavers {
    LEAVERS_STAND_BY, /* until they join again: all are the launch's, of which more than start can stand by at first */
    LEAVERS_END,      /* for real, and so do all at the job's end, without MPI_Finalize */
    LEAVERS_DO_BOTH,  /* they end, or stand by where --leave park wants it */
};

/* What can become of the call of connect, and of the joiners that it waits for. */
enum backend_connects {
    CONNECTS_ALWAYS,  /* all are processes of one launch */
    CONNECTS_OR_NOT,  /* it fails on all, or on none; joiners that do not answer end the job */
    CONNECTS_IN_TIME, /* likewise, but joiners that do not answer are ended (`kill`), and it fails then */
};

/* What depends on the job's options and on the MPI library. */
struct backend_ways {
    bool late;     /* the ranks start the joiners themselves, in the window; `start` is not called */
    bool replaces; /* all ranks leave in every adaptation, and new ones take their place */
    bool ahead;    /* with CONNECTS_IN_TIME: processes are connected before the ranks stand still */
};

/*
 * Seconds for connecting, after which it is looked at whether all that take part give a sign of life. If one does not,
 * the joiners are ended. If all do they are only slow, on a busy machine, and have until LONGEST, or AT_GATE where the
 * ranks stand still meanwhile. MPI's own limit is one more, so the ranks have to be back some time after that.
 */
#define BACKEND_CONNECT_TIMEOUT 2
#define BACKEND_CONNECT_LONGEST 5
#define BACKEND_CONNECT_AT_GATE 3
#define BACKEND_CONNECT_MORE    1.5

struct backend {
    const char *name;
    const char *merit; /* what is true where auto takes it, as a line of text; NULL: it is taken only by its name */
    enum backend_leavers leavers;
    enum backend_connects connects;
    /* In this job; asked once, when its first world is there. NULL: none of it is so. */
    struct backend_ways (*ways)(void);

    /* Does it work here? 0, or -1 with the reason. MPI is up. On the program's thread, before the job starts, or
     * without a job (epop --capabilities). Local. */
    int (*available)(struct error *reason);

    /* ---- The coordinator's thread ---- */

    /*
     * Chooses adaptation->joining processes, on the hosts named (comma-separated; NULL: any), into
     * adaptation->joiners. Processes that are on their way into standby, or have not attached yet, may be chosen. 0, or
     * -1 with one line of text; then nothing was taken.
     */
    int (*choose)(struct coordinator *coordinator, struct adaptation *adaptation, const char *hosts,
                  struct error *error);
    /* Has them start, if all of them can by now (else false, and it is asked again when a process comes in). Each will
     * send "ready". */
    bool (*start)(struct coordinator *coordinator, const struct adaptation *adaptation);
    /* The adaptation is off: its joiners go back to where they came from. Only after start. */
    void (*cancel)(struct coordinator *coordinator, const struct adaptation *adaptation);
    /* The joiners do not answer a connect: ends them at once. May be called again. With CONNECTS_IN_TIME; NULL without.
     */
    void (*kill)(struct coordinator *coordinator, const struct adaptation *adaptation);
    /* What the backend posted with events_post_backend has arrived. NULL: it posts nothing. */
    void (*event)(struct coordinator *coordinator, void *handle, int status);
    /* Looks after what it started; returns the seconds until it wants to look again. NULL: nothing to look after. */
    double (*tick)(struct coordinator *coordinator);
    /* Does the launcher of that adaptation still run? NULL: processes have none of their own. */
    bool (*launched)(int adaptation);
    /* How many launchers have not ended yet. NULL: none. */
    int (*busy)(void);

    /* ---- Every process. Mandatory, and collective over the processes named ---- */

    /* The world of the first ranks: processes 0 .. size-1. Collective over those, and blocks until all have come. */
    MPI_Comm (*first_world)(struct world *world, int size);

    /* The joiners' own world, or that of those of this launch where they come from several: these are connected then
     * (runtime/backends/gathering.h). Collective over those, and blocks until all have come. */
    MPI_Comm (*joiners_world)(struct world *world, const struct gathering *joiners);

    /* Where the joiners can be connected to, for the plan, or NULL; on their first rank. The caller frees it. Local:
     * waits for no other process. */
    char *(*port)(void);

    /*
     * Makes all, after and intercomm of world->window by world->plan. Collective over old and joining ranks, and blocks
     * until all have come; with CONNECTS_IN_TIME not longer than MPI's limit for joiners that do not answer, else
     * without one. 0, or -1 with one line of text; then nothing was made and the adaptation is off on every rank.
     */
    int (*connect)(struct world *world, struct error *error);

    /* Frees what connect made and the old world, but not `after`. Collective over old and joining ranks: may
     * block until the others have come, those that leave included. Cannot fail. */
    void (*commit)(struct world *world);

    /* ---- Every process. May be NULL ---- */

    /* The processes that started together, or joined together, have their world. Collective over it. NULL: nothing is
     * to be done. */
    void (*begin)(struct world *world);

    /* Messages of the coordinator that are the backend's, and who takes them (runtime/wire/messages.h): what has to
     * do with connecting ahead, and ops that begin with the backend's name. On the control thread, without a lock; must
     * not block. The context is NULL. NULL: there are none. */
    const struct message_row *messages;
    size_t message_count;

    /* A joiner whose joining is off ends: lets go of what holds it. The program's thread. Collective over the joiners
     * and who started them, and may block until all of them have come. NULL: nothing does. */
    void (*abandon)(void);
};

/* Can a process end while the job goes on? Local. */
static inline bool backend_ends(const struct backend *backend)
{
    return backend->leavers != LEAVERS_STAND_BY;
}

extern const struct backend backend_pool;
extern const struct backend backend_join;
extern const struct backend backend_spawn;
extern const struct backend backend_shrink;

/* What becomes of processes that leave; what is best with the backend, if nothing is wanted. */
enum backend_leave { LEAVE_AUTO, LEAVE_EXIT, LEAVE_PARK };

/* By its word: auto, exit or park. 0, or -1 where it is none of these. Local. */
int backend_leave(const char *word, enum backend_leave *leave, struct error *error);

/* What is wanted of a backend. */
struct backend_wish {
    const char *name; /* of one, or "auto" for the best that does the rest */
    bool lends;       /* not all processes of the launch are to start */
    enum backend_leave leave;
};

/* May what is wanted by that name be this one? Before it is known what works here. Local. */
bool backend_may_be(const char *name, const struct backend *backend);

/* The one that does, with one line that says why this one; or NULL, with why there is none. MPI is up. Local. */
const struct backend *backend_find(const struct backend_wish *wish, struct error *reason);

/* The backend that a job gets without options where all processes start, and why. MPI is up. For the epop executable.
 * Local. */
EPOP_API const char *epop__backend_auto(struct error *reason);

/* May processes of a job with these two options park while others of their launch run on? For the epop executable,
 * before MPI. Local. */
EPOP_API bool epop__backend_parks(const char *name, const char *leave);

#endif
