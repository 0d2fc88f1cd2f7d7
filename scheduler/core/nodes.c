/* The nodes of the machine: who holds each, and a bitmap of those that are idle. */
#include "scheduler/core/nodes.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define WORD 64

int nodes_init(struct nodes *nodes, int count)
{
    *nodes = (struct nodes){.items = calloc((size_t)count, sizeof *nodes->items),
                            .free = calloc((size_t)count / WORD + 1, sizeof *nodes->free),
                            .count = count,
                            .idle = count};
    if (!nodes->items || !nodes->free) {
        nodes_free(nodes);
        return -1;
    }
    for (int i = 0; i < count; i++) {
        nodes->items[i] = (epop_policy_node_t){.state = EPOP_NODE_IDLE, .job = -1, .leaf = -1, .speed = 1};
        nodes->free[i / WORD] |= UINT64_C(1) << i % WORD;
    }
    return 0;
}

void nodes_free(struct nodes *nodes)
{
    free(nodes->items);
    free(nodes->free);
    free(nodes->below);
    free(nodes->leaves);
    free(nodes->quick);
    free(nodes->speeds);
    *nodes = (struct nodes){0};
}

/* The first one from `from` on that may be chosen, or that may not; `count` if there is none. */
static int next_node(const struct nodes *nodes, int from, int usable)
{
    int word = from / WORD, last = nodes->count / WORD;
    uint64_t mask = ~UINT64_C(0) << from % WORD;
    for (; word <= last; word++, mask = ~UINT64_C(0)) {
        uint64_t bits = (usable ? nodes->usable[word] : ~nodes->usable[word]) & mask;
        if (bits) {
            int found = word * WORD + __builtin_ctzll(bits);
            return found < nodes->count ? found : nodes->count;
        }
    }
    return nodes->count;
}

/* Where the shortest run of at least that length begins; `count` of all if there is none. */
static int best_run(const struct nodes *nodes, int length)
{
    int best = nodes->count, shortest = nodes->count + 1;
    int begin = next_node(nodes, 0, 1);
    while (begin < nodes->count && shortest > length) {
        int end = next_node(nodes, begin, 0);
        if (end - begin >= length && end - begin < shortest) {
            best = begin;
            shortest = end - begin;
        }
        begin = end < nodes->count ? next_node(nodes, end, 1) : end;
    }
    return best;
}

static void choose_near(const struct nodes *nodes, int count, int *chosen)
{
    int begin = best_run(nodes, count), node = begin < nodes->count ? begin : 0;
    for (int i = 0; i < count; i++, node++) {
        node = next_node(nodes, node, 1);
        chosen[i] = node;
    }
}

/* ---- By switches -------------------------------------------------------------------------------- */

/* `below` counts what is still to be looked at below each switch: nodes that may be chosen, or those of a job. */

int nodes_set_topology(struct nodes *nodes, const struct topology *topology)
{
    free(nodes->below);
    free(nodes->leaves);
    nodes->below = calloc((size_t)topology->count + 1, sizeof *nodes->below);
    nodes->leaves = calloc((size_t)topology->count + 1, sizeof *nodes->leaves);
    if (!nodes->below || !nodes->leaves)
        return -1;
    nodes->topology = topology;
    for (int i = 0; i < nodes->count; i++)
        nodes->items[i].leaf = topology->leaves[i];
    return 0;
}

/* `more` of them below that switch. */
static void count_below(const struct nodes *nodes, int at, int more)
{
    for (; at >= 0; at = topology_above(nodes->topology, at))
        nodes->below[at] += more;
}

static void count_none(const struct nodes *nodes)
{
    memset(nodes->below, 0, ((size_t)nodes->topology->count + 1) * sizeof *nodes->below);
}

static void count_usable(const struct nodes *nodes)
{
    count_none(nodes);
    for (int i = next_node(nodes, 0, 1); i < nodes->count; i = next_node(nodes, i + 1, 1))
        count_below(nodes, nodes->items[i].leaf, 1);
}

/* The chosen ones so far, which are no longer to be looked at. */
struct chosen {
    int *list;
    int count;
};

static bool is_usable(const struct nodes *nodes, int node)
{
    return nodes->usable[node / WORD] >> node % WORD & 1;
}

