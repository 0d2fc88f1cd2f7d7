/* Node numbers as text: "0-3,7". */
#ifndef SCHEDULER_SIMULATED_NODE_TEXT_H
#define SCHEDULER_SIMULATED_NODE_TEXT_H

/* nodes: ascending. The caller's to free; NULL: no memory. */
char *node_text(const int *nodes, int count);

/* The other way round. nodes: the caller's to free. How many there are; -1: that is no such text; -2: no memory. */
int node_numbers(const char *text, int **nodes);

#endif
