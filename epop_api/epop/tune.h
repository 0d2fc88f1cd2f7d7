/*
 * Tunables: integers of a program, such as a block size, that a driver may set while the program runs, to find out with
 * which it is fastest. `epop --driver tune` does that; `epop --tuned FILE` starts with what it found.
 *
 * docs/reference/tune.md says how.
 */
#ifndef EPOP_TUNE_H
#define EPOP_TUNE_H

#include <epop/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One of the program's integers, and what it may be. */
typedef struct epop_tunable {
    const char *name;  /* letters, digits and `_`, at most 63 */
    int *value;        /* what the program reads; its value when it is registered is the default */
    int from, to;      /* anything between these, both included, */
    const int *values; /* or one of these, in rising order; NULL: the range */
    int count;         /* of values */
    int per_visit;     /* a change counts from the next visit of the phase on; 0: from the next iteration */
} epop_tunable_t;

/*
 * Register a tunable, in INIT: in every process the same ones, in the same order. The name and the list are copied;
 * `value` has to stay as long as the program's data. It is changed between two iterations, on all ranks the same, and
 * here if the job was started with --tuned. The program makes sure that it is faster or slower with it, never wrong.
 * EPOP_ERR_ARGUMENT if that is no tunable, or its value is not allowed; EPOP_ERR_MEMORY. Local.
 */
EPOP_API int epop_tunable(const char *name, int *value, int from, int to);
EPOP_API int epop_tunable_list(const char *name, int *value, const int *values, int count);
EPOP_API int epop_tunable_add(const epop_tunable_t *tunable);

/* For drivers: returns the tunable that was registered as the one with that index, or NULL if there are no more. It
 * stays until the process leaves the program. Local. */
EPOP_API const epop_tunable_t *epop_tunable_at(int index);

/* For drivers: sets one, in a hook between two iterations, on all ranks the same. EPOP_ERR_ARGUMENT if there is no such
 * tunable, or the value is not allowed. Local. */
EPOP_API int epop_tunable_set(int index, int value);

#ifdef __cplusplus
}
#endif
#endif
