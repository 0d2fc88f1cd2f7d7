/* What is searched for when a call is not the one that was expected. */
#include "runtime/loops/loops.h"

#include <stdlib.h>
#include <string.h>

struct loops *loops_new(void)
{
    struct loops *l = calloc(1, sizeof *l);
    if (l)
        l->before = l->at = LOOPS_NONE;
    return l;
}

void loops_copy(struct loops *copy, const struct loops *l)
{
    memcpy(copy->nodes, l->nodes, sizeof *l->nodes * (size_t)l->node_count);
    memcpy(copy->edges, l->edges, sizeof *l->edges * (size_t)l->edge_count);
    copy->node_count = l->node_count;
    copy->edge_count = l->edge_count;
    copy->lost = l->lost;
    copy->unmeasured = l->unmeasured;
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
        .site = site, .out = LOOPS_NONE, .in = LOOPS_NONE, .head = LOOPS_NONE, .tail = LOOPS_NONE, .came.era = -1};
    *bucket = (int16_t)(l->node_count + 1);
    return l->node_count++;
}

/* From the present node to one that it has led to: it is expected from here on. LOOPS_NONE: it has not. */
static int expect(struct loops *l, struct loops_site site)
{
    int *first = &l->nodes[l->at].out;
    for (int *link = first; *link != LOOPS_NONE; link = &l->edges[*link].next_out)
        if (loops_are_same(l->nodes[l->edges[*link].to].site, site)) {
            int edge = *link;
            *link = l->edges[edge].next_out;
            l->edges[edge].next_out = *first;
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
    l->edges[l->edge_count] = (struct loops_edge){.from = from,
                                                  .to = to,
                                                  .next_out = l->nodes[from].out,
                                                  .next_in = l->nodes[to].in,
                                                  .lap = LOOPS_NONE,
                                                  .came.era = -1};
    l->nodes[from].out = l->nodes[to].in = l->edge_count;
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

/* LOOPS_NONE: no room. */
static int new_lap(struct loops *l, int edge)
{
    if (l->lap_count == LOOPS_LAPS) {
        l->unmeasured++;
        return LOOPS_NONE;
    }
    l->laps[l->lap_count] = (struct loops_lap){.head = l->edges[edge].to, .tail = l->edges[edge].from, .edge = edge};
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
        l->edges[edge].lap = new_lap(l, edge);
    return edge;
}

/* What is entered from behind a second time repeats, too. */
static void close_loop(struct loops *l, struct loops_edge *edge)
{
    struct loops_node *node = &l->nodes[l->at];
    if (edge->count > 1 || !reenters(l, l->before, l->at)) {
        edge->closes = l->closes = true;
        mark_loop(l, l->at, l->before);
        return;
    }
    node->reentries++;
    node->tail = l->before;
}

/* The nodes of a loop: a byte for each node that there is. How many. */
static int find_nodes(const struct loops *l, const struct loops_lap *lap, char *is_in)
{
    int stack[LOOPS_NODES], depth = 0, count = 1;
    memset(is_in, 0, (size_t)l->node_count);
    is_in[lap->head] = 1;
    if (!is_in[lap->tail])
        stack[depth++] = lap->tail;
    while (depth) {
        int node = stack[--depth];
        if (is_in[node])
            continue;
        is_in[node] = 1;
        count++;
        for (int edge = l->nodes[node].in; edge != LOOPS_NONE; edge = l->edges[edge].next_in)
            if (!is_in[l->edges[edge].from] && depth < LOOPS_NODES)
                stack[depth++] = l->edges[edge].from;
    }
    return count;
}

/* Which of the edges to the head begin in the loop. */
static void look_at_arrivals(struct loops *l, int index)
{
    char is_in[LOOPS_NODES];
    const struct loops_lap *lap = &l->laps[index];
    uint64_t bit = UINT64_C(1) << (index % 64);
    find_nodes(l, lap, is_in);
    for (int i = l->nodes[lap->head].in; i != LOOPS_NONE; i = l->edges[i].next_in) {
        uint64_t *inside = &l->edges[i].inside[index / 64];
        *inside = is_in[l->edges[i].from] ? *inside | bit : *inside & ~bit;
    }
    l->edges[lap->edge].known = l->edge_count;
}

static const struct loops_time *later(const struct loops_time *one, const struct loops_time *other)
{
    return other->era > one->era || (other->era == one->era && other->now > one->now) ? other : one;
}

/* When its present lap began. */
static const struct loops_time *find_begin(struct loops *l, int index)
{
    const struct loops_lap *lap = &l->laps[index];
    const struct loops_time *begin = later(&l->nodes[lap->head].came, &l->edges[lap->edge].came);
    if (l->edges[lap->edge].known != l->edge_count)
        look_at_arrivals(l, index);
    for (int i = l->nodes[lap->head].in; i != LOOPS_NONE; i = l->edges[i].next_in)
        if (!(l->edges[i].inside[index / 64] >> (index % 64) & 1))
            begin = later(begin, &l->edges[i].came);
    return begin;
}

struct loops_ended loops_come_back(struct loops *l, int edge, int64_t now, int64_t mpi)
{
    struct loops_ended ended = {.lap = LOOPS_NONE};
    int index = l->edges[edge].lap;
    if (!l->edges[edge].closes)
        close_loop(l, &l->edges[edge]);
    const struct loops_time *begin = index == LOOPS_NONE ? NULL : find_begin(l, index);
    if (begin && begin->era == l->era)
        ended = (struct loops_ended){.lap = index, .loop = now - begin->now, .mpi = mpi - begin->mpi};
    return ended;
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

struct region {
    char is_in[LOOPS_NODES];
    int count;
};

static bool is_loop(const struct loops *l, int lap)
{
    return l->edges[l->laps[lap].edge].closes;
}

/* Is all of the one in the other, which has more? Of two with the same nodes the one that was found later is inside. */
static bool is_within(const struct loops *l, const struct region *regions, int one, int other)
{
    bool within =
        regions[one].count < regions[other].count || (regions[one].count == regions[other].count && one > other);
    for (int n = 0; within && n < l->node_count; n++)
        within = !regions[one].is_in[n] || regions[other].is_in[n];
    return within;
}

static int find_outer(const struct loops *l, const struct region *regions, int lap)
{
    int outer = LOOPS_NONE;
    for (int i = 0; i < l->lap_count; i++)
        if (i != lap && is_loop(l, i) && is_within(l, regions, lap, i) &&
            (outer == LOOPS_NONE || is_within(l, regions, i, outer)))
            outer = i;
    return outer;
}

/* Each node belongs to the smallest loop that has it. */
static int innermost(const struct loops *l, const struct region *regions, int node)
{
    int found = LOOPS_NONE;
    for (int i = 0; i < l->lap_count; i++)
        if (is_loop(l, i) && regions[i].is_in[node] &&
            (found == LOOPS_NONE || regions[i].count <= regions[found].count))
            found = i;
    return found;
}

void loops_compare(const struct loops *l, const struct loops_known *known, struct loops_likeness *likeness)
{
    struct region *regions = malloc(sizeof *regions * (size_t)(l->lap_count + 1));
    for (int i = 0; i < l->lap_count; i++)
        likeness[i] = (struct loops_likeness){.outer = LOOPS_NONE};
    for (int i = 0; regions && i < l->lap_count; i++)
        regions[i].count = find_nodes(l, &l->laps[i], regions[i].is_in);
    for (int i = 0; regions && i < l->lap_count; i++)
        likeness[i].outer = find_outer(l, regions, i);
    for (int n = 0; regions && n < l->node_count; n++) {
        int lap = innermost(l, regions, n);
        if (lap == LOOPS_NONE)
            continue;
        likeness[lap].id += mix(known[n].id, 1);
        likeness[lap].match += known[n].kind == LOOPS_COLLECTIVE ? mix(known[n].id, 1) : 0;
    }
    for (int i = 0; i < l->lap_count; i++)
        if (!likeness[i].id) /* all that it has is in loops in it */
            likeness[i].id = mix(known[l->laps[i].head].id, known[l->laps[i].tail].id);
    free(regions);
}