/* Where among the nodes of a leaf the shortest run of at least so many neighbours that may be chosen begins; 0: there
 * is none. */
static int run_below(const struct nodes *nodes, const struct topology_branch *leaf, int length)
{
    int best = 0, shortest = leaf->count + 1;
    for (int i = 0, end; i < leaf->count; i = end) {
        for (end = i; end < leaf->count && is_usable(nodes, leaf->members[end]) &&
                      leaf->members[end] - leaf->members[i] == end - i;)
            end++;
        if (end - i >= length && end - i < shortest) {
            best = i;
            shortest = end - i;
        }
        end += end == i;
    }
    return best;
}

/* Neighbours by number, where there are. */
static void choose_below_leaf(const struct nodes *nodes, int at, int count, struct chosen *chosen)
{
    const struct topology_branch *leaf = &nodes->topology->branches[at];
    int i = run_below(nodes, leaf, count);
    count_below(nodes, at, -count);
    for (; count > 0; i++)
        if (is_usable(nodes, leaf->members[i])) {
            chosen->list[chosen->count++] = leaf->members[i];
            count--;
        }
}

/* Has `one` to be taken rather than `other`, by what is below them? The fewest that will do, else the most. */
static bool fits_better(int one, int other, int count)
{
    if ((one >= count) != (other >= count))
        return one >= count;
    return one >= count ? one < other : one > other;
}

/* Of these switches; -1: nothing is below any. */
static int best_switch(const struct nodes *nodes, const struct topology_branch *branch, int count)
{
    int best = -1;
    for (int i = 0; i < branch->count; i++) {
        int at = branch->members[i];
        if (nodes->below[at] > 0 && (best < 0 || fits_better(nodes->below[at], nodes->below[best], count)))
            best = at;
    }
    return best;
}

static void choose_below(const struct nodes *nodes, int at, int count, struct chosen *chosen)
{
    const struct topology_branch *branch = &nodes->topology->branches[at];
    if (branch->leaf) {
        choose_below_leaf(nodes, at, count, chosen);
        return;
    }
    while (count > 0) {
        int next = best_switch(nodes, branch, count), few = nodes->below[next] < count ? nodes->below[next] : count;
        choose_below(nodes, next, few, chosen);
        count -= few;
    }
}

static int height_of(const struct topology *topology, int at)
{
    int height = 0;
    for (const struct topology_branch *branch = &topology->branches[at]; !branch->leaf && branch->count > 0; height++)
        branch = &topology->branches[branch->members[0]];
    return height;
}

/* The lowest that has so many, of several the one with the fewest. */
static int lowest_switch(const struct nodes *nodes, int count)
{
    int best = nodes->topology->count, lowest = height_of(nodes->topology, best);
    for (int at = 0; at < nodes->topology->count; at++) {
        int height = nodes->below[at] < count ? lowest + 1 : height_of(nodes->topology, at);
        if (height < lowest || (height == lowest && nodes->below[at] < nodes->below[best])) {
            best = at;
            lowest = height;
        }
    }
    return best;
}

/* Below the leaf switches of the job itself, as many as there are. */
static int choose_at_home(const struct nodes *nodes, const int *list, int held, int count, struct chosen *chosen)
{
    while (count > 0) {
        int best = -1;
        for (int i = 0; i < held; i++) {
            int at = nodes->items[list[i]].leaf;
            if (nodes->below[at] > 0 && (best < 0 || fits_better(nodes->below[at], nodes->below[best], count)))
                best = at;
        }
        if (best < 0)
            break;
        int few = nodes->below[best] < count ? nodes->below[best] : count;
        choose_below(nodes, best, few, chosen);
        count -= few;
    }
    return count;
}

static bool is_below(const struct topology *topology, int at, int above)
{
    while (at >= 0 && at != above)
        at = topology_above(topology, at);
    return at == above;
}

/* The lowest switch that has so many and that all these are below. */
static int common_switch(const struct nodes *nodes, const int *list, int held, int count)
{
    int at = nodes->items[list[0]].leaf;
    for (int i = 1; i < held; i++)
        while (!is_below(nodes->topology, nodes->items[list[i]].leaf, at))
            at = topology_above(nodes->topology, at);
    while (nodes->below[at] < count)
        at = topology_above(nodes->topology, at);
    return at;
}

