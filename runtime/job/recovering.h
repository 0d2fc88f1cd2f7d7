/*
 * Going on after a fault: what `epop --recover`, which has started the job again, has left for it. Its memory is looked
 * through by all processes of the launch, as each knows its own host alone.
 */
#ifndef EPOP_JOB_RECOVERING_H
#define EPOP_JOB_RECOVERING_H

#include <stdbool.h>

#include "runtime/base/error.h"
#include "runtime/checkpoint/head.h"

/* Was this job started again? */
bool recovering_is(void);

/* The directory for checkpoints in memory; NULL: there is none, as nobody supervises the job. */
const char *recovering_memory(void);

/* Looks for the newest whole checkpoint in memory. Collective over the launch; nothing happens in a job that was not
 * started again. */
void recovering_look(void);
/* Its head, with number 0 where there is none. Belongs to this module. */
const struct checkpoint_head *recovering_found(void);

/* Since when the job runs, its earlier starts counted: seconds since 1970. */
double recovering_since(void);

#endif
