/*
 * All ranks of a window agree before and after data moves: they all go on, or all return the same error. One line on
 * stderr, from rank 0 of the window, says why.
 */
#ifndef REDIST_AGREE_H
#define REDIST_AGREE_H

#include <epop/redist.h>
#include <stdbool.h>

/* What can be wrong on one rank; of several the largest is reported. */
typedef enum redist_fault {
    REDIST_FINE = 0,
    REDIST_NO_MEMORY,
    REDIST_MPI_FAILED,
    REDIST_NO_BLOCK,
    REDIST_NULL,
    REDIST_BAD_LENGTHS,
    REDIST_BAD_STARTS,
    REDIST_BAD_WEIGHTS,
    REDIST_BAD_SHARES,
    REDIST_NO_WEIGHTS,
    REDIST_NOT_BLOCKS,
    REDIST_BAD_CUTS,
    REDIST_BAD_DIST,
    REDIST_BAD_GRID,
    REDIST_BAD_BLOCKS,
    REDIST_BLOCKS_DIFFER,
    REDIST_THICK_GHOSTS,
    REDIST_LARGE_GHOSTS,
    REDIST_NO_WORLD,
    REDIST_BAD_ARRAYS,
    REDIST_COUNTS_DIFFER,
    REDIST_TOO_LARGE,
    REDIST_TOO_MANY,
    REDIST_BAD_TYPE,
    REDIST_BAD_INDEX,
    REDIST_FAULTS
} redist_fault;

/* Numbers that must be the same on every rank, each with the name it has for the caller. */
#define REDIST_TERMS_MAX 60
typedef struct redist_terms {
    const char *function; /* who asks, for the message */
    int count;
    int64_t value[REDIST_TERMS_MAX];
    const char *name[REDIST_TERMS_MAX];
    bool no_say;  /* this rank does not know them: only the others have to agree */
    int may_fail; /* set by redist_agree: on some rank an error of MPI on window->all comes back to us */
    int number;   /* of several arrays that are agreed on together: which one this rank's fault is about */
    const char *(*subject_of)(int number);
} redist_terms;

/* The described array that is being moved, for messages; NULL: none. */
extern const char *redist_subject;

void redist_term(redist_terms *terms, const char *name, int64_t value);

/* Collective over window->all. EPOP_OK if every rank is fine and the terms agree, else the error of all. */
int redist_agree(const epop_window_t *window, redist_terms *terms, redist_fault fault);

/*
 * After the data has moved: did it go well on every rank? Where an error of MPI ends the job on every rank, as it does
 * unless the program said otherwise, nothing can be told, and the ranks do not wait for each other. Collective over
 * window->all, with the terms of the first agreement.
 */
int redist_agree_on_end(const epop_window_t *window, const redist_terms *terms, redist_fault fault);

/* For a fault that every rank finds by itself, or one rank alone: returns its result, and prints the line if this rank
 * speaks. Local. */
int redist_refuse(const char *function, redist_fault fault, bool speaks);

/* Is this a whole window? Local, and says nothing. */
int redist_window_valid(const epop_window_t *window);

/* Is one open, too? If not, a line on stderr on each rank that asks, as nothing can be agreed without one. In a process
 * without a job (a test, a benchmark) each whole window is open. Local. */
int redist_window_open(const char *function, const epop_window_t *window);

#endif
