/* What is searched for when a call is not the one that was expected. */
#include "runtime/loops/loops.h"

#include <stdlib.h>

struct loops *loops_new(void)
{
    struct loops *l = calloc(1, sizeof *l);
    if (l)
        l->before = l->at = LOOPS_NONE;
    return l;
}

/* ---- Nodes and edges --------------------------------------------------------------------------------------- */

/* Where the site is, or would be. */
static int16_t *bucket_of(struct loops *l, struct loops_site site)
{
    uint64_t hash =
        ((uint64_t)site.call + (uint64_t)site.caller * 31 + (uint64_t)site.what) * UINT64_C(0x9E3779B97F4A7C15);
    for (unsigned i = (unsigned)(hash >> 40);; i++) {
        int16_t *bucket = &l->buckets[i % LOOPS_BUCKETS];
        if (!*bucket || loops_are_same(l->nodes[*bucket - 1].site, site))
            return bucket;
    }
}

/* LOOPS_NONE: there is no room. */
static int node_of(struct loops *l, struct loops_site site)
{
    int16_t *bucket = bucket_of(l, site);
    if (*bucket)
        return *bucket - 1;
    if (l->node_count == LOOPS_NODES)
        return LOOPS_NONE;
    l->nodes[l->node_count] = (struct loops_node){
        .site = site, .edges = LOOPS_NONE, .laps = LOOPS_NONE, .head = LOOPS_NONE, .tail = LOOPS_NONE, .era = -1};
    *bucket = (int16_t)(l->node_count + 1);
    return l->node_count++;
}

/* From the present node to one that it has led to: it is expected from here on. LOOPS_NONE: it has not. */
static int expect(struct loops *l, struct loops_site site)
{
    int *first = &l->nodes[l->at].edges;
    for (int *link = first; *link != LOOPS_NONE; link = &l->edges[*link].next)
        if (loops_are_same(l->nodes[l->edges[*link].to].site, site)) {
            int edge = *link;
            *link = l->edges[edge].next;
            l->edges[edge].next = *first;
            *first = edge;
            return edge;
        }
    return LOOPS_NONE;
}

/* LOOPS_NONE: there is no room. */
static int new_edge(struct loops *l, int from, int to)
{
    if (l->edge_count == LOOPS_EDGES)
        return LOOPS_NONE;
    l->edges[l->edge_count] = (struct loops_edge){.to = to, .next = l->nodes[from].edges, .lap = LOOPS_NONE};
    l->nodes[from].edges = l->edge_count;
    return l->edge_count++;
}

/* ---- Loops ------------------------------------------------------------------------------------------------- */

int loops_head(const struct loops *l, int node)
{
    return l->nodes[node].is_head ? node : l->nodes[node].head;
}

/* Does a call from there come into the body of a loop, past its head, from behind? */
static bool reenters(const struct loops *l, int from, int to)
{
    const struct loops_node *node = &l->nodes[to];
    return !node->is_head && node->head != LOOPS_NONE && from > l->nodes[node->head].tail;
}

/* All between head and tail belongs to it, but to a loop in it first. */
static void mark_loop(struct loops *l, int head, int tail)
{
    struct loops_node *node = &l->nodes[head];
    if (!node->is_head || node->tail < tail)
        node->tail = tail;
    node->is_head = true;
    for (int n = head + 1; n <= tail; n++)
        if (l->nodes[n].head < head)
            l->nodes[n].head = head;
}

/* The smallest loop with that head around another one; NULL: there is none. */
static const struct loops_lap *around(const struct loops *l, int head, int tail)
{
    const struct loops_lap *smallest = NULL;
    for (int i = l->nodes[head].laps; i != LOOPS_NONE; i = l->laps[i].next)
        if (l->laps[i].tail > tail && (!smallest || l->laps[i].tail < smallest->tail))
            smallest = &l->laps[i];
    return smallest;
}

/* The first one began with that of the loop around it, or at the last arrival from before. LOOPS_NONE: no room. */
static int new_lap(struct loops *l, int head, int tail)
{
    struct loops_node *node = &l->nodes[head];
    const struct loops_lap *outer = around(l, head, tail);
    if (l->lap_count == LOOPS_LAPS) {
        l->unmeasured++;
        return LOOPS_NONE;
    }
    l->laps[l->lap_count] = (struct loops_lap){.head = head,
                                               .tail = tail,
                                               .next = node->laps,
                                               .began = outer ? outer->began : node->entered,
                                               .mpi = outer ? outer->mpi : node->mpi,
                                               .era = outer ? outer->era : node->era};
    node->laps = l->lap_count;
    return l->lap_count++;
}

