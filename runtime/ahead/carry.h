/*
 * Moves cargo between the processes of a window to come, beside their programs, by sockets: one to each process that
 * gets something from this one, and one from each that brings something. The first rank's connection to a joining
 * process begins with the values, which that one needs to know what comes.
 */
#ifndef EPOP_AHEAD_CARRY_H
#define EPOP_AHEAD_CARRY_H

#include <cjson/cJSON.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/ahead/cargo.h"
#include "runtime/base/error.h"
#include "runtime/wire/messages.h"

/* ---- Places ------------------------------------------------------------------------------------- */

/* Where a process listens for the constant data of others, and how they come to it: by sockets of our own, so that a
 * process that dies, or a move that is broken off, is no affair of MPI's. Who comes shows the place's secret, which the
 * control plane has told it. */

#define PLACE_SECRET 32 /* hex digits */

struct place {
    int fd; /* listens; -1: another process's, or closed */
    struct sockaddr_in address;
    char secret[PLACE_SECRET + 1];
};

/* Opens one at the address by which the job's control plane (its uri) is reached. 0 or -1. Local. */
int place_open(struct place *place, const char *uri);
void place_close(struct place *place);
cJSON *place_to_json(const struct place *place);
/* Another process's place, as a message has it. 0, or -1: it is none. */
int place_of(struct place *place, const struct shape_ahead_place *said);

/* ---- Carrying ----------------------------------------------------------------------------------- */

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
    int64_t until;       /* by then all should have come, CLOCK_MONOTONIC, ns */
    int wake;            /* readable once it is off */
    _Atomic bool off;    /* ends soon, with an error */
    _Atomic bool urgent; /* the program stands still until it has come */
    int64_t received;    /* bytes */
};

/* Returns when all has come here, and gone from here. 0, or -1 with text: ERROR_TIMEOUT where another process cannot be
 * reached at all. On a thread of its own, at the pace of runtime/ahead/pace.h. */
int carry(struct carriage *carriage, struct error *error);

#endif
