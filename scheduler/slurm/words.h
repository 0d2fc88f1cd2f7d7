/* What jobs say by their comment and their name. Pure. */
#ifndef SCHEDULER_SLURM_WORDS_H
#define SCHEDULER_SLURM_WORDS_H

#include <stdbool.h>
#include <stdint.h>

/* "epop:min=1,max=4", as a word of the comment: nodes. Nothing else is malleable. */
bool words_range(const char *comment, int *min, int *max);

/* "epop-17" is a companion of job 17; 0: it is none. */
int64_t words_companion(const char *name);

#endif
