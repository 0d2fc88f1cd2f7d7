/* The nodes of the machine: who holds each, and a bitmap of those that are idle. */
#include "scheduler/core/nodes.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

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
        nodes->items[i] = (epop_policy_node_t){.state = EPOP_NODE_IDLE, .job = -1};
        nodes->free[i / WORD] |= UINT64_C(1) << i % WORD;
    }
    return 0;
}

void nodes_free(struct nodes *nodes)
{
    free(nodes->items);
    free(nodes->free);
    *nodes = (struct nodes){0};
}

/* The first one from `from` on that is idle, or that is not; `count` if there is none. */
static int next_node(const struct nodes *nodes, int from, int idle)
{
    int word = from / WORD, last = nodes->count / WORD;
    uint64_t mask = ~UINT64_C(0) << from % WORD;
    for (; word <= last; word++, mask = ~UINT64_C(0)) {
        uint64_t bits = (idle ? nodes->free[word] : ~nodes->free[word]) & mask;
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

void nodes_choose(const struct nodes *nodes, int count, int *chosen)
{
    int begin = best_run(nodes, count), node = begin < nodes->count ? begin : 0;
    for (int i = 0; i < count; i++, node++) {
        node = next_node(nodes, node, 1);
        chosen[i] = node;
    }
}

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
