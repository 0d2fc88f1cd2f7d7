/*
 * How much of the time in the phase the search takes, and may take. All times are handed in: nothing here reads a
 * clock.
 *
 * What is searched is the time in which a run of a setting is looked at. Where a setting counts from one visit to the
 * next it is the whole visit, unless the setting is the best so far, with which the program would have gone on anyway.
 */
#ifndef TUNE_BUDGET_H
#define TUNE_BUDGET_H

#include <stdbool.h>

struct budget {
    double within;   /* the part that the search may take, as 0.15 */
    double total;    /* seconds of all visits that are over */
    double searched; /* seconds that the search has taken */
    double entered;  /* when the present visit began; 0: none is under way */
    double since;    /* from when on the present one is searched; 0: it is not */
    double visit;    /* seconds of the last visit; 0: none is over */
    double least;    /* seconds that a whole visit would take with the fastest setting that was seen; 0: not known */
};

void budget_enter(struct budget *b, double now, bool searches);

/* From here on nothing is searched in this visit. */
void budget_rest(struct budget *b, double now);

void budget_leave(struct budget *b, double now);

/* `share` of the visit, more than 0, has taken so long with one setting. */
void budget_note(struct budget *b, double share, double seconds);

/* For the search, in this visit, of which that share is over: seconds that it may still take of what the phase will
 * have taken when the visit ends. Infinite where the share, negative, or the speed is not known. */
double budget_left(const struct budget *b, double now, double share);

/* May a run begin, in this visit, of which that share is over? `seconds`: how long it takes; 0: not known, as its
 * setting has not run. With the slowest setting that was seen it would take `usual`; 0: nothing was seen. */
bool budget_has_run(const struct budget *b, double now, double share, double seconds, double usual);

/* May the next visit be one with a setting that is searched? `seconds`: how long it took in such a visit; 0: not known.
 * Nobody knows how many visits are to come: so what has been and this one count. */
bool budget_has_visit(const struct budget *b, double now, double seconds);

/* Of the time in the phase; negative: no visit is over. */
double budget_share(const struct budget *b);

#endif
