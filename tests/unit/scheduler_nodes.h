/* Nodes of a machine, and which are chosen of them. For tests that include this once. */
#ifndef TESTS_SCHEDULER_NODES_H
#define TESTS_SCHEDULER_NODES_H

#include "tests/unit/scheduler_machine.h"

#include "scheduler/core/nodes.h"

#define NODES(...) ((const int[]){__VA_ARGS__})

static struct nodes nodes;

static void assert_chosen(const int *list, int held, int count, const int *expected)
{
    int chosen[16];
    nodes_choose(&nodes, list, held, count, chosen);
    assert_memory_equal(chosen, expected, (size_t)count * sizeof *chosen);
}

#endif
