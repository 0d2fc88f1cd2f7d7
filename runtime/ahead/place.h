/*
 * Where a process listens for the constant data of others, and how they come to it: sockets of our own, so that a
 * process that dies, or a move that is broken off, is no affair of MPI's. Who comes shows the place's secret, which the
 * control plane has told it.
 */
#ifndef EPOP_AHEAD_PLACE_H
#define EPOP_AHEAD_PLACE_H

#include <cjson/cJSON.h>
#include <netinet/in.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "runtime/wire/messages.h"

#define PLACE_SECRET 32 /* hex digits */

struct place {
    int fd; /* listens; -1: another process's, or closed */
    struct sockaddr_in address;
    char secret[PLACE_SECRET + 1];
};

/* What a process says first that comes to another. */
struct place_hello {
    char magic[8];
    char secret[PLACE_SECRET];
    uint64_t cargo; /* hash of what it brings: the same on all */
    uint32_t adaptation, from;
};

/* Opens one at the address by which the job's control plane (its uri) is reached. 0 or -1. Local. */
int place_open(struct place *place, const char *uri);
void place_close(struct place *place);
cJSON *place_to_json(const struct place *place);
/* Another process's, as it was said. 0, or -1: it is none. */
int place_of(struct place *place, const struct shape_ahead_place *said);

/* Sockets that do not block, or -1: one on its way to that place; one that has come, if one has. Local. */
int place_go(const struct place *place);
int place_accept(const struct place *place);

/* The way there did not open in that time: -1, with text that says what to look for. */
int place_unreachable(const struct place *place, int seconds, struct error *error);

struct place_hello place_hello(const struct place *place, int adaptation, int from, uint64_t cargo);
/* Does it mean this place, and that adaptation? */
int place_knows(const struct place *place, int adaptation, const struct place_hello *hello);

#endif
