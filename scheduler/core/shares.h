/*
 * The order of the queue: by priority, then by what was promised, then by the shares of accounts, then by the time at
 * which a job has to start for its deadline, then by submission.
 * An account is what jobs are counted for: a user, a group, a project. Where there are shares, the one whose jobs have
 * used least of the machine over its share comes first, and what was used is forgotten by halves. The factor
 * 2^(-usage/share) of Slurm's plug-in priority/multifactor gives the same order
 * (docs/internals/decisions/fair-share.md).
 */
#ifndef SCHEDULER_CORE_SHARES_H
#define SCHEDULER_CORE_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"

#define SHARES_HALF_LIFE (7 * 86400.0) /* seconds, unless said otherwise: Slurm's PriorityDecayHalfLife */

struct account {
    char *name;
    double share; /* above 0; against those of the others */
    double used;  /* node seconds, as far as they are remembered */
    int nodes;    /* that its jobs hold */
    int rank;     /* the lower, the earlier; accounts that are equal have the same */
    double usage; /* its part of all that was used, over its part of all shares: above 1 it is over its share */
};

struct shares {
    struct account **items; /* by rank; owned, and they stay where they are */
    size_t count, room;
    double other;     /* the share of accounts that are not named; 0: there are no shares */
    double half_life; /* seconds; 0: nothing is forgotten */
    double as_of;     /* until then all is counted; infinitely long ago: nothing was */
};

/* "alice=2,bob=1,*=1", or the path of a file of such entries, with blanks, line ends or commas between them and notes
 * behind '#'. *shares is the caller's to free, by shares_free. -1: the line begins with "--shares: ". */
int shares_read(struct shares *shares, const char *text, double half_life, struct error *error);
/* -1: no memory; nothing is to be freed. */
int shares_copy(struct shares *copy, const struct shares *shares);
void shares_free(struct shares *shares);

/* NULL: there is none of this name. */
struct account *shares_find(const struct shares *shares, const char *name);
/* Made where it is not there yet; NULL: no memory. */
struct account *shares_account(struct shares *shares, const char *name);

/* Time passes: what is held is used, and a part of what was used is forgotten. */
void shares_pass(struct shares *shares, double now);
/* A job of the account holds that many nodes more, or fewer, as of the last shares_pass. */
void shares_hold(struct account *account, int more);
/* It has held them from then on, and they were not counted. */
void shares_held(const struct shares *shares, struct account *account, double from, int nodes);

/* Ranks and usage as of the last shares_pass. Whether the order of accounts is another one than before. */
bool shares_rank(struct shares *shares);

/* ---- Whose turn is when ------------------------------------------------------------------------- */

struct turn {
    int priority;                  /* the higher, the earlier */
    uint64_t promised;             /* its place among those that were promised a start, from 1; 0: it was not */
    const struct account *account; /* NULL: it is counted for none */
    double latest; /* start with which it ends in time; infinite: it has no deadline, or cannot meet it any more */
    double submitted;
    int64_t id;
};

/* Negative: `one` comes first. 0: they are the same job. */
int turn_compare(const struct turn *one, const struct turn *other);

#endif
