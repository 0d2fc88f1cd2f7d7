/*
 * The progress bar: the bottom line of the terminal that the job was started from, below a scrolling region for the
 * program's own output, which may come from any rank and is never mixed with it. Only in the process that has the
 * coordinator, and only if standard output and standard error are that terminal, the launcher's where there is one.
 */
#ifndef EPOP_BAR_H
#define EPOP_BAR_H

#include <stdbool.h>

#include "runtime/bar/text.h"

/* False: there is no terminal. Nothing is drawn yet. Before there are other threads. */
bool bar_open(void);

/* Draws it, as wide as the terminal is now. */
void bar_draw(const struct bar_state *state);

/* Gives the line back. A process that dies leaves that to its guard. */
void bar_close(void);

#endif
