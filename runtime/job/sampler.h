/*
 * How long the program's thread has been where it is: in its iteration, and in a call of MPI. A thread of its own
 * looks once a second, so that neither a probe nor a call of MPI has to look at the clock.
 */
#ifndef EPOP_SAMPLER_H
#define EPOP_SAMPLER_H

#include <cjson/cJSON.h>
#include <stdint.h>

#include "runtime/member/member.h"

/* What the program's thread has called: see interpose_present. */
struct sampler_calls {
    uint64_t calls, polls;
    int function;
};

/* The calling thread is the program's, which may end before the job does. `live` stays. -1: no thread can be started.
 */
int sampler_start(const struct live_position *live);

/* Adds "seconds" in this iteration and, if the program's thread is in MPI, "mpi" and "mpi_seconds": at least so long,
 * and less than a second longer. Any thread. */
void sampler_describe(cJSON *json);

/* By now; nothing, when that thread has ended. Any thread. */
struct sampler_calls sampler_calls(void);

#endif
