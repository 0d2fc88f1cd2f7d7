/* A program that calls exit() in the midst of its job, for the other files of this folder. */
#ifndef EPOP_JOB_EXITS_H
#define EPOP_JOB_EXITS_H

#include <stdbool.h>

/* Is this process joining, in a launch of its own, and not connected yet? Then its end only calls the joining off. */
bool job_does_without(void);

#endif
