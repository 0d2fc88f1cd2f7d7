/* Who holds which node, checked at each change and counted anew when asked for. */
#include "scheduler/simulated/ledger.h"

#include <inttypes.h>
#include <stdlib.h>

int ledger_init(struct ledger *ledger, int nodes, struct error *error)
{
    *ledger = (struct ledger){.nodes = nodes, .idle = nodes};
    ledger->holders = malloc((size_t)nodes * sizeof *ledger->holders);
    if (!ledger->holders)
        return error_memory(error);
    for (int i = 0; i < nodes; i++)
        ledger->holders[i] = LEDGER_IDLE;
    return 0;
}

void ledger_free(struct ledger *ledger)
{
    free(ledger->holders);
    *ledger = (struct ledger){0};
}

static int wrong_holder(int64_t job, int node, int64_t holder, struct error *error)
{
    if (holder == LEDGER_IDLE)
        return error_set(error, ERROR_FAILED, "job %" PRId64 " gives back node %d, which is idle", job, node);
    if (holder == LEDGER_DOWN)
        return error_set(error, ERROR_FAILED, "job %" PRId64 " is given node %d, which is down", job, node);
    return error_set(error, ERROR_FAILED, "node %d twice: of job %" PRId64 " and of job %" PRId64, node, holder, job);
}

/* All are in the machine, ascending, and `expected` holds them. */
static int check_nodes(const struct ledger *ledger, int64_t job, const int *nodes, int count, int64_t expected,
                       struct error *error)
{
    for (int i = 0; i < count; i++) {
        if (nodes[i] < 0 || nodes[i] >= ledger->nodes)
            return error_set(error, ERROR_FAILED, "job %" PRId64 ": there is no node %d", job, nodes[i]);
        if (i && nodes[i] <= nodes[i - 1])
            return error_set(error, ERROR_FAILED, "job %" PRId64 ": node %d comes after node %d", job, nodes[i],
                             nodes[i - 1]);
        if (ledger->holders[nodes[i]] != expected)
            return wrong_holder(job, nodes[i], ledger->holders[nodes[i]], error);
    }
    return 0;
}

int ledger_take(struct ledger *ledger, int64_t job, const int *nodes, int count, struct error *error)
{
    if (check_nodes(ledger, job, nodes, count, LEDGER_IDLE, error))
        return -1;
    for (int i = 0; i < count; i++)
        ledger->holders[nodes[i]] = job;
    ledger->idle -= count;
    ledger->held += count;
    return 0;
}

int ledger_give(struct ledger *ledger, int64_t job, const int *nodes, int count, struct error *error)
{
    if (check_nodes(ledger, job, nodes, count, job, error))
        return -1;
    for (int i = 0; i < count; i++)
        ledger->holders[nodes[i]] = LEDGER_IDLE;
    ledger->idle += count;
    ledger->held -= count;
    return 0;
}

void ledger_fail(struct ledger *ledger, int node)
{
    ledger->holders[node] = LEDGER_DOWN;
    ledger->idle--;
    ledger->down++;
}

void ledger_return(struct ledger *ledger, int node)
{
    ledger->holders[node] = LEDGER_IDLE;
    ledger->idle++;
    ledger->down--;
}

int ledger_count(const struct ledger *ledger, struct error *error)
{
    int idle = 0, down = 0;
    for (int i = 0; i < ledger->nodes; i++) {
        idle += ledger->holders[i] == LEDGER_IDLE;
        down += ledger->holders[i] == LEDGER_DOWN;
    }
    if (idle == ledger->idle && down == ledger->down && idle + down + ledger->held == ledger->nodes)
        return 0;
    return error_set(error, ERROR_FAILED, "%d nodes held, %d idle and %d down are not the machine's %d", ledger->held,
                     ledger->idle, ledger->down, ledger->nodes);
}
