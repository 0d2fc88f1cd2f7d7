/*
 * How a kind of described data moves ahead of the window, by sockets (runtime/ahead/). What goes from one rank to
 * another are streams of elements, which both of them know. A rank may have to be told first how much comes, or who is
 * to have what: so there are rounds of numbers before the data, and a round is over on a rank when all that it gets in
 * it is there.
 */
#ifndef EPOP_DESCRIBE_ROUTE_H
#define EPOP_DESCRIBE_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "runtime/redist/exchange.h"
#include "runtime/redist/plan.h"

struct described;

enum route_round {
    ROUTE_FIRST,  /* who had what, and what it weighs */
    ROUTE_SHARES, /* who gets what */
    ROUTE_COUNTS, /* how much it is */
    ROUTE_DATA
};

enum route_copies {
    COPIES_TO_JOINING, /* rank 0's, to each joining rank */
    COPIES_TO_ALL,     /* rank 0's, to each other rank */
    COPIES_OF_EACH,    /* each old rank's, to each other rank, where they lie in the order of the old ranks */
    COPIES_APART       /* likewise, but others for each: they lie in the order of the ranks where they come from, too */
};

/* From each rank of the window to each other one: by the plan, or copies. */
struct route_stream {
    redist_element element;
    const redist_plan *plan;
    const redist_rows *rows; /* NULL: the plan is of the elements themselves */
    int64_t copies;          /* above 0: so many elements, and no plan */
    enum route_copies which;
    const void *before;
    void *after;
};

#define ROUTE_KEPT 6

/* Of one entry. It stays where it is once it is stepped: the plan points into it. */
struct describe_route {
    bool planned;  /* the plan, or the copies, are known */
    bool anywhere; /* each old rank may have something for each new one, as long as that is not so */
    redist_plan plan;
    int64_t copies;           /* of a table that all have */
    redist_lists lists;       /* the plan's, where it is by lists */
    redist_rows rows;         /* the plan's, where it is of rows */
    bool by_rows;             /* it is */
    struct route_stream head; /* in the present round; elements of no size: nothing */
    void *made;               /* the new block of a part that does not move; owned until it is handed over */
    void *kept[ROUTE_KEPT];   /* the kind's own; freed with the route */
    const void *there;        /* the kind's own; not the route's */
    int64_t number;           /* the kind's own; of one that leads the same on all ranks */
    uint64_t checksum;        /* of what it has listed, the same on all ranks that list */
};

/* A part of an entry: a pointer of the program's, which gets a new block. */
struct route_part {
    void **local;
    MPI_Datatype type;
    bool made; /* route->made is the new one */
};

/*
 * What a kind does. All of it is local. Functions with an error return 0, or -1 with text: all moves in the window
 * then. `window` is the one to come, and stays valid; `step` runs on another thread while the program computes, without
 * MPI.
 */
struct route_kind {
    /* Cuts and partitions, by which others move: if one is not what it was, nothing that came counts. Without flags,
     * and parts. */
    bool leads;
    /* Can this one? The same on all ranks. */
    bool (*goes)(const struct described *entry);
    /* On the program's thread: keeps what may change, and what needs MPI to be known. size: of the new ranks. here: its
     * data is here, which on a joining rank is to come. NULL: nothing. */
    int (*list)(const struct described *entry, int size, bool here, struct describe_route *route, struct error *error);
    /* Before each round, and last before the data: sets the head, and the plan as soon as it is known. */
    int (*step)(const struct described *entry, const epop_window_t *window, struct describe_route *route,
                enum route_round round, struct error *error);
    /* Part number i. False: there are no more. NULL: one, `local`. */
    bool (*part)(const struct described *entry, int i, struct route_part *part);
    /* In the window, of one that leads, on an old rank: is it still what was listed, besides its terms? NULL: yes. */
    bool (*same)(const struct describe_route *route, const struct described *now);
    /* In the window: sets what is not a part. NULL: nothing. */
    void (*take)(const struct described *now, const epop_window_t *window, struct describe_route *route);
};

/* Numbers as elements: of 64 bits, and of MPI_INT. */
extern const redist_element route_number, route_int;

/* Elements that go from one rank of the window to another, of which one is this rank. */
int64_t route_elements(const struct route_stream *stream, const epop_window_t *window, int from, int to);

/* What this rank keeps of a head. */
void route_keep_own(const struct route_stream *stream, const epop_window_t *window, int me);

void route_free(struct describe_route *route);

/* ---- What kinds share --------------------------------------------------------------------------- */

void route_plan_dists(struct describe_route *route, const epop_window_t *window, epop_dist_t before, epop_dist_t after);
/* By the route's lists. */
void route_plan_lists(struct describe_route *route, const epop_window_t *window);
/* Room for so many elements, which goes with the route. False with text. */
bool route_keep(struct describe_route *route, int place, int64_t count, const redist_element *element,
                struct error *error);

/* Is this rank's part as it will be? For a plan that is known. */
bool route_stays(const struct describe_route *route, const epop_window_t *window);

#endif
