/*
 * Does the program's thread only wait in MPI? It does if it is in one call all the time, or if all that it calls are
 * functions that look whether something is there (MPI_Test, MPI_Iprobe), and it does nothing else between. In a
 * function on a file it may write. What it does outside of MPI is never waiting.
 */
#ifndef EPOP_JOB_WAITS_H
#define EPOP_JOB_WAITS_H

#include <cjson/cJSON.h>

/* The calling thread is the program's. */
void waits_init(void);

/* Adds for how long it has, seconds, which may be 0, and in which function. One other thread. It is known from one
 * question to the next, so they have to come within a second. */
void waits_describe(cJSON *json);

#endif
