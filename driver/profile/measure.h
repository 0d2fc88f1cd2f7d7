/*
 * What one process measures for the profile: the time in each element by world size and rank, the MPI functions in it,
 * and its adaptations. The clock is read where something begins or ends, not in every iteration, and around MPI calls.
 */
#ifndef DRIVER_PROFILE_MEASURE_H
#define DRIVER_PROFILE_MEASURE_H

#include <epop/driver.h>

/* Once, in a process that takes part; the thread that comes to the hooks below is the one that is measured. */
void measure_start(void);
void measure_stop(void);

/* The hooks of the driver. */
void measure_enter(const epop_position_t *position);
void measure_leave(const epop_position_t *position);
void measure_hold_begin(const epop_position_t *position);
void measure_hold_end(const epop_position_t *position);
void measure_adaptation_begin(void);
void measure_adapted(const epop_adapted_t *adapted);
void measure_failed(const epop_position_t *position);

/* What there is so far, as JSON text; NULL: this process has not run the program. Any thread. last: begins anew. */
char *measure_record(int last);

#endif
