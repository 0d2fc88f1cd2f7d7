/*
 * The loops of a program that says nothing, found in the sequence of its MPI calls while it runs (dissertation of
 * I. Comprés, section 10.2.1). Pure: where a call comes from, what it is, and what time it is, are handed in.
 *
 * Each place in the program that calls MPI (a *site*) is a *node*, numbered in the order of first calls; each pair of
 * calls that came one after the other is an *edge*. An edge to a node with the same or a lower number goes *back*: its
 * end is the *head* of a loop, its begin the loop's *tail*, and what is numbered between them its *body*. A call that
 * comes back into the body of a loop from behind it, past the head, is a *re-entry*.
 *
 * These marks are as the dissertation has them, and depend on what was called first. What is measured does not: the
 * loop of an edge back consists of the nodes from which its tail is reached without passing its head, and of its head
 * (the natural loop of compilers). A *lap* is from an arrival at the head, by that edge or from outside of the loop, to
 * the next one by that edge.
 *
 * A call that follows as one before it did is found by one comparison; only others are searched for.
 */
#ifndef EPOP_LOOPS_LOOPS_H
#define EPOP_LOOPS_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOOPS_NODES 1024 /* sites that are known */
#define LOOPS_EDGES 4096
#define LOOPS_LAPS  128 /* loops whose laps are measured */
#define LOOPS_NONE  (-1)

#define LOOPS_BUCKETS (2 * LOOPS_NODES)

/* Where a call comes from. */
struct loops_site {
    uintptr_t call;   /* the address behind it */
    uintptr_t caller; /* that behind the call of the function that it is in; 0: not known */
    int what;         /* the function that is called */
};

/* When the program was at a place last, MPI time by then, and in which era that was. */
struct loops_time {
    int64_t now, mpi, era;
};

struct loops_node {
    struct loops_site site;
    int out;      /* the one of the edges from here that was followed last; LOOPS_NONE: none */
    int in;       /* the first of the edges to here; LOOPS_NONE: none */
    int head;     /* of the innermost loop whose body it is in; LOOPS_NONE: in no body */
    int tail;     /* of a head: its loop's, the last one's; of another: from where it was re-entered last */
    bool is_head; /* of a loop */
    int64_t visits, reentries;
    int64_t spent;          /* in MPI, in calls from there that another one followed in the same era */
    struct loops_time came; /* by no edge: it is not known from where */
};

struct loops_edge {
    int from, to;
    int next_out, next_in;
    int lap;     /* LOOPS_NONE: it does not go back, or its loop is one too many */
    bool closes; /* a loop: it does not only re-enter one */
    int64_t count;
    int64_t took; /* from one call to the other, in one era */
    struct loops_time came;
    /* Of each loop with this edge's end as head: is its begin in that loop, too? By `known` edges. */
    uint64_t inside[LOOPS_LAPS / 64];
    int known;
};

/* The loop of an edge back. */
struct loops_lap {
    int head, tail, edge;
};

struct loops {
    struct loops_node nodes[LOOPS_NODES];
    struct loops_edge edges[LOOPS_EDGES];
    struct loops_lap laps[LOOPS_LAPS];
    int16_t buckets[LOOPS_BUCKETS]; /* 1 + the node of a site; 0: none */
    int node_count, edge_count, lap_count;
    int before, at;           /* the nodes of the last two calls; LOOPS_NONE: none */
    bool closes;              /* the last call was the first that closed its loop */
    struct loops_time called; /* the last call */
    int64_t era;              /* what began in another one is not told */
    int64_t lost;             /* calls that could not be followed, as there was no room */
    int64_t unmeasured;       /* loops beyond those whose laps are measured */
};

/* NULL: out of memory. The caller frees it with free(). */
struct loops *loops_new(void);

/* What is known of nodes and edges, for a reader; laps cannot be followed in the copy. */
void loops_copy(struct loops *copy, const struct loops *l);

/* A lap that has ended. */
struct loops_ended {
    int lap;           /* LOOPS_NONE: none */
    int64_t loop, mpi; /* how long it took, and how much of that was in MPI */
};

