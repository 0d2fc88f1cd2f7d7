/*
 * Moves cargo between the processes of a window to come, beside their programs, by sockets: one to each process that
 * gets something from this one, and one from each that brings something. The first rank's to a joining one begins with
 * the values, which the joining one needs to know what comes.
 */
#ifndef EPOP_AHEAD_CARRY_H
#define EPOP_AHEAD_CARRY_H

#include <stdatomic.h>
#include <stdbool.h>

#include "runtime/ahead/cargo.h"
#include "runtime/ahead/place.h"

struct carriage {
    int adaptation;
    epop_window_t *window;
    int me, size;         /* in the order of window->all */
    struct place place;   /* this one's, open */
    struct place *places; /* of all */
    struct cargo *cargo;  /* of a joining process: NULL until its values have come */
    char *values;         /* of rank 0, as describe_values_pack made them */
    size_t value_bytes;
    /* A joining process: its values are here; makes cargo of them. 0, or -1 with text. On the carriage's thread. */
    int (*fill)(void *context, struct error *error);
    void *context;
    int wake;            /* readable once it is off */
    _Atomic bool off;    /* ends soon, with an error */
    _Atomic bool urgent; /* the program stands still until it has come */
    int64_t received;    /* bytes */
};

/* Returns when all has come here, and gone from here. 0, or -1 with text: ERROR_TIMEOUT where another process cannot be
 * reached at all. On a thread of its own (pace.h). */
int carry(struct carriage *carriage, struct error *error);

#endif
