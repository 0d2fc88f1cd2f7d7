/*
 * What the debug driver learns of redistributions: which call with which arguments, and whether all elements
 * arrived, none of them twice. Without that driver nothing here costs anything.
 */
#ifndef REDIST_AUDIT_H
#define REDIST_AUDIT_H

#include "runtime/redist/agree.h"
#include "runtime/redist/exchange.h"

struct redist_watch {
    /* A redistribution begins, before the ranks agree; words: function and arguments. On every rank of the window. */
    void (*called)(const char *words);
    /* Something is wrong with it, in one line of text. On the rank whose fault it is; else on rank 0 of the window. */
    void (*wrong)(const char *text);
};

/* NULL: nobody. The same on all processes of the job: with it there is a reduction more per redistribution. */
EPOP_API void epop__watch_redist(const struct redist_watch *watch);

/* The first agreement of a redistribution is about to begin. */
void redist_audit_called(const redist_terms *terms);
/* A block of the caller's, from malloc() (NULL: none): has it the room for what it is said to hold here? Local. */
void redist_audit_room(const void *block, int64_t bytes, const char *function);
/*
 * redist_exchange_run, looked at: has the old block, which comes from malloc(), the room for what the distribution
 * gives this rank; and is what arrives what was there? Collective over window->all.
 */
redist_fault redist_audit_run(const redist_exchange *exchange, const char *function);
/* The same in two steps, for a block that is whole only later: up to the exchange, and what has arrived. */
typedef struct redist_totals {
    uint64_t elements, sum;
} redist_totals;
redist_fault redist_audit_exchange(const redist_exchange *exchange, const char *function, redist_totals *before);
void redist_audit_arrived(const redist_exchange *exchange, const char *function, redist_totals before);
/* Have all that hold replicated data the same? Collective over window->all. */
void redist_audit_replicated(const epop_window_t *window, const redist_element *element, const void *data,
                             int64_t count);

#endif