/*
 * The next call: from that site, at the time `now`, when so much time has been spent in MPI. A lap that began in
 * another era is not told.
 */
static inline struct loops_ended loops_follow(struct loops *l, struct loops_site site, int64_t now, int64_t mpi);

/* What is under way is not measured: the program was held, or the world is another one. */
static inline void loops_break(struct loops *l)
{
    l->era++;
}

/* What the last call was. */
enum loops_event {
    LOOPS_LOST,         /* not followed, or there was none */
    LOOPS_OUTSIDE,      /* of all loops */
    LOOPS_FOUND,        /* the end of a loop's first lap */
    LOOPS_INSIDE,       /* a loop */
    LOOPS_BODY_REENTRY, /* into the body of a loop, from behind it */
    LOOPS_HEAD_REENTRY  /* to the head of a loop, from outside */
};
enum loops_event loops_event(const struct loops *l);

/* The head of the innermost loop that a node belongs to, itself if it is one; LOOPS_NONE: it is in no loop. */
int loops_head(const struct loops *l, int node);

/* ---- What is told of a loop to others -------------------------------------------------------------------- */

/* What a call does (interpose_kind). */
enum loops_kind { LOOPS_COLLECTIVE = 'c', LOOPS_POINT = 'p', LOOPS_ONE_SIDED = 'o', LOOPS_FILE = 'f' };

/* Of each node: its kind, and a number for its site that is the same in all processes. */
struct loops_known {
    char kind;
    uint64_t id;
};

/*
 * By this the loops of several ranks are compared, wherever in a loop they began to be followed. Ranks of one program
 * make the same collective operations in a loop, and send, receive and write each in its own way: those have no part in
 * it, unless a loop has nothing else. What is in loops in it has none.
 */
struct loops_likeness {
    uint64_t id;    /* of all its sites */
    uint64_t match; /* of its collective operations; 0: there are none */
    int outer;      /* the lap of the smallest loop around it; LOOPS_NONE: there is none */
};

/* known: of each node; likeness: of each lap. One whose edge only re-enters a loop is of no loop. Takes its time. */
void loops_compare(const struct loops *l, const struct loops_known *known, struct loops_likeness *likeness);

/* ---- For loops_follow ------------------------------------------------------------------------------------ */

/* From the present node to that site, made if it is new; the present node is another one then. LOOPS_NONE: there is no
 * edge, as nothing was known before, or as there is no room. */
int loops_search(struct loops *l, struct loops_site site);

/* The present node was reached by that edge, which goes back, and whose own time is still that of before. */
struct loops_ended loops_come_back(struct loops *l, int edge, int64_t now, int64_t mpi);

static inline bool loops_are_same(struct loops_site one, struct loops_site other)
{
    return one.call == other.call && one.caller == other.caller && one.what == other.what;
}

static inline struct loops_ended loops_follow(struct loops *l, struct loops_site site, int64_t now, int64_t mpi)
{
    struct loops_ended ended = {.lap = LOOPS_NONE};
    int edge = l->at == LOOPS_NONE ? LOOPS_NONE : l->nodes[l->at].out;
    l->before = l->at;
    l->closes = false;
    if (edge != LOOPS_NONE && loops_are_same(l->nodes[l->edges[edge].to].site, site))
        l->at = l->edges[edge].to;
    else
        edge = loops_search(l, site);
    if (l->at == LOOPS_NONE)
        return ended;
    struct loops_time last = l->called;
    l->called = (struct loops_time){now, mpi, l->era};
    l->nodes[l->at].visits++;
    if (edge == LOOPS_NONE) {
        l->nodes[l->at].came = l->called;
        return ended;
    }
    l->edges[edge].count++;
    if (last.era == l->era) {
        l->edges[edge].took += now - last.now;
        l->nodes[l->before].spent += mpi - last.mpi;
    }
    if (l->at <= l->before)
        ended = loops_come_back(l, edge, now, mpi);
    l->edges[edge].came = l->called;
    return ended;
}

#endif
