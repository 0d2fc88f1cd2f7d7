/*
 * Resource changes as process sets see them: each adaptation is one. It has a delta process set for what it adds and
 * one for what it takes, and a state. In a job whose programs have sessions alone the ranks adapt when the program has
 * accepted the change, wherever they are; else at the program's probes.
 *
 * Source: D. Huber, Dynamic Processes Management in MPI and PMIx (TU Muenchen 2021), 6.2 and 6.4.
 */
#ifndef EPOP_COORDINATOR_CHANGES_H
#define EPOP_COORDINATOR_CHANGES_H

#include <stdbool.h>

#include "runtime/psets/psets.h"

struct adaptation;
struct coordinator;

enum change_state { CHANGE_NULL, CHANGE_ANNOUNCED, CHANGE_PENDING, CHANGE_FINALIZED, CHANGE_ABORTED };

struct change {
    int adaptation; /* 0: there was none so far */
    enum change_state state;
    enum pset_op type;          /* as it was asked for, or ADD, SUB, REPLACE */
    struct pset *added, *taken; /* NULL: nothing is */
    struct pset *both;          /* where both are: all of these */
    struct pset *bound;         /* whose processes are to accept it; NULL: those of the whole application */
    const struct pset *of;      /* that it was asked of, or that its first hearer asked about; NULL: none so far */
    struct pset *next;          /* that it makes of it; NULL: not said so far */
    bool go;                    /* accepted: the ranks may adapt */
    bool beside;                /* the program that asked for it goes on meanwhile */
    bool lasting;               /* mpi://WORLD stays the old world until the program says that it is through with it */
    bool closed;                /* which it has */
    int *made; /* the processes of the new world, in order, until mpi://WORLD is them; owned; or NULL */
    int made_count;
    bool held; /* connecting waits for the acceptance, too */
};

/* The program lets others choose how many processes a set has. */
struct offer {
    const struct pset *set; /* NULL: it does not */
    int least, most;
};

struct changes {
    struct psets sets;
    char app[128];      /* the application's name */
    struct change now;  /* the last one */
    struct change wish; /* what the next one is to be: its type, bound, go, held, lasting */
    struct offer offer;
    char reason[600]; /* why the last one was aborted */
    int making;       /* processes that make a communicator: the world stays as it is */
    int spawns;       /* MPIX_Spawn_async: calls of the program that have been heard */
    bool holds;       /* connecting is to wait for the acceptance in each */
    bool seen;        /* some process has sessions: events are published */
};

/* 0, or -1: out of memory. */
int changes_begin(struct coordinator *c);
void changes_end(struct coordinator *c);

/* "ANNOUNCED" and so on; of a type: "ADD". */
const char *changes_state_name(enum change_state state);
const char *changes_type_name(enum pset_op type);

/* A change of this set: whose processes are to accept it; NULL: as it is that of all, of the whole application. */
struct pset *changes_bound(const struct coordinator *c, struct pset *set);
/* Does the program's offer allow that what is wished for has so many processes more, or less? Also without one. */
bool changes_may_be(struct coordinator *c, int more, struct error *why);
/* The last processes of the set, by their ranks, as the release_ranks of a resize: the caller's to free. NULL with
 * text: so many cannot leave. */
int *changes_choose_leavers(struct coordinator *c, const struct pset *set, int count, struct error *why);

/* The adaptation is requested, with its processes known. */
void changes_announce(struct coordinator *c, const struct adaptation *a);
/* Ranks leave besides, in one that is not accepted yet. */
void changes_take_too(struct coordinator *c, const struct adaptation *a);
/* Is the pending adaptation one that has not been accepted, which has to be? And is it not to be connected before? */
bool changes_wait(const struct coordinator *c);
bool changes_hold(struct coordinator *c);
/* Is an accepted one waiting for nothing but that the world is let go? Then nobody begins to make another communicator.
 */
bool changes_want(const struct coordinator *c);
/* Accepted: PENDING, as its joiners are not ready; and all is ready. */
void changes_pending(struct coordinator *c);
void changes_go(struct coordinator *c);
/* Some process is through the window: when all are but those that leave, it is FINALIZED. */
void changes_through(struct coordinator *c, const struct adaptation *a);
/* mpi://WORLD is what the last change made. Nothing, if it is already. */
void changes_adopt(struct coordinator *c);
/* The adaptation is off: ABORTED. */
void changes_off(struct coordinator *c, const struct adaptation *a);

/* Is it a process of the present world, with what a window made for it? */
bool changes_is_there(const struct coordinator *c, int process);
/* Some processes are through a window already that makes another mpi://WORLD of it, and others not. */
bool changes_is_between(const struct coordinator *c);
/* The adaptation that made the world of those that are there. */
int changes_world(struct coordinator *c);

#endif
