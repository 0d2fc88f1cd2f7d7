/* Which columns of a table there is room for. */
#ifndef TERMINAL_FIT_H
#define TERMINAL_FIT_H

#include <stdbool.h>

#define TERM_GAP 2 /* characters between two columns */

/* Drops columns, in the order of `drop`, until the others fit into so many characters; *shown says which stay. Those
 * that are not in `drop` stay even if they do not fit. */
void term_fit(const int *widths, int columns, const int *drop, int drops, int room, bool *shown);

#endif
