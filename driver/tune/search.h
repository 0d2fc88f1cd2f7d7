/*
 * What to run next, and what was found: contests one after the other. First between the settings that count from the
 * next iteration on, then between numbers of ranks, and where another one has won between the former again; last
 * between the settings that count from the next visit on, as nobody knows whether there is one.
 *
 * A knob is a list of values here, and what a run has cost is handed in: nothing here sets or measures anything.
 */
#ifndef TUNE_SEARCH_H
#define TUNE_SEARCH_H

#include <stdbool.h>

#include "driver/tune/contest.h"

enum { SEARCH_KNOBS = 16, SEARCH_VALUES = 32, SEARCH_STAGES = 2 * SEARCH_KNOBS + 1 };

struct knob {
    int values[SEARCH_VALUES], count;
    int usual;      /* index of the value that it has anyway */
    bool ranks;     /* it is the number of ranks */
    bool per_visit; /* a change counts from the next visit of the phase on */
};

/* An index of each knob's values. */
struct setting {
    int at[SEARCH_KNOBS];
};

/* Knobs that are tried together, in all combinations, while the others stay. */
struct search_stage {
    bool has[SEARCH_KNOBS];
    bool ranks, per_visit;
    bool again; /* only if another number of ranks has won */
};

struct search {
    const struct knob *knobs; /* the caller's */
    int knob_count;
    double bound;
    struct search_stage stages[SEARCH_STAGES];
    int stage_count, stage;
    struct contest contest;
    bool begun; /* the contest of the present stage */
    bool over, sure;
    bool ranks_kept; /* somebody else decides about them */
    struct setting best;
    double gain; /* of the best over the usual setting, the number of ranks apart: how many times as fast */
    struct {
        double log_cost; /* sum */
        int runs;
    } at_ranks[SEARCH_VALUES]; /* by the index of the number of ranks, with the best setting of the rest */
    int runs;
};

/* The usual setting is the best at first. */
void search_begin(struct search *search, const struct knob *knobs, int count, double bound);

/* Is there something to run? Then, where a contest is about to begin, how long it can be: it can take as many runs as
 * that. */
bool search_wants_room(const struct search *search);
void search_room(struct search *search, double runs);
/* How many contests there are left, with this one. */
int search_contests_left(const struct search *search);
/* Of how many settings the present contest is, and which of them is the next. */
int search_candidates(const struct search *search);
int search_candidate(const struct search *search);

/* The setting to run next, or, if the search is over, to go on with. */
struct setting search_next(const struct search *search);

/* The best by what is known so far, where the search pauses. */
struct setting search_so_far(const struct search *search);

/* Does the present contest's setting count from the next visit on? */
bool search_waits_for_visit(const struct search *search);

/* What that run has cost, by unit of work; 0: it could not be run. */
void search_take(struct search *search, double cost);

/* The number of ranks is another one, and not by the search's doing. From now on it stays what it is. */
void search_keep_ranks(struct search *search);

/* Nothing more can be tried. */
void search_end(struct search *search);

/* The knob that is the number of ranks, if there are several to try; -1: there is none. */
int search_knob_of_ranks(const struct search *search);

/* The cost by unit of work at that index of the number of ranks; 0: not known. */
double search_cost_at(const struct search *search, int index);

#endif
