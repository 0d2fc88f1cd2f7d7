/*
 * The loops of an MPI program with its own main(), which says nothing of them: its calls are followed while it is
 * measured (runtime/loops), between windows. Nothing is followed of programs of phases.
 */
#ifndef EPOP_JOB_FOLLOW_H
#define EPOP_JOB_FOLLOW_H

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Which calls of the calling thread are followed, from here on: those from its first probe on and between windows; or
 * all, of a program that does not probe. */
enum follow { FOLLOW_BETWEEN_WINDOWS, FOLLOW_ALL };
void follow_start(enum follow which);

/* The calling thread calls nothing any more that is to be followed. */
void follow_end(void);

/* Adds the loop of that number (METER_LOOPS and more) to what is told of its sums. False: it is none, or not known well
 * enough yet. The control thread. */
bool follow_describe(cJSON *json, int number);

/* Adds "graph": how the program calls MPI, by not long ago; nothing where it is not followed. `tick`: in seconds. The
 * control thread. */
void follow_draw(cJSON *json, double tick);

#endif