int loops_search(struct loops *l, struct loops_site site)
{
    int from = l->at, edge = from == LOOPS_NONE ? LOOPS_NONE : expect(l, site);
    if (edge != LOOPS_NONE) {
        l->at = l->edges[edge].to;
        return edge;
    }
    l->at = node_of(l, site);
    if (from != LOOPS_NONE && l->at != LOOPS_NONE)
        edge = new_edge(l, from, l->at);
    if (l->at == LOOPS_NONE || (from != LOOPS_NONE && edge == LOOPS_NONE))
        l->lost++;
    if (edge != LOOPS_NONE && l->at <= from)
        l->edges[edge].lap = new_lap(l, l->at, from);
    return edge;
}

/* What is entered from behind a second time repeats, too. */
static void close_loop(struct loops *l, struct loops_edge *edge)
{
    struct loops_node *node = &l->nodes[l->at];
    if (edge->count > 1 || !reenters(l, l->before, l->at)) {
        edge->closes = l->closes = true;
        if (edge->lap != LOOPS_NONE)
            l->laps[edge->lap].closes = true;
        mark_loop(l, l->at, l->before);
        return;
    }
    node->reentries++;
    node->tail = l->before;
}

/* Loops around the one that the edge belongs to are still in the same lap. */
static void begin_inner(struct loops *l, int64_t now, int64_t mpi)
{
    for (int i = l->nodes[l->at].laps; i != LOOPS_NONE; i = l->laps[i].next) {
        struct loops_lap *lap = &l->laps[i];
        if (lap->tail > l->before)
            continue;
        lap->began = now;
        lap->mpi = mpi;
        lap->era = l->era;
    }
}

struct loops_ended loops_come_back(struct loops *l, int edge, int64_t now, int64_t mpi)
{
    struct loops_ended ended = {.lap = LOOPS_NONE};
    int index = l->edges[edge].lap;
    if (index != LOOPS_NONE && l->laps[index].era == l->era)
        ended = (struct loops_ended){.lap = index, .loop = now - l->laps[index].began, .mpi = mpi - l->laps[index].mpi};
    if (!l->edges[edge].closes)
        close_loop(l, &l->edges[edge]);
    begin_inner(l, now, mpi);
    return ended;
}

void loops_begin(struct loops *l, int head, int64_t now, int64_t mpi)
{
    for (int i = l->nodes[head].laps; i != LOOPS_NONE; i = l->laps[i].next) {
        l->laps[i].began = now;
        l->laps[i].mpi = mpi;
        l->laps[i].era = l->era;
    }
}

enum loops_event loops_event(const struct loops *l)
{
    int head = l->at == LOOPS_NONE ? LOOPS_NONE : loops_head(l, l->at);
    if (l->at == LOOPS_NONE)
        return LOOPS_LOST;
    if (head == LOOPS_NONE)
        return LOOPS_OUTSIDE;
    if (l->closes)
        return LOOPS_FOUND;
    if (reenters(l, l->before, l->at))
        return LOOPS_BODY_REENTRY;
    if (head == l->at && (l->before < head || l->before > l->nodes[head].tail))
        return LOOPS_HEAD_REENTRY;
    return LOOPS_INSIDE;
}

/* ---- Loops of several ranks -------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t one, uint64_t other)
{
    uint64_t mixed =
        (one ^ (other + UINT64_C(0x9E3779B97F4A7C15) + (one << 6) + (one >> 2))) * UINT64_C(0xBF58476D1CE4E5B9);
    return mixed ^ (mixed >> 31);
}

/* The smallest loop that has all of this one. */
static int lap_around(const struct loops *l, int lap)
{
    const struct loops_lap *is = &l->laps[lap];
    int best = LOOPS_NONE;
    for (int i = 0; i < l->lap_count; i++) {
        const struct loops_lap *other = &l->laps[i];
        bool inside = i != lap && other->closes && other->head <= is->head && other->tail >= is->tail;
        if (inside && (best == LOOPS_NONE || other->tail - other->head < l->laps[best].tail - l->laps[best].head))
            best = i;
    }
    return best;
}

/* A loop that is before this one, and is gone back into from here, past its head. */
static int lap_re_entered(const struct loops *l, int lap)
{
    const struct loops_lap *is = &l->laps[lap];
    for (int i = 0; i < l->lap_count; i++) {
        const struct loops_lap *back = &l->laps[i];
        if (back->closes || back->tail < is->head || back->tail > is->tail || back->head >= is->head)
            continue;
        for (int into = 0; into < l->lap_count; into++)
            if (l->laps[into].closes && l->laps[into].head == l->nodes[back->head].head)
                return into;
    }
    return LOOPS_NONE;
}

bool loops_compare(const struct loops *l, int lap, const struct loops_known *known, struct loops_likeness *likeness)
{
    const struct loops_lap *is = &l->laps[lap];
    *likeness = (struct loops_likeness){.id = mix(known[is->head].id, known[is->tail].id), .outer = lap_around(l, lap)};
    for (int n = is->head; n <= is->tail; n++)
        if (loops_head(l, n) == is->head && known[n].kind == LOOPS_COLLECTIVE)
            likeness->match += mix(known[n].id, 1);
    if (likeness->outer == LOOPS_NONE)
        likeness->outer = lap_re_entered(l, lap);
    return is->closes;
}
