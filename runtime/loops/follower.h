/*
 * Follows the calls of MPI of one thread, and tells other threads of the loops in them: where they are, and what their
 * ranks compare them by. What was measured of them is for whoever follows.
 */
#ifndef EPOP_LOOPS_FOLLOWER_H
#define EPOP_LOOPS_FOLLOWER_H

#include <cjson/cJSON.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/interpose.h"
#include "runtime/loops/loops.h"

/* What is told of a loop. Its places stay; the rest may become another when more of its calls are known. */
struct follower_told {
    _Atomic bool is_loop;
    _Atomic uint64_t id, match;
    _Atomic int outer; /* the lap; LOOPS_NONE: none */
    struct loops_site head, tail;
};

/* All zero at first. */
struct follower {
    /* for the thread that is followed alone */
    struct loops *loops; /* NULL: nothing was followed yet */
    struct loops_known known[LOOPS_NODES];
    int known_count, compared_edges;
    int64_t compared; /* when they were last */
    bool changed;     /* since then */
    /* for all */
    struct follower_told told[LOOPS_LAPS];
    _Atomic int told_count; /* whose places are there */
};

/*
 * The call that the calling thread's observers are being told of, at the time `now`, when so much time has been spent
 * in MPI; a lap that ends by it. What was found is made ready for others once in `pause` at most. Calls that have no
 * part in loops are none.
 */
struct loops_ended follower_called(struct follower *f, enum interpose_function function, int64_t now, int64_t mpi,
                                   int64_t pause);

/* The next call does not follow the last one: what was under way is over. The followed thread. */
void follower_begin_anew(struct follower *f);

/* What is under way is not measured. The followed thread. */
void follower_break(struct follower *f);

/* All that was found is made ready for others, if there is anything new. The followed thread. */
void follower_compare(struct follower *f);

void follower_free(struct follower *f);

/* ---- Any thread -------------------------------------------------------------------------------------------- */

/* Adds "id", "match", "head" and "tail" of the loop of that lap; false: it is none, or not known well enough yet. */
bool follower_describe(const struct follower *f, int lap, cJSON *json);

/* The lap of the loop around it; LOOPS_NONE: none. */
int follower_outer(const struct follower *f, int lap);

/* By which the loop is the same one on other ranks: its "match", or its "id" where that says nothing, as another loop
 * of this rank has it, too. 0: it is none. */
uint64_t follower_key(const struct follower *f, int lap);

/* The file that an address is in, and how far from its beginning. "": in none. */
const char *follower_file(uintptr_t address, uintptr_t *offset);

/* Adds a site under that name: "place" ("FILE+0x1234"), "from", "mpi". */
void follower_add_site(cJSON *json, const char *key, struct loops_site site);

#endif