static int ascending(const void *one, const void *other)
{
    return *(const int *)one - *(const int *)other;
}

static void choose_by_switches(const struct nodes *nodes, const int *list, int held, int count, int *chosen)
{
    struct chosen all = {.list = chosen};
    count_usable(nodes);
    int more = choose_at_home(nodes, list, held, count, &all);
    if (more)
        choose_below(nodes, held ? common_switch(nodes, list, held, more) : lowest_switch(nodes, more), more, &all);
    qsort(chosen, (size_t)count, sizeof *chosen, ascending);
}

/* ---- By speed ----------------------------------------------------------------------------------- */

int nodes_set_speed(struct nodes *nodes, int node, double speed)
{
    if (!nodes->quick) {
        nodes->quick = calloc((size_t)nodes->count / WORD + 1, sizeof *nodes->quick);
        nodes->speeds = calloc((size_t)nodes->count, sizeof *nodes->speeds);
    }
    if (!nodes->quick || !nodes->speeds)
        return -1;
    nodes->items[node].speed = speed;
    return 0;
}

double nodes_slowest(const struct nodes *nodes, const int *list, int count)
{
    double slowest = INFINITY;
    for (int i = 0; i < count; i++)
        slowest = fmin(slowest, nodes->items[list[i]].speed);
    return slowest;
}

static int descending(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a < b) - (a > b);
}

/* Of all idle ones, sorted; how many there are. */
static int sort_speeds(const struct nodes *nodes)
{
    int idle = 0;
    for (int i = 0; i < nodes->count; i++)
        if (nodes->items[i].state == EPOP_NODE_IDLE)
            nodes->speeds[idle++] = nodes->items[i].speed;
    qsort(nodes->speeds, (size_t)idle, sizeof *nodes->speeds, descending);
    return idle;
}

/* Those with speeds from `least` on, up to what is needed to have so many: no slower than the job is, where there are
 * enough of them. */
static void limit_speed(struct nodes *nodes, const int *list, int held, int count)
{
    int idle = sort_speeds(nodes), enough = count;
    double least = fmin(nodes->speeds[count - 1], nodes_slowest(nodes, list, held));
    while (enough < idle && nodes->speeds[enough] >= least)
        enough++;
    double most = nodes->speeds[enough - count];
    memset(nodes->quick, 0, ((size_t)nodes->count / WORD + 1) * sizeof *nodes->quick);
    for (int i = 0; i < nodes->count; i++)
        if (nodes->items[i].state == EPOP_NODE_IDLE && nodes->items[i].speed >= least && nodes->items[i].speed <= most)
            nodes->quick[i / WORD] |= UINT64_C(1) << i % WORD;
}

void nodes_choose(struct nodes *nodes, const int *list, int held, int count, int *chosen)
{
    nodes->usable = nodes->quick ? nodes->quick : nodes->free;
    if (nodes->quick)
        limit_speed(nodes, list, held, count);
    if (nodes->topology)
        choose_by_switches(nodes, list, held, count, chosen);
    else
        choose_near(nodes, count, chosen);
}

/* ---- Below fewer switches ----------------------------------------------------------------------- */

/* All idle ones that are no slower than the job. */
static void use_no_slower(struct nodes *nodes, const int *list, int held)
{
    double least = nodes_slowest(nodes, list, held);
    nodes->usable = nodes->quick ? nodes->quick : nodes->free;
    if (!nodes->quick)
        return;
    memset(nodes->quick, 0, ((size_t)nodes->count / WORD + 1) * sizeof *nodes->quick);
    for (int i = 0; i < nodes->count; i++)
        if (nodes->items[i].state == EPOP_NODE_IDLE && nodes->items[i].speed >= least)
            nodes->quick[i / WORD] |= UINT64_C(1) << i % WORD;
}

/* Of what the job has and could have below each leaf switch; how many it is below. */
static int count_own(struct nodes *nodes, const int *list, int held)
{
    int leaves = 0;
    use_no_slower(nodes, list, held);
    count_usable(nodes);
    memset(nodes->leaves, 0, ((size_t)nodes->topology->count + 1) * sizeof *nodes->leaves);
    for (int i = 0; i < held; i++)
        leaves += !nodes->leaves[nodes->items[list[i]].leaf].own++;
    return leaves;
}

