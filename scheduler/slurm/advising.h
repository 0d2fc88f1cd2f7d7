/* From Slurm's view to requests. */
#ifndef SCHEDULER_SLURM_ADVISING_H
#define SCHEDULER_SLURM_ADVISING_H

#include "scheduler/slurm/state.h"

/* Seconds until it is to be asked again at the latest. */
double advising(struct adviser *adviser);

#endif
