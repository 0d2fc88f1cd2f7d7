/*
 * The constant data of a description that can move ahead of the window: this rank's old blocks, which the program reads
 * meanwhile, and new blocks beside them, which take the place of the old ones in the window.
 */
#ifndef EPOP_AHEAD_CARGO_H
#define EPOP_AHEAD_CARGO_H

#include <stdbool.h>

#include "runtime/describe/describe.h"
#include "runtime/describe/route.h"
#include "runtime/redist/element.h"
#include "runtime/redist/exchange.h"

struct cargo_part {
    redist_element element;
    bool made; /* it is made here, and does not travel */
    const void *before;
    void *old;   /* what it took the place of in the window; owned */
    void *after; /* owned, until it is handed over */
};

struct cargo_item {
    struct described *entry; /* of the cargo's description */
    redist_terms terms;
    struct describe_route route;
    struct cargo_part *parts;
    int count;
    int64_t received; /* bytes that come here from other ranks */
    bool stays;       /* what this rank has is what it will have */
    bool handed_over;
};

struct cargo {
    epop_description_t description;
    struct cargo_item *items;
    int count;
    int size;              /* of the new ranks, as it was listed */
    uint64_t hash;         /* of all names and terms */
    uint64_t listed;       /* likewise, and of what the ranks that list have to have alike */
    epop_window_t *window; /* of the routes; cargo_route's, as the next three */
    int me;
    enum route_round round;       /* ROUTE_DATA: the last one */
    struct route_stream *streams; /* in the order in which they go: those of all rounds until now */
    int stream_count;
    int data; /* those of ROUTE_DATA begin here */
};

/* Runs the block (as describe_run), and keeps what can move ahead to so many ranks; 0: it is only looked for. On the
 * program's thread. NULL with text. Local. */
struct cargo *cargo_list(enum describe_mode mode, int size, void (*block)(void *, epop_description_t *), void *data,
                         const char *values, size_t value_bytes, struct error *error);

/* By the window that is to come, which stays valid, and this rank in window->all: the streams of the first round. Any
 * thread. 0, or -1 with text. Local. */
int cargo_route(struct cargo *cargo, epop_window_t *window, int me, struct error *error);

/* What comes here in this round is here: those of the next one, before ROUTE_DATA with the new blocks. As above. */
int cargo_next(struct cargo *cargo, struct error *error);

/* Of this rank's part, as it is now: of how many bytes. */
int64_t cargo_size(const struct cargo *cargo, int rank, int size);

/* Once it is routed: may something go from one rank of the window to another, of which one is this rank? */
bool cargo_goes(const struct cargo *cargo, int from, int to);

/* In the window, before the ranks agree on its description: can it be used for that? Local. */
bool cargo_fits(const struct cargo *cargo, const epop_description_t *now);

/* In the window: the new blocks of entries that are as they were take the place of the old ones, and are marked, with
 * the bytes that came here. Local, with the same result on all ranks. */
void cargo_hand_over(struct cargo *cargo, epop_description_t *now);

/* With the new blocks that were not handed over. */
void cargo_free(struct cargo *cargo);

#endif