static int room_below(const struct nodes *nodes, int at)
{
    return nodes->leaves[at].own + nodes->below[at];
}

/* The next leaf switch for so many nodes: of those that have them the one with most of the job's own, else the one that
 * has most. */
static int next_target(const struct nodes *nodes, int count)
{
    int best = -1;
    for (int at = 0; at < nodes->topology->count; at++) {
        if (!nodes->topology->branches[at].leaf || nodes->leaves[at].target)
            continue;
        int room = room_below(nodes, at), most = best < 0 ? -1 : room_below(nodes, best);
        bool fits = room >= count, fitted = most >= count;
        if (fits && fitted ? nodes->leaves[at].own > nodes->leaves[best].own : room > most)
            best = at;
    }
    return best;
}

/* How many leaf switches there are then, and how many nodes are lacking there. */
static int choose_targets(struct nodes *nodes, int home, int held, int *lacking)
{
    int leaves = 1, room = room_below(nodes, home);
    nodes->leaves[home].target = true;
    *lacking = held - nodes->leaves[home].own;
    for (; room < held; leaves++) {
        int next = next_target(nodes, held - room);
        nodes->leaves[next].target = true;
        room += room_below(nodes, next);
        *lacking -= nodes->leaves[next].own;
    }
    return leaves;
}

int nodes_gather(struct nodes *nodes, const int *list, int held, int count, int *chosen, int *leaves)
{
    struct chosen all = {.list = chosen};
    int lacking;
    if (!nodes->topology)
        return 0;
    int now = count_own(nodes, list, held);
    *leaves = choose_targets(nodes, nodes->items[list[0]].leaf, held, &lacking);
    if (*leaves >= now)
        return 0;
    for (int at = 0; chosen && at < nodes->topology->count; at++) {
        int few = nodes->leaves[at].target ? nodes->below[at] : 0,
            more = (lacking < count ? lacking : count) - all.count;
        choose_below_leaf(nodes, at, few < more ? few : more, &all);
    }
    return lacking;
}

/* ---- Those that leave --------------------------------------------------------------------------- */

/* What leaves is marked by a number below 0 until all of it is known. */
static int marked(int node)
{
    return -1 - node;
}

/* The last ones below that leaf, but not the first of all. */
static void leave_leaf(const struct nodes *nodes, int at, int *list, int held, int count)
{
    for (int i = held - 1; i > 0 && count > 0; i--)
        if (list[i] >= 0 && nodes->items[list[i]].leaf == at) {
            list[i] = marked(list[i]);
            count_below(nodes, at, -1);
            count--;
        }
}

/* Has the job fewer nodes below the one, or, level by level, above it? */
static bool is_emptier(const struct nodes *nodes, int one, int other)
{
    while (one >= 0 && other >= 0 && nodes->below[one] == nodes->below[other]) {
        one = topology_above(nodes->topology, one);
        other = topology_above(nodes->topology, other);
    }
    return one >= 0 && (other < 0 || nodes->below[one] < nodes->below[other]);
}

/* The leaf switch with the fewest of the job's nodes, the last of several; the one that its first node is below only
 * where there is no other. */
static int fewest_leaf(const struct nodes *nodes, int home)
{
    int best = home;
    for (int at = 0; at < nodes->topology->count; at++)
        if (nodes->topology->branches[at].leaf && at != home && nodes->below[at] > 0 &&
            (best == home || !is_emptier(nodes, best, at)))
            best = at;
    return best;
}

/* Those that are marked stand last, and are no longer marked. */
static void order_list(int *list, int held)
{
    int kept = 0, left = 0, leaving[held];
    for (int i = 0; i < held; i++)
        if (list[i] < 0)
            leaving[left++] = marked(list[i]);
        else
            list[kept++] = list[i];
    memcpy(list + kept, leaving, (size_t)left * sizeof *list);
}

