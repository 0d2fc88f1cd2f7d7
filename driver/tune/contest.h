/*
 * Which of several settings is the fastest: they run again and again, and the slower half of them drops out after every
 * round (successive halving: K. Jamieson, A. Talwalkar, "Non-stochastic best arm identification and hyperparameter
 * optimization", AISTATS 2016).
 *
 * A round runs all that are left there and back (a b c, c b a): a program whose iterations get steadily cheaper favours
 * none of them so. Costs are compared within a round alone, by their ratios. The one that the program has anyway, the
 * incumbent, stays in to the end, and wins where no other is certainly faster.
 *
 * Nothing in here knows what a setting is, or reads a clock.
 */
#ifndef TUNE_CONTEST_H
#define TUNE_CONTEST_H

#include <stdbool.h>

enum { CONTEST_MOST = 64, CONTEST_ROUNDS = 12 };

struct contest {
    int count, incumbent;
    double bound; /* a gain of less is none, as 0.02 */
    bool back;    /* a round goes there and back */
    bool in[CONTEST_MOST];
    int order[CONTEST_MOST], left;                  /* those of the present round */
    int place;                                      /* runs of the present round that are over */
    int rounds;                                     /* that are over */
    double costs[CONTEST_ROUNDS + 1][CONTEST_MOST]; /* means of logarithms */
    double apart[CONTEST_MOST];                     /* there less back, of the present round */
    double chance;          /* sum of squares of what is left of that without the drift, of all rounds, */
    int freedom;            /* and of how many independent ones */
    int runs[CONTEST_MOST]; /* of the present round */
    bool over, sure;
    int winner;
};

/* Of `count` things as many as `some`, evenly spread: is the i-th one of them? */
static inline bool contest_spreads_to(int i, int some, int count)
{
    return (long)(i + 1) * some / count > (long)i * some / count;
}

/* Of candidates 0 to count-1. `runs`: how many it may take in about; with fewer than there and back of all takes, all
 * run once, and with still fewer only some do. */
void contest_begin(struct contest *contest, int count, int incumbent, double bound, double runs);

/* The candidate to run next, or -1: it is over. */
int contest_next(const struct contest *contest);

/* What the run of that one has cost, by unit of work; 0: it cannot be run at all. */
void contest_take(struct contest *contest, double cost);

/* Nothing more can be run: decides by what there is. */
void contest_end(struct contest *contest);

/* How many times as fast the winner is as the incumbent; 1 where it is the incumbent. */
double contest_gain(const struct contest *contest);

#endif
