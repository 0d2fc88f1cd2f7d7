/* Nodes as text: "0-3,7". */
#ifndef EPOP_REPORT_RANGES_H
#define EPOP_REPORT_RANGES_H

#include <stdbool.h>

/* The next range; where the text goes on, or NULL: there is none. */
const char *ranges_next(const char *text, int *first, int *last);
/* How many nodes and ranges; false unless there is one at least, they ascend, and all are below `limit`. */
bool ranges_count(const char *text, int limit, int *nodes, int *ranges);

#endif
