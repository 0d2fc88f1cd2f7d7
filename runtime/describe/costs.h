/*
 * What the indices of a distribution cost, as far as balances have told: a step function over them. A balance knows how
 * long each rank has computed, and not for which of its indices; so how the costs are divided within its block is what
 * earlier cuts, which lay elsewhere, have told of it. Kept by the name of the described distribution until a resize.
 * The same on all ranks, as these see the same cuts and loads. No clock, no MPI. On the program's thread.
 */
#ifndef EPOP_DESCRIBE_COSTS_H
#define EPOP_DESCRIBE_COSTS_H

#include <stdint.h>

struct costs;

/* Of that distribution of `count` indices; where nothing is known, or it was of another number of them, all cost alike.
 * It stays the module's. NULL: out of memory. */
struct costs *costs_of(const char *name, int64_t count);

/*
 * The ranks had the blocks starts[rank] to starts[rank + 1] - 1, and to compute for loads[rank] in proportion. If what
 * was known foretells that clearly better moved by some indices, it has wandered by them. Then the costs of each block
 * become what it was measured, and the more that differs from what was foretold, the flatter. 0, or -1: out of memory.
 */
int costs_learn(struct costs *costs, const int64_t *starts, const int *loads, int ranks);

/* What each of `rows` indices from `first` on costs in proportion: 1 to a million or so. */
void costs_weigh(const struct costs *costs, int64_t first, int64_t rows, int64_t *weights);

/* Nothing is known any more: after a resize, of which joining ranks would know less. */
void costs_forget(void);

#endif
