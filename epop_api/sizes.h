/* What the model's files, the runtime and schedulers share about size rules. Internal. */
#ifndef EPOP_API_SIZES_H
#define EPOP_API_SIZES_H

#include <stdbool.h>

#include "epop/program.h"

/* The name of a kind in JSON (schema/program.schema.json): "any", "multiple" ... Static. */
const char *size_kind_name(epop_size_kind kind);

/* Times as much work in an iteration of so many ranks as in one of one rank. */
static inline double scaling_work(epop_scaling scaling, int ranks)
{
    return scaling == EPOP_SCALING_STRONG ? 1 : ranks;
}

/*
 * A rule as text, for executables (EPOP_SIZES, epop_mpi_sizes, epoprm submit --sizes): items separated by commas.
 *
 * - any, even, odd, square, power-of-two, multiple:N: a kind, at most one;
 * - N, MIN-MAX, MIN-: a range; a size that is accepted is in one of them, and of that kind;
 * - preferred=N: a wish;
 * - weak, weak-work: how it scales (epop_scaling).
 */
enum { SIZES_RANGES_MAX = 64 };
struct sizes_rule {
    epop_sizes_t sizes; /* kind, factor, preferred and scaling; with min and max over all ranges, 0: no bound */
    struct sizes_range {
        int least, most;
    } ranges[SIZES_RANGES_MAX];
    int count; /* of them; 0: there is no bound */
};

/* NULL, or what is wrong with it, for "... is 'TEXT', which %s". Static. */
const char *sizes_rule_read(struct sizes_rule *rule, const char *text);
bool sizes_rule_accepts(const struct sizes_rule *rule, int size);

#endif
