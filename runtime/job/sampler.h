/*
 * How long the program's thread has been where it is: in its iteration, and in a call of MPI. A thread of its own
 * looks once a second, so that neither a probe nor a call of MPI has to look at the clock.
 */
#ifndef EPOP_SAMPLER_H
#define EPOP_SAMPLER_H

#include <cjson/cJSON.h>

#include "runtime/member/member.h"

/* The calling thread is the program's. `live` stays. -1: no thread can be started. */
int sampler_start(const struct live_position *live);

/* Adds "seconds" in this iteration and, if the program's thread is in MPI, "mpi" and "mpi_seconds": at least so long,
 * and less than a second longer. Any thread. */
void sampler_describe(cJSON *json);

#endif
