/*
 * What is seen of the program's thread from outside: where it is and for how long, whether it only waits in MPI, and
 * what its iterations take. All functions but the first may be called from any one thread.
 */
#ifndef EPOP_JOB_SAMPLER_H
#define EPOP_JOB_SAMPLER_H

#include <cjson/cJSON.h>

#include "runtime/member/member.h"
#include "runtime/wire/messages.h"

/* The calling thread is the program's, which may end before the job does. `live` stays. Before the first message. */
void sampler_start(const struct live_position *live);

/* Adds "seconds" in this iteration and, if the program's thread is in MPI, "mpi" and "mpi_seconds": at least so long,
 * and less than a second longer. */
void sampler_place(cJSON *json);

/*
 * Does it only wait in MPI? It does if it is in one call all the time, or if all that it calls are functions that look
 * whether something is there (MPI_Test, MPI_Iprobe), and it does nothing else between. In a function on a file it may
 * write. What it does outside of MPI is never waiting. Adds for how long it has, seconds, which may be 0, and in which
 * function. It is known from one question to the next, so they have to come within a second.
 */
void sampler_waits(cJSON *json);

/* The coordinator's questions for what was measured, on the control thread: the first one switches measuring on, and
 * the answer is made of the sums of runtime/member/meter.h. Then it is switched off. */
void sampler_measure(void *context, const struct order_gauge *order);
void sampler_measure_no_more(void *context, const struct order_gauge_off *order);

/* From here on, without a question. Any thread. */
void sampler_measure_now(void);

#endif
