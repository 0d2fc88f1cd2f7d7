/*
 * What the walk through a program needs of the runtime. A job of MPI ranks (job/walk.c), a program that runs
 * alone (solo.c), and the tests' mock are behind the same table. No MPI here.
 */
#ifndef EPOP_ELASTIC_RUNTIME_H
#define EPOP_ELASTIC_RUNTIME_H

#include "epop/driver.h"
#include "runtime/base/error.h"
#include "runtime/member/member.h"
#include "runtime/member/meter.h"

enum window_result { WINDOW_STAY, WINDOW_LEAVE, WINDOW_BROKEN };

/* All on the program's thread; none may be NULL. */
struct elastic {
    void *context;
    struct ceiling *ceiling;
    struct live_position *live;
    struct meter *meter;

    /* The present rank and size. Local. */
    void (*world)(void *context, int *rank, int *size);

    /* Behind INIT: what runs now. joining: its described data is to come. And it leaves: its described data is freed,
     * its release block runs. Only the first call counts: an adapt block may have done it. */
    void (*begun)(void *context, const epop_program_t *program, void *data, bool joining);
    void (*release)(void *context);
    /* A first look at what the program describes: behind INIT with pc 0, and when an elastic phase begins. NULL, or
     * what is wrong. Collective over the first world, if anything is done. */
    const char *(*look)(void *context, int pc);
    /* The same of all of it, behind INIT, where no phase is to run. */
    const char *(*inspect)(void *context);
    /* An elastic phase goes on from here, with its data there; and it is left: what was constant in it may change.
     * Local. */
    void (*entered)(void *context, int pc);
    void (*left)(void *context);

    /* A probe that met the ceiling, or (needs > 0) an element that asks for the smaller size `needs`. Waits. */
    enum action (*hold)(void *context, const struct position *at, int needs);
    void (*report_progress)(void *context, const epop_progress_t *progress);
    /* After ACTION_CHECKPOINT: saves the data, and tells the coordinator. Collective over the world. */
    void (*checkpoint)(void *context, const struct position *at);
    /* Behind INIT of a starting process: does the program go on from a checkpoint? Then its data is there, and *at is
     * where. Collective over the world. */
    bool (*restart)(void *context, struct position *at);
    /* The place, which is known before; NULL: it begins anew. Local. */
    const struct position *(*restarts)(void *context);

    /* A joining process after INIT, which failed as the text says (NULL: went well): waits for the window. True if
     * the process now has to run the adapt block of *at; false if the adaptation is off. */
    bool (*join)(void *context, const char *failure, struct position *at);

    /* Before and after the adapt block. open makes the communicators; collective over the window's ranks. 0, or
     * -1 with one line of text: then the adaptation is off on every rank, and old ranks go on as before. close checks
     * that the block began and committed; WINDOW_BROKEN has text. */
    int (*window_open)(void *context, struct error *error);
    enum window_result (*window_close)(void *context, struct error *error);
    /* After window_close, for the drivers: what the window moved. Stays valid until the next window. */
    const epop_adapted_t *(*adapted)(void *context);
};

#endif