static void leave_switches(const struct nodes *nodes, int *list, int held, int count)
{
    count_none(nodes);
    for (int i = 0; i < held; i++)
        if (list[i] >= 0)
            count_below(nodes, nodes->items[list[i]].leaf, 1);
    while (count > 0) {
        int at = fewest_leaf(nodes, nodes->items[list[0]].leaf);
        int few = nodes->below[at] < count ? nodes->below[at] : count;
        leave_leaf(nodes, at, list, held, few);
        count -= few;
    }
}

static void leave_last(int *list, int held, int count)
{
    for (int i = held - 1; i > 0 && count > 0; i--)
        if (list[i] >= 0) {
            list[i] = marked(list[i]);
            count--;
        }
}

/* All that are slower than the others, as long as they are no more than are to leave; how many still are. */
static int leave_slowest(const struct nodes *nodes, int *list, int held, int count)
{
    for (;;) {
        double slowest = nodes->items[list[0]].speed;
        int slow = 0;
        for (int i = 1; i < held; i++)
            if (list[i] >= 0 && nodes->items[list[i]].speed < slowest)
                slowest = nodes->items[list[i]].speed;
        for (int i = 0; i < held; i++)
            slow += list[i] >= 0 && nodes->items[list[i]].speed <= slowest;
        if (slow > count || nodes->items[list[0]].speed <= slowest)
            return count;
        for (int i = 1; i < held; i++)
            if (list[i] >= 0 && nodes->items[list[i]].speed <= slowest)
                list[i] = marked(list[i]);
        count -= slow;
    }
}

void nodes_leave(const struct nodes *nodes, int *list, int held, int count)
{
    if (!nodes->topology && !nodes->quick)
        return;
    if (nodes->quick)
        count = leave_slowest(nodes, list, held, count);
    if (nodes->topology)
        leave_switches(nodes, list, held, count);
    else
        leave_last(list, held, count);
    order_list(list, held);
}

/* ---- Who holds each ----------------------------------------------------------------------------- */

static void set_node(struct nodes *nodes, int node, epop_policy_node_state_t state, int64_t job)
{
    uint64_t bit = UINT64_C(1) << node % WORD;
    epop_policy_node_t *item = &nodes->items[node];
    nodes->idle += (state == EPOP_NODE_IDLE) - (item->state == EPOP_NODE_IDLE);
    nodes->down += (state == EPOP_NODE_DOWN) - (item->state == EPOP_NODE_DOWN);
    item->state = state;
    item->job = job;
    if (state == EPOP_NODE_IDLE)
        nodes->free[node / WORD] |= bit;
    else
        nodes->free[node / WORD] &= ~bit;
}

/* Of so many; with those that are busy now or as if none were. Which ones a start takes is chosen later, so those that
 * draw most are counted. */
static int count_under_cap(const struct nodes *nodes, double cap, int of, bool busy)
{
    double used = 0, most = 0;
    if (cap <= 0)
        return of;
    for (int i = 0; i < nodes->count; i++) {
        const epop_policy_node_t *node = &nodes->items[i];
        bool stays = busy && node->state == EPOP_NODE_BUSY;
        if (node->state == EPOP_NODE_DOWN)
            continue;
        used += stays ? node->busy_watts : node->idle_watts;
        most = fmax(most, stays ? 0 : node->busy_watts - node->idle_watts);
    }
    double may = most > 0 ? floor((cap - used) / most + 1e-9) : of;
    return (int)fmax(0, fmin(of, may));
}

int nodes_under_cap(const struct nodes *nodes, double cap)
{
    return count_under_cap(nodes, cap, nodes->idle, true);
}

int nodes_most_under_cap(const struct nodes *nodes, double cap)
{
    return count_under_cap(nodes, cap, nodes->count - nodes->down, false);
}

void nodes_take(struct nodes *nodes, const int *list, int count, int64_t job)
{
    for (int i = 0; i < count; i++)
        set_node(nodes, list[i], EPOP_NODE_BUSY, job);
}

void nodes_give(struct nodes *nodes, const int *list, int count)
{
    for (int i = 0; i < count; i++)
        set_node(nodes, list[i], EPOP_NODE_IDLE, -1);
}

void nodes_set_up(struct nodes *nodes, int node, int up)
{
    set_node(nodes, node, up ? EPOP_NODE_IDLE : EPOP_NODE_DOWN, -1);
}
