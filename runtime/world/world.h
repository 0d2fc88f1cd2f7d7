/*
 * The present world of this process, its status, and the window of an adaptation. One per process: MPI has one
 * state per process too, and the functions of epop/elastic.h name none.
 */
#ifndef EPOP_WORLD_H
#define EPOP_WORLD_H

#include <stdbool.h>
#include <stddef.h>

#include "epop/elastic.h"
#include "runtime/base/error.h"
#include "runtime/member/plan.h"

struct backend;
struct member;

enum window_state { WINDOW_NONE, WINDOW_OFFERED, WINDOW_OPEN, WINDOW_COMMITTED };

struct world {
    const struct backend *backend;
    struct member *member; /* this process's */
    MPI_Comm launch;       /* all processes of this launch, in the order of their process numbers */
    int first;             /* the process number of its rank 0 */
    MPI_Comm comm;         /* what epop_world() returns */
    int rank, size;        /* in comm; -1 and 0 without one */
    epop_status_t status;  /* at the start, then that of the last window */
    bool hidden;           /* MPI_COMM_WORLD is none to the program, which has sessions alone */
    bool committed;        /* comm came of a window */
    bool inherited;        /* the window's new world has what the old one leaves it */
    enum window_state state;
    epop_window_t window;
    struct plan *plan;                /* of the window; borrowed from the member */
    int64_t commit_begin, commit_end; /* of the last window, CLOCK_MONOTONIC, ns */
    const char *failure;              /* why this process cannot join, though it takes part in connecting; NULL */
};

extern struct world world;

/* Makes `comm` (MPI_COMM_NULL: none) the present world. */
void world_set(MPI_Comm comm, epop_status_t status);

/* What each old rank of the open window has computed, as in its plan. NULL: it is no balance, or another window. */
const int *world_loads(const epop_window_t *window);

/* For a block that runs in the window, but for the world behind it: epop_world() and MPI_COMM_WORLD are the window's
 * `after`, with all that it inherits. Then as before. */
void world_ahead(void);
void world_back(void);

/* Fills in the window that `plan` means for process number `process`, without the communicators. */
void world_window(const struct plan *plan, int process, epop_window_t *window);

/*
 * Who is told of the window's calls, in the program's thread: the debug driver. All mandatory. `commits` comes before
 * anything is freed, `committed` behind it, with the window as it was.
 */
struct window_watch {
    void (*begun)(const epop_window_t *window);
    void (*commits)(const epop_window_t *window);
    void (*committed)(const epop_window_t *window);
};
/* NULL: nobody. */
EPOP_API void epop__watch_window(const struct window_watch *watch);

/* What the job does for the world and for the calls of epop/elastic.h. None may be NULL. */
struct world_services {
    /* epop_request: takes a request, which was checked, to the coordinator. EPOP_OK, or an error code. Any thread. */
    int (*request)(const epop_request_t *request);
    /* epop_request_balance and epop_request_checkpoint: likewise. */
    int (*request_balance)(void);
    int (*request_checkpoint)(void);
    /* A backend has connected the window's processes: the coordinator hears so. The program's thread. */
    void (*connected)(void);
};
/* At the start of the job; NULL: it has ended, or there is none, and requests are refused. They stay the caller's. */
void world_serve(const struct world_services *services);

/* For backends: the processes are connected, and from here on nothing can be taken back. */
void world_connected(void);

/* The window's communicators are made; begin may be called. */
int world_offer_window(struct plan *plan, int process, struct error *error);

/* After the adapt block: 0, or -1 with text if it forgot begin or commit. */
int world_close_window(struct error *error);

#endif
