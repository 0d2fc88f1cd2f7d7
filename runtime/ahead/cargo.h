/*
 * The constant data of a description that can move ahead of the window: this rank's old blocks, which the program reads
 * meanwhile, and new blocks beside them, which take the place of the old ones in the window.
 */
#ifndef EPOP_AHEAD_CARGO_H
#define EPOP_AHEAD_CARGO_H

#include <stdbool.h>

#include "runtime/describe/describe.h"
#include "runtime/redist/element.h"
#include "runtime/redist/exchange.h"

struct cargo_item {
    struct described *entry; /* of the cargo's description */
    redist_terms terms;
    redist_element element;
    const void *before;
    struct describe_route route;
    void *old;   /* what it took the place of in the window; owned */
    void *after; /* owned, until it is handed over */
    bool stays;  /* what this rank has is what it will have */
    bool handed_over;
};

struct cargo {
    epop_description_t description;
    struct cargo_item *items;
    int count;
    uint64_t hash;         /* of all names and terms */
    epop_window_t *window; /* of the routes; cargo_route's, as the next one */
    int me;
};

/* Runs the block (as describe_run), and keeps what can move ahead. On the program's thread. NULL with text. Local. */
struct cargo *cargo_list(enum describe_mode mode, void (*block)(void *, epop_description_t *), void *data,
                         const char *values, size_t value_bytes, struct error *error);

/* By the window that is to come, which stays valid, and this rank in window->all: routes and new blocks. Any thread.
 * 0, or -1 with text. Local. */
int cargo_route(struct cargo *cargo, epop_window_t *window, int me, struct error *error);

/* Of this rank's part, as it is now: of how many bytes. */
int64_t cargo_size(const struct cargo *cargo, int rank, int size);

/* What goes from one rank of the window to another, of which one is this rank; a copy has no stream. */
int64_t cargo_bytes(const struct cargo *cargo, int from, int to);
int64_t cargo_item_elements(const struct cargo_item *item, int from, int to);

/* In the window: the new blocks of entries that are as they were take the place of the old ones, and are marked, with
 * the bytes that came here. Local, with the same result on all ranks. */
void cargo_hand_over(struct cargo *cargo, epop_description_t *d);

/* With the new blocks that were not handed over. */
void cargo_free(struct cargo *cargo);

#endif
