/*
 * What one process measures for the profile: the time in each element by world size and rank, the MPI functions and the
 * loops in it, and its adaptations. The clock is read where something begins or ends, not in every iteration, and
 * around MPI calls.
 */
#ifndef PROFILE_MEASURE_H
#define PROFILE_MEASURE_H

#include <epop/driver.h>

/* Once, in a process that takes part; the thread that comes to the hooks below is the one that is measured. */
void measure_start(void);
void measure_stop(void);

/* Hooks of the driver, which call for no state. */
void measure_enter(void *state, const epop_position_t *position);
void measure_iteration(void *state, const epop_position_t *position);
void measure_leave(void *state, const epop_position_t *position);
void measure_hold_begin(void *state, const epop_position_t *position);
void measure_hold_end(void *state, const epop_position_t *position);
void measure_adaptation_begin(void *state, const epop_position_t *position);
void measure_adapted(void *state, const epop_position_t *position, const epop_adapted_t *adapted);
void measure_failed(void *state, const epop_position_t *position, int error);

/* What there is so far, as JSON text; NULL: this process has not run the program. Any thread. last: begins anew. */
char *measure_record(void *state, int last);

#endif
