/* Distributions by cuts that are made in a window: what epop_redist_balance and epop_redist_counts share. */
#ifndef REDIST_CUTS_H
#define REDIST_CUTS_H

#include "runtime/redist/agree.h"

/* An array for the starts of that many ranks. NULL: out of memory. */
int64_t *redist_cuts_new(int ranks);
/* Every rank's `count` numbers, in the order of window->all. Collective over it. */
redist_fault redist_cuts_gather(const epop_window_t *window, const int64_t *mine, int count, int64_t *all);

#endif
