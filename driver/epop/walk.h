/*
 * The walk: a program counter over the program's elements (Compres 2017, listing 7.3). INIT once; an elastic phase
 * is probe, perhaps adapt, exec, while its loop condition holds; a rigid phase the same without the probe; a branch
 * sets the program counter. Knows the runtime only through struct elastic, and no MPI.
 */
#ifndef DRIVER_WALK_H
#define DRIVER_WALK_H

#include "driver/epop/drivers.h"
#include "runtime/job/elastic.h"

enum walk_outcome {
    WALK_ENDED,      /* the program came to its end, or was stopped */
    WALK_LEFT,       /* this process left the program in an adaptation */
    WALK_CALLED_OFF, /* the adaptation that this process was to join is off */
    WALK_FAILED      /* walk.error says why */
};

struct walk {
    const epop_program_t *program;
    const struct elastic *elastic;
    struct drivers *drivers;
    void (*begun)(void);      /* INIT is through; NULL: nothing is to be done then */
    void *data;               /* of the program */
    epop_position_t position; /* as the drivers see it */
    int visits_without_phase; /* branches in a row */
    _Atomic int block;        /* 1 + enum epop_block; 0: in none */
    char error[512];
};

/* Walks the program from its beginning. argv is handed to INIT, which may change both. */
enum walk_outcome walk_from_start(struct walk *walk, int *argc, char ***argv);

/* The process exits now, with that status. In the midst of a block? Then error says so, and the drivers know. */
bool walk_exits(struct walk *walk, int status);

/* The process ends by such a call, perhaps in a signal handler, and between two blocks: error says so. */
void walk_quits(struct walk *walk, const char *call);

/* Runs INIT, joins the running ranks where they are, and goes on from there. */
enum walk_outcome walk_joining(struct walk *walk, int *argc, char ***argv);

#endif
